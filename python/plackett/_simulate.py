"""One method learning from one kind of simulated user."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Union

from . import _engine
from ._load import load
from ._progress import Progress, told
from ._results import Simulated, cell_fields

_DEFAULT: dict[str, Any] = _engine.simulation_defaults

Data = Union[_engine.Dataset, str, "os.PathLike[str]"]


def loaded(data: Data, threads: int) -> _engine.Dataset:
    """The dataset itself, or what load() reads."""
    if isinstance(data, _engine.Dataset):
        return data
    if isinstance(data, (str, os.PathLike)):
        return load(data, threads=threads)
    raise _engine.BadType(f"data: {type(data).__name__}; it is a plackett.Dataset or what load reads")


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
    shown: int = _DEFAULT["shown"],
    hidden: int | Sequence[int] = _DEFAULT["hidden"],
    activation: str = _DEFAULT["activation"],
    protocol: str = _DEFAULT["protocol"],
    eta: float = _DEFAULT["eta"],
    no_relevant: str = _DEFAULT["no_relevant"],
    progress: Progress = None,
    **settings: float | str,
) -> Simulated:
    """One method learning from one kind of simulated user, as `plackett simulate` does, to the bit.

    `data` is a Dataset or what load() reads. `method` may name ranker and settings as the command
    takes them ("pdgd:neural:steps=adagrad"), or they are given as keywords. The result is a function
    of the arguments, the same for any number of threads (0: one a core). `progress`: True for a line
    on a terminal, or a function of (impressions done, impressions in all); what it raises stops the
    runs. So does Ctrl-C. Other Python threads go on meanwhile.

    >>> import plackett
    >>> result = plackett.simulate("synthetic", "pdgd", runs=2, impressions=500, learning_rate=0.1)
    >>> len(result.runs), int(result.curve.impression[-1])
    (2, 500)
    """
    options = {
        "click_model": click_model,
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
    answer = _engine.simulate(
        loaded(data, threads), method, ranker, options, settings, threads, told(progress)
    )
    return Simulated(**cell_fields(answer), learner=answer["learner"])
