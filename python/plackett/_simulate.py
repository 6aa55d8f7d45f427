"""One method learning from one kind of simulated user."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Union

from . import _engine
from ._data import Dataset, load
from ._errors import BadType
from ._progress import Progress, callback
from ._results import Simulated, cell_fields

_DEFAULT: dict[str, Any] = _engine.simulation_defaults

Data = Union[Dataset, str, "os.PathLike[str]"]


def loaded(data: Data, threads: int) -> _engine.DatasetHandle:
    """Of the dataset itself, or of what load() reads."""
    if isinstance(data, (str, os.PathLike)):
        data = load(data, threads=threads)
    if isinstance(data, Dataset):
        return data._handle
    raise BadType(f"data: {type(data).__name__}; expected a plackett.Dataset or what load reads")


def simulate(
    data: Data,
    method: str = _DEFAULT["method"],
    *,
    ranker: str | None = None,
    click_model: str | os.PathLike[str] = _DEFAULT["click_model"],
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
    progress: Progress = None,
    **settings: float | str,
) -> Simulated:
    """One method learning from one kind of simulated user, as `plackett simulate` does, to the bit.

    `data` is a Dataset or what load() reads. `method` may hold ranker and settings, as in the
    command ("pdgd:neural:steps=adagrad"), or they are keywords. Offline performance is NDCG@10 on
    the queries of `split` ("test" or "validation"), and `metrics` besides, along the `curve`:
    "whole", or "final", its last point alone, which takes less time. The result is a function
    of the arguments, the same for any number of threads (0: one per core) and every `device`: "cpu",
    "gpu", or "auto", the GPU for the runs that it can do. `progress`: True for a line on a terminal,
    or a function of (impressions done, impressions in total); an exception from it stops the runs,
    and so does Ctrl-C. Other Python threads run meanwhile.

    >>> result = plackett.simulate("synthetic", "pdgd", runs=2, impressions=500, learning_rate=0.1)
    >>> len(result.runs), int(result.curve.impression[-1])
    (2, 500)
    >>> measured = plackett.simulate("synthetic", runs=2, impressions=100, metrics=["MAP", "MRR"])
    >>> list(measured.runs.metrics)
    ['MAP', 'MRR']
    """
    given = locals()
    options = {name: given[name] for name in _DEFAULT}
    fields, learner = _engine.simulate(
        loaded(data, threads),
        method,
        ranker,
        options,
        settings,
        threads,
        device,
        callback(progress),
    )
    return Simulated(**cell_fields(fields), learner=learner)
