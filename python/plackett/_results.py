"""Results of experiments: plain data over NumPy arrays. Objects that hold arrays are equal only to
themselves, as comparing arrays gives no single truth value."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _engine

if TYPE_CHECKING:
    import pandas
    from numpy.typing import NDArray

MEASURES = ("offline", "online")


class Moments(NamedTuple):
    """Mean and sample standard deviation over runs.

    >>> result = plackett.simulate("synthetic", runs=2, impressions=100)
    >>> 0 < result.offline.mean < 1 and result.offline.std > 0
    True
    """

    mean: float
    std: float


@dataclass(frozen=True, eq=False)
class Curve:
    """The learning curve: values at some impressions, over all runs.

    >>> result = plackett.simulate("synthetic", runs=2, impressions=100)
    >>> int(result.curve.impression[-1]), result.curve.offline_mean.shape
    (100, (15,))
    """

    impression: NDArray[np.int64]  #: how many impressions were learned from
    offline_mean: NDArray[np.float64]  #: NDCG@10 over the test queries
    offline_std: NDArray[np.float64]
    online_mean: NDArray[np.float64]  #: discounted cumulative NDCG@10 of what was shown
    online_std: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Runs:
    """Every run by itself: arrays of runs x points of the curve.

    >>> result = plackett.simulate("synthetic", runs=2, impressions=100)
    >>> result.runs.offline.shape == (2, len(result.curve.impression))
    True
    """

    offline: NDArray[np.float64]
    online: NDArray[np.float64]
    fold: NDArray[np.int64]  #: on which each run learned
    seconds: NDArray[np.float64]  #: that each run took
    evaluation_seconds: NDArray[np.float64]  #: of which the curve's evaluations

    def __len__(self) -> int:
        return len(self.fold)


@dataclass(frozen=True, eq=False)
class Cell:
    """All runs of one method under one click model on one dataset.

    >>> result = plackett.compare("synthetic", ["dbgd", "pdgd"], "perfect", runs=2, impressions=100)
    >>> result.cells[1]  # doctest: +ELLIPSIS
    Cell(label='PDGD (linear)', method='pdgd', ...)
    """

    label: str  #: "PDGD (linear)"
    method: str
    ranker_kind: str  #: "linear", "neural", "linear+neural"
    click_model: str
    dataset: str
    protocol: str
    baseline: bool  #: whether others are tested against it
    impressions: int
    seed: int
    offline: Moments  #: NDCG@10 over the test queries, at the last impression
    online: Moments  #: discounted cumulative NDCG@10 of all that was shown
    curve: Curve = field(repr=False)
    runs: Runs = field(repr=False)
    seconds: float
    impressions_per_second: float

    def to_dataframe(self) -> pandas.DataFrame:
        """The curve, one row per point. Needs pandas.

        >>> result = plackett.simulate("synthetic", runs=2, impressions=100)
        >>> list(result.to_dataframe())[:2]  # doctest: +NEEDS_PANDAS
        ['impression', 'offline_mean']
        """
        return _frame(vars(self.curve))


@dataclass(frozen=True, eq=False)
class Simulated(Cell):
    """What plackett.simulate returns.

    >>> result = plackett.simulate("synthetic", runs=2, impressions=100)
    >>> result.label, result.learner.impressions
    ('PDGD (linear)', 100)
    """

    learner: _engine.Learner = field(repr=False)  #: run 0's, as it ended

    @property
    def ranker(self) -> _engine.Ranker:
        """The ranker of run 0, as it ended."""
        return self.learner.ranker


class TTest(NamedTuple):
    """A two-tailed t-test of the difference of two means. All are NaN if there is none.

    >>> result = plackett.compare("synthetic", ["dbgd", "pdgd"], "perfect", runs=2, impressions=100)
    >>> result.contrasts[0].offline.paired.degrees
    1.0
    """

    t: float  #: above 0 if the cell's mean is the higher one
    degrees: float  #: of freedom
    p: float
    difference: float  #: the cell's mean minus the baseline's
    half_width: float  #: of the 95 % confidence interval around the difference
    #: p corrected (Holm) for the number of such tests in the comparison; NaN if the cell is a
    #: baseline too
    holm: float


class MeasureTests(NamedTuple):
    """The paired test, of the differences between runs of the same number, which share fold and
    queries; and two that take the runs for independent: Welch's (each side has its own variance)
    and Student's (one for both).

    >>> result = plackett.compare("synthetic", ["dbgd", "pdgd"], "perfect", runs=2, impressions=100)
    >>> 0 <= result.contrasts[0].offline.paired.p <= 1
    True
    """

    paired: TTest
    welch: TTest
    student: TTest


@dataclass(frozen=True, eq=False)
class Contrast:
    """One cell against one baseline, under the same click model on the same dataset.

    >>> result = plackett.compare("synthetic", ["dbgd", "pdgd"], "perfect", runs=2, impressions=100)
    >>> result.contrasts[0].cell.method, result.contrasts[0].baseline.method
    ('pdgd', 'dbgd')
    """

    cell: Cell
    baseline: Cell
    offline: MeasureTests
    online: MeasureTests


@dataclass(frozen=True, eq=False)
class Compared:
    """What plackett.compare returns. It holds the engine's own results for report(), so it can't be
    pickled; its cells and contrasts can.

    >>> result = plackett.compare("synthetic", ["dbgd", "pdgd"], "perfect", runs=2, impressions=100)
    >>> len(result.cells), len(result.contrasts)
    (2, 1)
    """

    title: str
    cells: list[Cell]  #: in display order
    contrasts: list[Contrast]  #: every cell against every other baseline of its block
    _report: Callable[[str | os.PathLike[str]], None] = field(repr=False)

    def report(self, folder: str | os.PathLike[str]) -> None:
        """Writes report.html, curves and tables to the folder, which is created if it is missing.

        >>> import os, tempfile
        >>> result = plackett.compare("synthetic", ["pdgd"], ["perfect"], runs=2, impressions=100)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result.report(folder)
        ...     "report.html" in os.listdir(folder)
        True
        """
        self._report(folder)

    def to_dataframe(self) -> pandas.DataFrame:
        """One row per cell. Needs pandas.

        >>> result = plackett.compare("synthetic", ["dbgd", "pdgd"], runs=2, impressions=100)
        >>> list(result.to_dataframe()["method"])[:2]  # doctest: +NEEDS_PANDAS
        ['dbgd', 'pdgd']
        """
        rows = [
            {
                "dataset": cell.dataset,
                "click_model": cell.click_model,
                "label": cell.label,
                "method": cell.method,
                "ranker": cell.ranker_kind,
                "runs": len(cell.runs),
                "impressions": cell.impressions,
                "offline_mean": cell.offline.mean,
                "offline_std": cell.offline.std,
                "online_mean": cell.online.mean,
                "online_std": cell.online.std,
            }
            for cell in self.cells
        ]
        return _frame(rows)


def _frame(data: Any) -> pandas.DataFrame:
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_dataframe() needs pandas (Debian: python3-pandas)") from error
    return pandas.DataFrame(data)


def cell_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """A Cell's fields from the engine's."""
    curve, (fold, seconds, evaluation_seconds, curves) = fields["curve"], zip(*fields["runs"])
    points = np.stack(curves)
    return {
        **fields,
        "offline": Moments(*fields["offline"]),
        "online": Moments(*fields["online"]),
        "curve": Curve(
            curve["impression"].astype(np.int64),
            *(curve[measure][moment].copy() for measure in MEASURES for moment in Moments._fields),
        ),
        "runs": Runs(
            **{measure: points[measure].copy() for measure in MEASURES},
            fold=np.array(fold),
            seconds=np.array(seconds),
            evaluation_seconds=np.array(evaluation_seconds),
        ),
    }
