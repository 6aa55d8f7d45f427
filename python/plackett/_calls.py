"""Calls whose arguments don't fit: plackett.BadType with what does, for everything public."""

from __future__ import annotations

import difflib
import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import Parameter
from operator import attrgetter
from typing import Any

from . import _engine
from ._errors import BadType, shown

_MANY = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
# Names of **keywords that take any: a service judges them.
_FREE = ("more", "spec")


def _unknown(function: str, name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    meant = f"; did you mean {near[0]}?" if near else ";"
    return f'{function}: unknown keyword "{name}"{meant} known are {", ".join(known)}'


def _settings() -> list[str]:
    """Of all methods."""
    every = (one["name"] for method in _engine.methods() for one in method["settings"])
    return list(dict.fromkeys(name.replace("-", "_") for name in every))


def _parameters(function: Callable[..., Any], bound: bool) -> list[Parameter]:
    """Without self or cls, which a function that is not `bound` takes first."""
    parameters = list(inspect.signature(function).parameters.values())
    return parameters if bound or not parameters else parameters[1:]


def unknown_setting(function: str, name: str, settings: Sequence[str]) -> str:
    """The message for a keyword that is neither the function's nor one of its method's settings."""
    parameters = inspect.signature(attrgetter(function)(sys.modules["plackett"])).parameters
    own = [one.name for one in parameters.values() if one.kind not in _MANY]
    return _unknown(function, name, [*own, *settings])


def unknown_parameter(cls: str, name: str, known: Sequence[str]) -> BadType:
    return BadType(_unknown(f"{cls}.set_params", name, known))


def message(
    name: str, parameters: Sequence[Parameter], given: Sequence[Any], keywords: Mapping[str, Any]
) -> str:
    """What is wrong with a call of the function `name`."""
    named = [one for one in parameters if one.kind not in _MANY]
    known = [one.name for one in named]
    places = [one.name for one in named if one.kind is not Parameter.KEYWORD_ONLY]
    filled = places[: len(given)]
    many = [one.name for one in parameters if one.kind is Parameter.VAR_KEYWORD]
    free = bool(set(many) & set(_FREE))
    if many and not free:
        known += _settings()
    for keyword in keywords:
        if keyword not in known and not free:
            return _unknown(name, keyword, known or ["none"])
    if len(given) > len(places):
        expected = f"at most {len(places)} ({', '.join(places)})" if places else "none"
        return f"{name}: {len(given)} arguments without a name; expected {expected}"
    for twice in set(filled) & set(keywords):
        return f"{name}: {twice} is given twice, by its place and by name"
    for one in named:
        if one.default is Parameter.empty and one.name not in (*filled, *keywords):
            return f"{name}: {one.name} is missing; known are {', '.join(known)}"
    return f"{name}: arguments that don't fit: {shown(tuple(given))}"


def wrong_call(
    scope: Any, name: str | None, given: Sequence[Any], keywords: Mapping[str, Any]
) -> str:
    """The engine's: what is wrong with a call of a function or method of `scope`, or of the class
    `scope` itself."""
    if name is None:
        return message(scope.__name__, _parameters(scope, True), given, keywords)
    if not inspect.isclass(scope):
        return message(name, _parameters(getattr(scope, name), True), given, keywords)
    full = f"{scope.__name__}.{name}"
    parameters = list(inspect.signature(getattr(scope, name)).parameters.values())
    if parameters and parameters[0].name == "self":
        if not given or not isinstance(given[0], scope):
            return f"{full}: called without a {scope.__name__}"
        parameters, given = parameters[1:], given[1:]
    return message(full, parameters, given, keywords)


def _checked(function: Callable[..., Any], name: str, bound: bool) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*given: Any, **keywords: Any) -> Any:
        try:
            return function(*given, **keywords)
        except TypeError as error:
            inside = error.__traceback__ is not None and error.__traceback__.tb_next is not None
            if inside:  # the call itself was right
                raise
        own = given if bound else given[1:]
        raise BadType(message(name, _parameters(function, bound), own, keywords))

    return call


def check_calls(namespace: dict[str, Any], names: Iterable[str]) -> None:
    """Makes the functions, classes and methods of these names that are written in Python check
    their calls. The engine's check their own."""
    for name in names:
        value = namespace[name]
        if inspect.isfunction(value):
            namespace[name] = _checked(value, name, True)
        if not inspect.isclass(value) or issubclass(value, Exception):
            continue
        for member, found in list(vars(value).items()):
            full = name if member in ("__init__", "__new__") else f"{name}.{member}"
            if member.startswith("_") and full != name:
                continue
            if isinstance(found, staticmethod):
                found = staticmethod(_checked(found.__func__, full, member != "__new__"))
            elif isinstance(found, classmethod):
                found = classmethod(_checked(found.__func__, full, False))
            elif inspect.isfunction(found):
                found = _checked(found, full, False)
            else:
                continue
            setattr(value, member, found)
