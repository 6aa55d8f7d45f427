"""What other policies would have been worth, and models learned from a service's log."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from . import _engine
from ._errors import BadType
from ._results import _pandas

if TYPE_CHECKING:
    import pandas

_Path = Union[str, "os.PathLike[str]"]

_DEFAULT: dict[str, Any] = _engine.off_policy_defaults
_LEARN: dict[str, Any] = _engine.learn_defaults


class RankSupport(NamedTuple):
    """How much a log says about a policy at one rank.

    >>> plackett.RankSupport(lists=1000, effective_lists=640.5, mean_weight=0.98).lists
    1000
    """

    lists: int  #: with this rank and their candidates
    effective_lists: float  #: (sum W)^2 / sum W^2 of these, over their share of all lists
    mean_weight: float  #: of W: near 1 if the log has what the policy would show


@dataclass(frozen=True)
class Estimate:
    """What a policy would have been worth, by one estimator; or why that can't be said.

    >>> plackett.Estimate("new.plk", "prefix-ips", refused="too few lists").value is None
    True
    """

    policy: str
    estimator: str
    value: float | None = None  #: None if it is refused
    bootstrap: tuple[float, float] | None = None  #: interval of the value
    bernstein: tuple[float, float] | None = None  #: likewise, wider; assumes independent lists
    difference: float | None = None  #: the value minus what the lists were worth as logged
    difference_interval: tuple[float, float] | None = None  #: its bootstrap interval
    refused: str | None = None  #: why there is no value


@dataclass(frozen=True, eq=False)
class OffPolicy:
    """What plackett.off_policy returns.

    >>> empty = plackett.OffPolicy("shop", "clicks", 0.95, 0, 0, {}, 0.0, (0.0, 0.0), (), {}, ())
    >>> len(empty.estimates)
    0
    """

    model: str
    metric: str
    level: float  #: of the intervals
    lists: int  #: evaluated on
    kept: int  #: of them, with their other candidates
    left_out: dict[str, int]  #: how many lists were not, and why
    logged: float  #: what the lists were worth as they were
    logged_interval: tuple[float, float] | None  #: none while too few lists have a value
    estimates: tuple[Estimate, ...]  #: one per policy and estimator
    ranks: dict[str, tuple[RankSupport, ...]] = field(repr=False)  #: by policy
    examination: tuple[float, ...] = field(repr=False)  #: by rank, the first is 1; () if none

    def to_dataframe(self) -> pandas.DataFrame:
        """One row per policy and estimator. Needs pandas. `effective_lists` is of the rank that has
        the fewest.

        >>> empty = plackett.OffPolicy("shop", "clicks", 0.95, 0, 0, {}, 0.0, (0.0, 0.0), (), {}, ())
        >>> len(empty.to_dataframe())  # doctest: +SKIP
        0
        """
        rows = []
        for one in self.estimates:
            row: dict[str, Any] = {"policy": one.policy, "estimator": one.estimator}
            row["value"] = one.value
            for name in ("bootstrap", "bernstein"):
                row[f"{name}_low"], row[f"{name}_high"] = getattr(one, name) or (None, None)
            row["difference"] = one.difference
            ends = one.difference_interval or (None, None)
            row["difference_low"], row["difference_high"] = ends
            ranks = self.ranks[one.policy]
            row["effective_lists"] = min((rank.effective_lists for rank in ranks), default=0.0)
            row["refused"] = one.refused
            rows.append(row)
        columns = list(_COLUMNS)
        frame = _pandas("to_dataframe").DataFrame(rows, columns=columns)
        return frame.astype({name: float for name in columns if name not in _TEXTS})


_TEXTS = ("policy", "estimator", "refused")
_COLUMNS = (
    *("policy", "estimator", "value", "bootstrap_low", "bootstrap_high", "bernstein_low"),
    *("bernstein_high", "difference", "difference_low", "difference_high", "effective_lists"),
    "refused",
)


def _off_policy_of(fields: dict[str, Any]) -> OffPolicy:
    policies = fields.pop("policies")
    fields["examination"] = tuple(fields["examination"])
    return OffPolicy(
        **fields,
        estimates=tuple(
            Estimate(policy=policy["policy"], **one)
            for policy in policies
            for one in policy["estimates"]
        ),
        ranks={
            policy["policy"]: tuple(RankSupport(*rank) for rank in policy["ranks"])
            for policy in policies
        },
    )


def off_policy(
    log: _Path,
    model: str | None = None,
    policies: _Path | Sequence[_Path] = (),
    *,
    from_impression: str | None = None,
    metric: str = _DEFAULT["metric"],
    estimators: str | Sequence[str] = _DEFAULT["estimators"],
    level: float = _DEFAULT["level"],
    ranks: int = _DEFAULT["ranks"],
    bootstraps: int = _DEFAULT["bootstraps"],
    least_lists: int = _DEFAULT["least_lists"],
    seed: int = _DEFAULT["seed"],
    threads: int = _DEFAULT["threads"],
) -> OffPolicy:
    """What other policies would have been worth, from a service's log, as `plackett evaluate --log`
    says it, to the bit (docs/off_policy.md).

    `log` is the service's store, served meanwhile or not; `model` may be left out if it has one.
    A policy is "snapshot:3", "current", "logged", "order:FILE" or the path of a model file, each
    with "@TEMPERATURE" or without. With `from_impression="i-41"`, only that list and those with higher
    numbers count. The result is a function of log and arguments, the same for any
    number of threads (0: one per core). Ctrl-C stops it.

    >>> plackett.off_policy("nowhere.db", "shop", ["snapshot:3", "new.plk"])
    Traceback (most recent call last):
        ...
    plackett.MissingFile: log: nowhere.db: no such file
    """
    given = locals()
    options = {name: given[name] for name in _DEFAULT}
    if isinstance(policies, (str, os.PathLike)):
        policies = [policies]
    if isinstance(policies, bytes) or not isinstance(policies, Sequence):
        raise BadType(f"policies: {type(policies).__name__}; expected a str or several")
    return _off_policy_of(_engine.off_policy(log, model, list(policies), from_impression, options))


@dataclass(frozen=True)
class LearnStage:
    """One stage of plackett.learn: a model that is less close to what was logged than the one before.

    >>> plackett.LearnStage(float("inf"), 12, 1.61, 0.02, 1500.0, True).chosen
    True
    """

    closeness: float  #: infinite in the first: what was logged is imitated
    iterations: int
    value: float  #: on the lists that decide
    error: float  #: its standard error
    effective_lists: float  #: that the lists that decide amount to, at the rank with fewest
    chosen: bool


@dataclass(frozen=True, eq=False)
class Learned:
    """What plackett.learn returns.

    >>> sorted(plackett.Learned.__dataclass_fields__)
    ['deciding_lists', 'learner', 'lists', 'measured', 'stages']
    """

    learner: _engine.Learner = field(repr=False)  #: goes on from the learned model
    lists: int  #: learned from
    deciding_lists: int  #: by which it was decided when to stop
    stages: tuple[LearnStage, ...]
    measured: OffPolicy  #: of the result, on units that were neither learned from nor decided by

    @property
    def ranker(self) -> _engine.Ranker:
        """The learner's ranker."""
        return self.learner.ranker


def learn(
    log: _Path,
    model: str | None = None,
    *,
    ranker: str | None = None,
    learner: str | None = None,
    hidden: int | Sequence[int] = _LEARN["hidden"],
    activation: str = _LEARN["activation"],
    method: str = _LEARN["method"],
    metric: str = _LEARN["metric"],
    ranks: int = _LEARN["ranks"],
    held_out: float = _LEARN["held_out"],
    ridge: float = _LEARN["ridge"],
    iterations: int = _LEARN["iterations"],
    seed: int = _LEARN["seed"],
    threads: int = _LEARN["threads"],
) -> Learned:
    """A new model of any kind from a service's whole log, off-policy, as `plackett learn` makes it,
    to the bit (docs/off_policy.md).

    `ranker` is its kind, `learner` what learns on from it when a service imports it; both are the
    model's own by default. Write it with `learner.save(path)`. Ctrl-C stops it.

    >>> plackett.learn("nowhere.db", "shop", ranker="neural")
    Traceback (most recent call last):
        ...
    plackett.MissingFile: log: nowhere.db: no such file
    """
    given = locals()
    options = {name: given[name] for name in _LEARN}
    fields, made = _engine.learn(log, model, learner, ranker, options)
    return Learned(
        learner=made,
        lists=fields["lists"],
        deciding_lists=fields["deciding_lists"],
        stages=tuple(LearnStage(**stage) for stage in fields["stages"]),
        measured=_off_policy_of(fields["measured"]),
    )
