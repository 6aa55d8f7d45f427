"""Methods x click models x datasets."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

from . import _engine
from ._progress import Progress, told
from ._results import Cell, Compared, Contrast, cell_fields, tests_of
from ._simulate import Data, loaded

_DEFAULT: dict[str, Any] = _engine.simulation_defaults

Name = Union[str, "os.PathLike[str]"]


def _listed(what: str, given: Iterable[Any], rule: str) -> list[Any]:
    try:
        return list(given)
    except TypeError:
        raise _engine.BadType(f"{what}: {given!r}; {rule}") from None


def _names(what: str, given: Any) -> list[Any]:
    """One name, or several."""
    if isinstance(given, (str, os.PathLike)):
        return [given]
    return _listed(what, given, "they are of type str")


def _with_roles(
    methods: list[Any], baselines: Iterable[str] | None, labels: Mapping[str, str] | None
) -> list[tuple[Any, Any, bool | None]]:
    """(method, its label or None, whether it is a baseline or None) for each."""
    for method in methods:
        if not isinstance(method, str):
            raise _engine.BadType(f"methods: {method!r}; they are of type str")
    chosen = None if baselines is None else _names("baselines", baselines)
    if labels is not None and not isinstance(labels, Mapping):
        raise _engine.BadType(f"labels: {labels!r}; it is a dict from methods to their labels")
    for what, named in (("baselines", chosen), ("labels", labels)):
        for one in named or ():
            if one not in methods:
                raise _engine.BadValue(f"{what}: {one!r}; it is one of the methods, as written there")
    return [
        (method, (labels or {}).get(method), None if chosen is None else method in chosen)
        for method in methods
    ]


def _to_load(data: Data, threads: int) -> _engine.Dataset | tuple[str, str]:
    """What the engine loads itself, (name, path), as load() would name it. A cache says its name only
    when it is opened."""
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
    shown: int = _DEFAULT["shown"],
    hidden: int | Sequence[int] = _DEFAULT["hidden"],
    activation: str = _DEFAULT["activation"],
    protocol: str = _DEFAULT["protocol"],
    eta: float = _DEFAULT["eta"],
    no_relevant: str = _DEFAULT["no_relevant"],
    baselines: Iterable[str] | None = None,
    labels: Mapping[str, str] | None = None,
    title: str = "",
    out: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    progress: Progress = None,
) -> Compared:
    """Methods side by side, with t-tests against the baselines, as `plackett compare` does.

    Methods are written as the command takes them: "pdgd:neural", "mgd:candidates=9". The others are
    tested against `baselines`, some of the methods, or where None against those that are the
    table's; `labels` has names for methods, by how they are written. With the folder `out`, finished
    runs and a report are kept in it: stopped or killed, the same call goes on where it was, and
    `progress` starts from what the folder holds; data is then what load() reads. `fresh` begins anew
    in the folder. `progress` and Ctrl-C as in simulate().

    >>> import plackett
    >>> result = plackett.compare("synthetic", ["dbgd", "pdgd"], ["perfect"], runs=5, impressions=500)
    >>> [cell.label for cell in result.cells]
    ['DBGD (linear)', 'PDGD (linear)']
    >>> 0 <= result.contrasts[0].offline.welch.p < 1
    True
    """
    single = isinstance(data, (_engine.Dataset, str, os.PathLike))
    rule = "it is a plackett.Dataset, what load reads, or several of them"
    several = [data] if single else _listed("data", data, rule)  # type: ignore[arg-type]
    options = {
        "runs": runs,
        "impressions": impressions,
        "seed": seed,
        "shown": shown,
        "hidden": hidden,
        "activation": activation,
        "protocol": protocol,
        "eta": eta,
        "no_relevant": no_relevant,
    }
    answer = _engine.compare(
        [loaded(one, threads) if out is None else _to_load(one, threads) for one in several],
        _with_roles(_names("methods", methods), baselines, labels),
        _names("click_models", click_models),
        options,
        title,
        threads,
        told(progress),
        out,
        fresh,
    )
    cells = [Cell(**cell_fields(one)) for one in answer["cells"]]
    contrasts = [
        Contrast(
            cells[one["cell"]],
            cells[one["baseline"]],
            tests_of(one["offline"]),
            tests_of(one["online"]),
        )
        for one in answer["contrasts"]
    ]
    return Compared(answer["title"], cells, contrasts, answer["comparison"])
