"""Results of experiments: plain data over NumPy arrays. Objects that hold arrays are equal only to
themselves, as comparing arrays gives no single truth value."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np

from . import _engine
from ._errors import MissingModule, names
from ._html import picture

if TYPE_CHECKING:
    import pandas
    from numpy.typing import NDArray

MEASURES = ("offline", "online")

Name = Union[str, "os.PathLike[str]"]


class Moments(NamedTuple):
    """Mean and sample standard deviation over runs; a single run's deviation is NaN.

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
    metrics: dict[str, NDArray[np.float64]]  #: further ones that were asked for, likewise
    run: NDArray[np.int64]  #: numbers: runs of the same number share fold and queries
    fold: NDArray[np.int64]  #: on which each run learned
    validation: NDArray[np.float64]  #: NDCG@10 over the validation queries, at the end; or NaN
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
    swept: dict[str, int | float | str]  #: what has several values in the comparison
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
        return _pandas("to_dataframe").DataFrame(vars(self.curve))

    def __str__(self) -> str:
        return self._comparison().text()

    def _repr_html_(self) -> str:
        comparison = self._comparison()
        return comparison.html() + picture(comparison.svg(), "Learning curve")

    def _comparison(self) -> _engine.Comparison:
        curve = self.curve
        values = (curve.offline_mean, curve.offline_std, curve.online_mean, curve.online_std)
        return _engine.comparison_of(
            vars(self), curve.impression.tolist(), np.stack(values, axis=1).tolist()
        )

    def _measured(self) -> Iterable[tuple[str, NDArray[np.float64]]]:
        """Everything that was measured: runs x points, by name."""
        yield from ((measure, getattr(self.runs, measure)) for measure in MEASURES)
        yield from self.runs.metrics.items()

    def _columns(self) -> dict[str, Any]:
        """What all rows of a data frame have in common, swept settings last."""
        return {
            "dataset": self.dataset,
            "click_model": self.click_model,
            "label": self.label,
            "method": self.method,
            "ranker": self.ranker_kind,
            "protocol": self.protocol,
            "impressions": self.impressions,
            "seed": self.seed,
            **self.swept,
        }


@dataclass(frozen=True, eq=False)
class Simulated(Cell):
    """What plackett.simulate returns.

    >>> result = plackett.simulate("synthetic", runs=2, impressions=100)
    >>> result.label, result.learner.impressions
    ('Steady (linear+neural)', 100)
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
    metrics: dict[str, MeasureTests]  #: of further metrics that both have


@dataclass(frozen=True, eq=False)
class Compared:
    """What plackett.compare and plackett.load_results return. print() shows it as a table, a
    notebook as a table with the learning curves. It holds the engine's own results for report(), so
    it can't be pickled; its cells and contrasts can.

    >>> result = plackett.compare("synthetic", ["dbgd", "pdgd"], "perfect", runs=2, impressions=100)
    >>> len(result.cells), len(result.contrasts)
    (2, 1)
    >>> "PDGD (linear)" in str(result)
    True
    """

    title: str
    cells: list[Cell]  #: in display order
    contrasts: list[Contrast]  #: every cell against every other baseline of its block
    _comparison: _engine.Comparison = field(repr=False)

    def __str__(self) -> str:
        return self._comparison.text()

    def _repr_html_(self) -> str:
        return self._comparison.html() + picture(self._comparison.svg(), "Learning curves")

    def report(self, folder: str | os.PathLike[str]) -> None:
        """Writes report.html, curves and tables to the folder, which is created if it is missing.

        >>> import os, tempfile
        >>> result = plackett.compare("synthetic", ["pdgd"], ["perfect"], runs=2, impressions=100)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result.report(folder)
        ...     "report.html" in os.listdir(folder)
        True
        """
        self._comparison.report(folder)

    def to_dataframe(self) -> pandas.DataFrame:
        """One row per cell. Needs pandas.

        >>> result = plackett.compare("synthetic", ["dbgd", "pdgd"], runs=2, impressions=100)
        >>> list(result.to_dataframe()["method"])[:2]  # doctest: +NEEDS_PANDAS
        ['dbgd', 'pdgd']
        """
        rows = [
            {
                **cell._columns(),
                "runs": len(cell.runs),
                "offline_mean": cell.offline.mean,
                "offline_std": cell.offline.std,
                "online_mean": cell.online.mean,
                "online_std": cell.online.std,
            }
            for cell in self.cells
        ]
        return _pandas("to_dataframe").DataFrame(rows)

    def runs_dataframe(self) -> pandas.DataFrame:
        """One row per run, with its results at the end. Needs pandas.

        >>> result = plackett.compare("synthetic", "pdgd", "perfect", runs=2, impressions=9)
        >>> result.runs_dataframe()[["method", "run", "fold"]].shape  # doctest: +NEEDS_PANDAS
        (2, 3)
        """
        return self._frame(
            "runs_dataframe",
            lambda cell: {
                "run": cell.runs.run,
                "fold": cell.runs.fold,
                **{name: values[:, -1] for name, values in cell._measured()},
                "validation": cell.runs.validation,
                "seconds": cell.runs.seconds,
            },
        )

    def curves_dataframe(self) -> pandas.DataFrame:
        """One row per run and point of its learning curve. Needs pandas.

        >>> result = plackett.compare("synthetic", "pdgd", "perfect", runs=2, impressions=9)
        >>> list(result.curves_dataframe())[-5:]  # doctest: +NEEDS_PANDAS
        ['run', 'fold', 'impression', 'offline', 'online']
        """
        return self._frame(
            "curves_dataframe",
            lambda cell: {
                "run": cell.runs.run.repeat(len(cell.curve.impression)),
                "fold": cell.runs.fold.repeat(len(cell.curve.impression)),
                "impression": np.tile(cell.curve.impression, len(cell.runs)),
                **{name: values.ravel() for name, values in cell._measured()},
            },
        )

    def _frame(self, function: str, columns: Callable[[Cell], dict[str, Any]]) -> pandas.DataFrame:
        """The columns of all cells, below each other; what a cell has not is missing there."""
        pandas = _pandas(function)
        frames = [pandas.DataFrame({**cell._columns(), **columns(cell)}) for cell in self.cells]
        common = list(dict.fromkeys(name for cell in self.cells for name in cell._columns()))
        all_names = dict.fromkeys([*common, *(name for frame in frames for name in frame)])
        return pandas.concat(frames, ignore_index=True)[list(all_names)]


def _pandas(function: str) -> Any:
    try:
        import pandas
    except ImportError as error:
        raise MissingModule(f"{function}() needs pandas (Debian: python3-pandas)") from error
    return pandas


def _value(text: str) -> int | float | str:
    """Of a swept setting: a number where it is one."""
    try:
        number = float(text)
    except ValueError:
        return text
    return int(text) if text.isdecimal() else number


def compared_of(
    comparison: _engine.Comparison, all_fields: Iterable[dict[str, Any]], contrasts: Iterable[Any]
) -> Compared:
    """From the engine's parts."""

    def tests(of_measure: Iterable[Any]) -> MeasureTests:
        return MeasureTests(*(TTest(*test) for test in of_measure))

    cells = [Cell(**cell_fields(fields)) for fields in all_fields]
    tested = [
        Contrast(
            cells[cell],
            cells[baseline],
            tests(offline),
            tests(online),
            {name: tests(one) for name, one in metrics.items()},
        )
        for cell, baseline, offline, online, metrics in contrasts
    ]
    return Compared(comparison.title, cells, tested, comparison)


def load_results(
    folders: Union[Name, Iterable[Name]],
    *,
    baselines: Iterable[str] | str = (),
    test: str | None = None,
) -> Compared:
    """What is in a folder of results, as compare returns it, finished or not: the folder that
    `compare(out=)` or `plackett compare` writes, also while it writes; or several, as one
    comparison. `baselines`, methods or labels, and `test` replace what the folder says.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = plackett.compare("synthetic", "pdgd", runs=2, impressions=100, out=folder)
    ...     again = plackett.load_results(folder)
    >>> again.cells[0].offline == made.cells[0].offline
    True
    """
    return compared_of(
        *_engine.load_results(names("folders", folders), names("baselines", baselines), test)
    )


def cell_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """A Cell's fields from the engine's."""
    curve, by_run = fields["curve"], zip(*fields["runs"])
    run, fold, validation, seconds, evaluation_seconds, curves, metrics = by_run
    points = np.stack(curves)
    return {
        **fields,
        "swept": {name: _value(text) for name, text in fields["swept"].items()},
        "offline": Moments(*fields["offline"]),
        "online": Moments(*fields["online"]),
        "curve": Curve(
            curve["impression"].astype(np.int64),
            *(curve[measure][moment].copy() for measure in MEASURES for moment in Moments._fields),
        ),
        "runs": Runs(
            **{measure: points[measure].copy() for measure in MEASURES},
            metrics={
                name: np.stack([one[name] for one in metrics])
                for name in metrics[0]
                if all(name in one for one in metrics)
            },
            run=np.array(run),
            fold=np.array(fold),
            validation=np.array(validation),
            seconds=np.array(seconds),
            evaluation_seconds=np.array(evaluation_seconds),
        ),
    }
