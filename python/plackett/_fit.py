"""A model that starts as a present ranking."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Union

from . import _engine
from ._errors import BadType, shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_DEFAULT: dict[str, Any] = _engine.fit_defaults

Order = Union["ArrayLike", tuple["ArrayLike", int]]


@dataclass(frozen=True)
class Agreement:
    """How well a ranker reproduces lists of another ranking: means over lists. Pairs are those
    whose order is known: two shown documents, or a shown one and one that was not.

    >>> rows = np.random.default_rng(1).random((40, 5, 2))
    >>> orders = [one[np.argsort(-one[:, 0])] for one in rows]
    >>> plackett.fit(orders, learner="pdgd").held_out.lists
    8
    """

    lists: int
    kendall_tau: float  #: of the documents sorted by score: 1 if all pairs are as they were shown
    same_first: float  #: the share of lists that start with the same document
    sampled_kendall_tau: float  #: expected of a sampled ranking
    sampled_same_first: float  #: the probability that a sampled list starts with the same document
    log_likelihood: float  #: of a list as it was shown


@dataclass(frozen=True, eq=False)
class Fitted:
    """What plackett.fit returns.

    >>> rows = np.random.default_rng(1).random((40, 5, 2))
    >>> result = plackett.fit([one[np.argsort(-one[:, 0])] for one in rows])
    >>> result.learner.method, result.ranker.kind, result.ranker.scaling
    ('steady', 'linear+neural', 'query-minmax')
    """

    learner: _engine.Learner = field(repr=False)  #: explores and is saved with the fitted scores
    fitted: Agreement  #: on the lists that were fitted, after the temperature
    held_out: Agreement | None  #: on the others, likewise; None without any
    iterations: int
    converged: bool  #: otherwise the iterations were used up

    @property
    def ranker(self) -> _engine.Ranker:
        """The learner's ranker."""
        return self.learner.ranker


def _pair(order: Any) -> tuple[Any, int | None]:
    """The features, and how many were shown, if it is said."""
    if not isinstance(order, tuple):
        return order, None
    if len(order) != 2:
        raise BadType(f"orders: {shown(order)}; expected features, or (features, shown)")
    features, count = order
    return features, count


def fit(
    orders: Iterable[Order],
    *,
    learner: str = _DEFAULT["learner"],
    ranker: str | None = None,
    hidden: int | Sequence[int] = _DEFAULT["hidden"],
    activation: str = _DEFAULT["activation"],
    shown: int = _DEFAULT["shown"],
    scaling: str = _DEFAULT["scaling"],
    ridge: float = _DEFAULT["ridge"],
    temperature: float = _DEFAULT["temperature"],
    held_out: float = _DEFAULT["held_out"],
    iterations: int = _DEFAULT["iterations"],
    seed: int = _DEFAULT["seed"],
    threads: int = _DEFAULT["threads"],
    **settings: float | str,
) -> Fitted:
    """A model that starts as a present ranking, from lists that it showed, as `plackett fit` does,
    to the bit.

    An order is an array of features, candidates x features, in the order shown, best first; or such
    an array and how many of the candidates were shown, in a tuple: the rest were not, and count as
    below. Features are scaled within each list, unless `scaling` is "none". `learner` is the method
    that goes on from the fit, as in the command ("pdgd:neural"), `ranker` its ranker, and other
    keywords are its settings; it shows `shown` documents. A lower `temperature` makes sampled lists
    vary less. The result is a function of the arguments, the same for any number of threads (0: one
    per core).

    >>> rows = np.random.default_rng(1).random((100, 8, 3))
    >>> orders = [(one[np.argsort(one @ [-3, 1, 0])], 4) for one in rows]
    >>> result = plackett.fit(orders, learner="pdgd")
    >>> result.held_out.kendall_tau > 0.9
    True
    >>> [int(doc) for doc in result.ranker.rank([[0, 0, 0], [1, 0, 0], [0, 1, 1]])]
    [1, 0, 2]
    """
    given = locals()
    options = {name: given[name] for name in _DEFAULT}
    if isinstance(orders, (str, bytes)) or not isinstance(orders, Iterable):
        raise BadType(f"orders: {type(orders).__name__}; expected a sequence of arrays")
    fields, made = _engine.fit([_pair(one) for one in orders], learner, ranker, options, settings)
    measured = {
        name: fields[name] and Agreement(**fields[name]) for name in ("fitted", "held_out")
    }
    return Fitted(
        learner=made, iterations=fields["iterations"], converged=fields["converged"], **measured
    )
