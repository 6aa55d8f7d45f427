"""The exceptions, and how messages show values. The engine raises these too."""

from __future__ import annotations

import os
from typing import Any

import numpy as np


class Error(Exception):
    """Base class of plackett's exceptions.

    >>> try:
    ...     plackett.ndcg([5], labels=[1, 0])
    ... except plackett.Error as error:
    ...     print(error)
    ranking: document 5; documents are 0 to 1
    """


class BadValue(Error, ValueError):
    """A value that is not allowed. The message says what is.

    >>> plackett.PDGD(features=3, shown=0)
    Traceback (most recent call last):
        ...
    plackett.BadValue: shown: 0; expected an integer from 1 to 100
    """


class BadType(Error, TypeError):
    """An argument of a wrong type.

    >>> plackett.PDGD(features=3, shown="ten")
    Traceback (most recent call last):
        ...
    plackett.BadType: shown: 'ten'; expected an integer from 1 to 100
    """


class MissingFile(Error, FileNotFoundError):
    """A file or folder that does not exist.

    >>> plackett.Ranker.load("nowhere.plk")
    Traceback (most recent call last):
        ...
    plackett.MissingFile: path: nowhere.plk: can't open: No such file or directory
    """


class MissingModule(Error, ImportError):
    """A Python package that a function needs and that is not installed: pandas.

    >>> issubclass(plackett.MissingModule, ImportError)
    True
    """


for _public in (Error, BadValue, BadType, MissingFile, MissingModule):
    _public.__module__ = "plackett"


def shown(value: Any) -> str:
    """repr(value) for messages: one line, at most 60 characters, valid Unicode."""
    try:
        text = " ".join(repr(value).split())
    except Exception:
        text = f"<{type(value).__name__}>"
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= 60 else text[:60] + "..."


def listed(what: str, given: Any, rule: str) -> list[Any]:
    """Several values as a list."""
    try:
        return list(given)
    except TypeError:
        raise BadType(f"{what}: {shown(given)}; {rule}") from None


def names(what: str, given: Any) -> list[Any]:
    """One name, or several."""
    if isinstance(given, (str, os.PathLike)):
        return [given]
    return listed(what, given, "expected a str or several")


def as_array(values: Any, name: str) -> np.ndarray[Any, Any]:
    """An array whose class is numpy.ndarray itself, sharing memory where possible: methods of a
    subclass could return anything."""
    try:
        array = np.asanyarray(values)
    except Exception as error:
        text = " ".join(str(error).split())[:200]
        raise BadType(f"{name}: {type(values).__name__} is not an array: {text}") from None
    if isinstance(array, np.ma.MaskedArray):
        raise BadType(f"{name}: a masked array; fill it first, with its filled()")
    return np.asarray(array)
