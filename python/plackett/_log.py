"""A service's log as a data frame."""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING
from urllib.parse import quote

from ._errors import BadType, BadValue, Error, MissingFile
from ._results import _pandas

if TYPE_CHECKING:
    import pandas

_APPLICATION = 0x504C4B53  # "PLKS"
_OLDEST, _NEWEST = 2, 4  # versions of stores
_FLAGS = ("pinned", "clicked", "viewed", "closed", "kept")


def _open(path: str | os.PathLike[str]) -> sqlite3.Connection:
    name = os.fspath(path)
    if not os.path.exists(name):
        raise MissingFile(f"path: {name}: no such file")
    if os.path.isdir(name):
        raise BadValue(f"path: {name}: a folder, not a plackett store")
    try:
        store = sqlite3.connect(f"file:{quote(os.path.abspath(name))}?mode=ro", uri=True)
    except sqlite3.DatabaseError as error:
        raise BadValue(f"path: {name}: {error}") from None
    try:
        [application] = store.execute("PRAGMA application_id").fetchone()
        [version] = store.execute("PRAGMA user_version").fetchone()
    except sqlite3.DatabaseError as error:
        store.close()
        raise BadValue(f"path: {name}: not a plackett store: {error}") from None
    if application == _APPLICATION and _OLDEST <= version <= _NEWEST:
        return store
    store.close()
    if application != _APPLICATION:
        raise BadValue(f"path: {name}: not a plackett store")
    advice = "plackett export reads it" if version < _OLDEST else "a newer plackett wrote it"
    raise BadValue(
        f"path: {name}: a store of version {version}, not {_OLDEST} to {_NEWEST}; {advice}"
    )


def read_log(path: str | os.PathLike[str], model: str | None = None) -> pandas.DataFrame:
    """What a service has shown and what was clicked: one row per shown item. Needs pandas.

    Reads the store's view `shown_items`, of one model or of all, while it is served or not. `arm`
    says how a list was made (explore, exploit, given), or is its arm of `experiment`, if it belongs to
    one; `propensity` is the probability that the item came to its place, given those above. `reward` is 1 for a click, and the weights of the model's
    further events. `context` is JSON.

    >>> plackett.read_log("nowhere.db")
    Traceback (most recent call last):
        ...
    plackett.MissingFile: path: nowhere.db: no such file
    """
    if not isinstance(path, (str, os.PathLike)):
        raise BadType(f"path: {path!r}; expected the path of a store")
    pandas = _pandas("read_log")
    store = _open(path)
    try:
        names = [name for [name] in store.execute("SELECT name FROM models ORDER BY name")]
        if model is not None and model not in names:
            known = ", ".join(names) or "none"
            raise BadValue(f"model: no model {model!r} in {os.fspath(path)}; its models: {known}")
        query = "SELECT * FROM shown_items"
        rows = pandas.read_sql_query(
            query if model is None else query + " WHERE model = ?",
            store,
            params=None if model is None else [model],
        )
    except (sqlite3.Error, pandas.errors.DatabaseError) as error:
        raise Error(f"path: {os.fspath(path)}: {error}") from None
    finally:
        store.close()
    if "experiment" not in rows:
        rows["experiment"] = None  # stores of version 2 have none
    rows["time"] = pandas.to_datetime(rows.pop("shown_at"), unit="ms", utc=True)
    numbers = ("score", "reward", "propensity")  # whole ones too
    return rows.astype({flag: bool for flag in _FLAGS} | {number: float for number in numbers})
