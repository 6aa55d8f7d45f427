"""Methods x click models x datasets."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

from . import _engine
from ._data import Dataset
from ._errors import BadType, BadValue, listed, names, shown as in_short
from ._progress import Progress, callback
from ._results import Compared, Name, compared_of
from ._simulate import Data, loaded

_DEFAULT: dict[str, Any] = {**_engine.simulation_defaults, **_engine.report_defaults}


def _sweep(given: Mapping[str, Iterable[Any]] | None) -> dict[str, list[Any]]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise BadType(f"sweep: {in_short(given)}; expected a dict from settings to lists of values")
    several: dict[str, list[Any]] = {}
    for name, values in given.items():
        if isinstance(values, str):
            raise BadType(f"sweep: {name}: {in_short(values)}; expected several values")
        several[name] = listed(f"sweep: {name}", values, "expected several values")
    return several


def _drift(given: Iterable[Mapping[str, Any]] | None) -> str:
    """The drifts as a spec file has them, which the engine reads and checks."""
    rule = "expected dicts, as [[drift]] in a spec file"
    tables = [] if given is None else listed("drift", given, rule)
    text = ""
    for table in tables:
        if not isinstance(table, Mapping) or not all(isinstance(key, str) for key in table):
            raise BadType(f"drift: {in_short(table)}; {rule}")
        text += "[[drift]]\n"
        for key, value in table.items():
            try:
                written = json.dumps(value, ensure_ascii=False)
            except (TypeError, ValueError):
                rule = "expected a str, a number or a list of numbers"
                raise BadType(f"drift: {key}: {in_short(value)}; {rule}") from None
            text += f"{json.dumps(key.replace('_', '-'))} = {written}\n"
    return text


def _labelled(methods: list[Any], labels: Mapping[str, str] | None) -> list[tuple[Any, Any]]:
    """(method, its label or None) for each."""
    for method in methods:
        if not isinstance(method, str):
            raise BadType(f"methods: {in_short(method)}; expected a str")
    if labels is not None and not isinstance(labels, Mapping):
        raise BadType(f"labels: {in_short(labels)}; expected a dict from methods to labels")
    for one in labels or ():
        if one not in methods:
            raise BadValue(f"labels: {in_short(one)}; expected one of the methods as written")
    return [(method, (labels or {}).get(method)) for method in methods]


def _to_load(data: Data, threads: int) -> _engine.DatasetHandle | tuple[str, str]:
    """What the engine is to load, (name, path), with the name that load() would give it. That of a
    cache is in the file, so a cache is loaded here."""
    if isinstance(data, (str, os.PathLike)):
        where = os.fspath(data)
        if where == "synthetic" or where.startswith("synthetic:"):
            return where, where
        if os.path.isdir(where):
            return os.path.basename(os.path.abspath(where)), where
    return loaded(data, threads)


def compare(
    data: Union[Data, Sequence[Data]],
    methods: Iterable[str] = _engine.compared_methods,
    click_models: Iterable[Name] = _engine.compared_click_models,
    *,
    runs: int = _DEFAULT["runs"],
    impressions: int = _DEFAULT["impressions"],
    seed: int = _DEFAULT["seed"],
    threads: int = _DEFAULT["threads"],
    device: str = _DEFAULT["device"],
    shown: int = _DEFAULT["shown"],
    hidden: int | Sequence[int] = _DEFAULT["hidden"],
    activation: str = _DEFAULT["activation"],
    protocol: str = _DEFAULT["protocol"],
    learning_rate_decay: float = _DEFAULT["learning_rate_decay"],
    eta: float = _DEFAULT["eta"],
    no_relevant: str = _DEFAULT["no_relevant"],
    split: str = _DEFAULT["split"],
    metrics: str | Sequence[str] = _DEFAULT["metrics"],
    curve: str = _DEFAULT["curve"],
    sweep: Mapping[str, Iterable[Any]] | None = None,
    select: str | None = None,
    drift: Iterable[Mapping[str, Any]] | None = None,
    baselines: Iterable[str] | str | None = None,
    labels: Mapping[str, str] | None = None,
    test: str = _DEFAULT["test"],
    title: str = "",
    out: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    progress: Progress = None,
) -> Compared:
    """Methods side by side, with t-tests against the baselines, as `plackett compare` does.

    Methods are written as in the command: "pdgd:neural", "mgd:candidates=9". The others are tested
    against `baselines`, methods or labels; None stands for the usual baselines among them.
    `labels` maps methods to names. `sweep` maps settings and options to several values, each of
    which gives cells of its own ({"learning_rate": [0.01, 0.1], "ranker": ["linear", "neural"]});
    with `select="validation"` only those are reported that did best on the validation queries.
    `drift` is what changes while methods learn, as `[[drift]]` in spec files
    ([{"of": "labels", "at": 5000}]).
    `metrics` are measured offline besides NDCG@10, and `curve` says when, as in simulate(). The
    report goes by the t-test `test`: "paired",
    "welch" or "student"; `contrasts` have all three. With the folder `out`, finished runs and a
    report are kept there: after an interruption the same call continues, and `progress` starts from
    what the folder holds; data must then be what load() reads. `fresh` discards what the folder
    holds. `device`, `progress` and Ctrl-C as in simulate().

    >>> result = plackett.compare("synthetic", ["dbgd", "pdgd"], "perfect", runs=5, impressions=500)
    >>> [cell.label for cell in result.cells]
    ['DBGD (linear)', 'PDGD (linear)']
    >>> 0 <= result.contrasts[0].offline.paired.p < 1
    True
    >>> size = {"runs": 2, "impressions": 100}
    >>> swept = plackett.compare("synthetic", "pdgd", "perfect", sweep={"shown": [5, 10]}, **size)
    >>> [cell.swept for cell in swept.cells]
    [{'shown': 5}, {'shown': 10}]
    >>> drift = [{"of": "labels", "at": 50}]
    >>> swapped = plackett.compare("synthetic", "pdgd", "perfect", drift=drift, **size)
    >>> "worst window" in str(swapped)
    True
    """
    given = locals()
    options = {name: given[name] for name in _DEFAULT if name in given}
    single = isinstance(data, (Dataset, str, os.PathLike))
    rule = "expected a plackett.Dataset, what load reads, or several of them"
    several = [data] if single else listed("data", data, rule)
    return compared_of(
        *_engine.compare(
            [loaded(one, threads) if out is None else _to_load(one, threads) for one in several],
            _labelled(names("methods", methods), labels),
            None if baselines is None else names("baselines", baselines),
            names("click_models", click_models),
            _sweep(sweep),
            options,
            select,
            _drift(drift),
            title,
            threads,
            device,
            callback(progress),
            out,
            fresh,
        )
    )
