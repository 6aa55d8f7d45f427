"""Inferred preferences."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from . import _engine

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Pair(NamedTuple):
    """An inferred preference between two shown documents.

    >>> pair = plackett.pairs([0.0, 0.0], ranking=[1, 0], clicks=[0, 1])[0]
    >>> pair.winner, pair.loser, pair.weight
    (0, 1, 0.125)
    """

    winner: int  #: the preferred document
    loser: int  #: the other
    winner_rank: int  #: where it was shown, from 0
    loser_rank: int
    rho: float  #: P(R*) / (P(R) + P(R*)), R* the list with the two swapped
    weight: float  #: rho times the gradient of the pair's probability


def pairs(
    scores: ArrayLike, ranking: ArrayLike | _engine.Impression, clicks: ArrayLike
) -> list[Pair]:
    """What PDGD infers from clicks on a list: every clicked document is preferred to every
    unclicked one that the user is assumed to have seen, those above the last click and the first
    below it.

    `scores` are those of all candidates when the list was shown, by document (not an Impression's
    shown_scores, which are by rank), `ranking` the documents shown or an Impression, `clicks` a 0
    or 1 for each. The time grows as that of document_weights.

    >>> plackett.pairs([0.0, 0.0], ranking=[1, 0], clicks=[0, 1])
    [Pair(winner=0, loser=1, winner_rank=1, loser_rank=0, rho=0.5, weight=0.125)]
    """
    return [Pair(*one) for one in _engine.pairs(scores, ranking, clicks)]
