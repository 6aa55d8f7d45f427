#!/usr/bin/env python3
"""Writes tests/golden/pdgd.json: PDGD's pairs, weights and probabilities, computed from the
paper's equations with 60 digits. Needs only Python's standard library.

    scripts/make_goldens.py > tests/golden/pdgd.json
"""
import json
import random
import sys
from decimal import Decimal, getcontext

getcontext().prec = 60
getcontext().Emin = -10**9
getcontext().Emax = 10**9


def probability(scores, ranking):
    """P(R | D), eq. 2, as an unnormalised product of fractions."""
    left = {doc: scores[doc].exp() for doc in range(len(scores))}
    result = Decimal(1)
    for doc in ranking:
        result *= left[doc] / sum(left.values())
        del left[doc]
    return result


def case(name, scores, ranking, clicks):
    exact = [Decimal(score) for score in scores]
    p = probability(exact, ranking)
    last = max((rank for rank, click in enumerate(clicks) if click), default=None)
    pairs = []
    weights = [Decimal(0)] * len(scores)
    if last is not None:
        seen = range(min(last + 2, len(ranking)))
        for winner in (rank for rank in seen if clicks[rank]):
            for loser in (rank for rank in seen if not clicks[rank]):
                swapped = list(ranking)
                swapped[winner], swapped[loser] = swapped[loser], swapped[winner]
                reverse = probability(exact, swapped)
                rho = reverse / (p + reverse)
                a, b = exact[ranking[winner]].exp(), exact[ranking[loser]].exp()
                weight = rho * a * b / (a + b) ** 2
                pairs.append({"winner_rank": winner, "loser_rank": loser,
                              "rho": float(rho), "weight": float(weight)})
                weights[ranking[winner]] += weight
                weights[ranking[loser]] -= weight
    return {"name": name, "scores": scores, "ranking": ranking, "clicks": clicks,
            "log_probability": float(p.ln()), "pairs": pairs,
            "document_weight": [float(weight) for weight in weights]}


def random_case(rng, name, n, k, scale, offset=0.0):
    scores = [round(rng.gauss(0, scale) + offset, 6) for _ in range(n)]
    ranking = rng.sample(range(n), k)
    clicks = [int(rng.random() < 0.4) for _ in range(k)]
    return case(name, scores, ranking, clicks)


def main():
    rng = random.Random(20181022)
    cases = [
        case("nothing clicked", [1.0, 0.5, 0.0], [0, 1, 2], [0, 0, 0]),
        case("everything clicked", [1.0, 0.5, 0.0], [2, 1, 0], [1, 1, 1]),
        case("one document", [3.5], [0], [1]),
        case("the last was clicked", [0.0, 0.0, 0.0, 0.0], [3, 1, 0, 2], [0, 0, 0, 1]),
        case("only the first of more than shown", [0.1, 0.2, 0.3, 0.4], [1, 2], [1, 0]),
        case("a thousand apart, best shown last", [0.0, -1000.0, 1000.0], [1, 0, 2], [0, 0, 1]),
        case("a thousand apart, best not shown", [0.0, -1000.0, 1000.0, 0.5], [1, 0, 3],
             [0, 1, 0]),
        case("two clusters far below", [0.0, -5000.0, -5000.5, -5001.0], [2, 0, 1, 3],
             [0, 0, 1, 0]),
        case("all equal, far from zero", [12345.0] * 4, [3, 2, 1, 0], [0, 1, 0, 1]),
    ]
    for number, scale in enumerate([0.1, 1, 10, 50, 100, 400, 2000]):
        for n, k in [(4, 4), (12, 10), (40, 10), (30, 25)]:
            cases.append(random_case(rng, f"scale {scale}, {k} of {n}", n, k, scale,
                                     offset=number * 100.0))
    lines = ",\n".join(json.dumps(one) for one in cases)
    sys.stdout.write('{"k": 10, "cases": [\n' + lines + "\n]}\n")


if __name__ == "__main__":
    main()
