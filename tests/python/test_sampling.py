"""Plackett-Luce, pairs and weights."""

import itertools
import json
import math
import os
from pathlib import Path

import numpy as np
import pytest

import plackett
from interrupted import interrupt

GOLDEN = json.loads(
    (Path(os.environ["PLACKETT_SOURCE_DIR"]) / "tests" / "golden" / "pdgd.json").read_text()
)["cases"]


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["name"])
def test_goldens(case):
    shown = case["scores"], case["ranking"], case["clicks"]
    if case["ranking"]:
        said = plackett.log_probability(*shown[:2])
        assert said == pytest.approx(case["log_probability"], rel=1e-12, abs=1e-300)
    pairs = plackett.pairs(*shown)
    assert len(pairs) == len(case["pairs"])
    for ours, golden in zip(pairs, case["pairs"]):
        assert ours.winner_rank == golden["winner_rank"]
        assert ours.loser_rank == golden["loser_rank"]
        assert ours.winner == case["ranking"][ours.winner_rank]
        assert ours.loser == case["ranking"][ours.loser_rank]
        assert ours.rho == pytest.approx(golden["rho"], rel=1e-12, abs=1e-300)
        assert ours.weight == pytest.approx(golden["weight"], rel=1e-12, abs=1e-300)
    weights = plackett.document_weights(*shown)
    assert weights.dtype == np.float64
    assert np.allclose(weights, case["document_weight"], rtol=1e-10, atol=1e-300)


def chi_square(counts, probabilities, draws):
    return sum(
        (counts.get(ranking, 0) - draws * p) ** 2 / (draws * p)
        for ranking, p in probabilities.items()
    )


def test_frequencies_match_the_probabilities():
    """24 rankings, 20,000 draws, chi-square, alpha 1e-6; swapped scores must fail it."""
    scores = [0.5, 0.0, -0.7, 1.1]
    draws, counts = 20_000, {}
    rng = plackett.stream(3, purpose="ranking")
    for _ in range(draws):
        ranking = tuple(plackett.sample_ranking(scores, rng=rng))
        counts[ranking] = counts.get(ranking, 0) + 1

    def probabilities(of):
        return {
            ranking: math.exp(plackett.log_probability(of, ranking))
            for ranking in itertools.permutations(range(4))
        }

    assert sum(probabilities(scores).values()) == pytest.approx(1)
    critical = 67.0  # chi-square, 23 degrees, 1e-6
    assert chi_square(counts, probabilities(scores), draws) < critical
    assert chi_square(counts, probabilities([0.0, 0.5, -0.7, 1.1]), draws) > critical


def test_a_sample_is_a_function_of_its_seed():
    scores = np.zeros(50)
    first = plackett.sample_ranking(scores, 10, seed=1)
    assert first.dtype == np.int64 and len(set(first)) == 10
    assert np.array_equal(first, plackett.sample_ranking(scores, 10, seed=1))
    assert not np.array_equal(first, plackett.sample_ranking(scores, 10, seed=2))


def test_a_loop_without_seed_and_rng_is_refused():
    """It would draw the same list each time. An rng advances."""
    scores = np.zeros(50)
    with pytest.raises(plackett.BadType, match="seed, rng: neither; give one of them"):
        plackett.sample_ranking(scores)
    with pytest.raises(plackett.BadType, match="seed, rng: both; give one of them"):
        plackett.sample_ranking(scores, seed=1, rng=plackett.stream(1))
    with pytest.raises(plackett.BadType, match="rng: 3; expected a plackett.Rng"):
        plackett.sample_ranking(scores, rng=3)
    with pytest.raises(plackett.BadType, match="seed: a plackett.Rng; give it as rng"):
        plackett.sample_ranking(scores, seed=plackett.stream(1))
    rng = plackett.stream(1)
    drawn = {tuple(plackett.sample_ranking(scores, rng=rng)) for _ in range(20)}
    assert len(drawn) == 20


def test_long_lists_are_as_short_ones():
    """Beyond the length at which the work runs in parts: rho against its definition, and the weights
    against the pairs."""
    random = np.random.default_rng(4)
    scores, ranking = random.normal(size=420), random.permutation(420)[:400]
    clicks = (random.random(400) < 0.2).astype(int)
    clicks[390:] = 0
    last = int(np.flatnonzero(clicks)[-1])
    pairs = plackett.pairs(scores, ranking, clicks)
    expected = [
        (winner, loser)
        for winner in np.flatnonzero(clicks)
        for loser in range(last + 2)
        if not clicks[loser]
    ]
    assert [(pair.winner_rank, pair.loser_rank) for pair in pairs] == expected
    assert [(pair.winner, pair.loser) for pair in pairs[:50]] == [
        (ranking[winner], ranking[loser]) for winner, loser in expected[:50]
    ]
    before = plackett.log_probability(scores, ranking)
    for pair in pairs[:: len(pairs) // 40]:
        swapped = ranking.copy()
        places = [pair.winner_rank, pair.loser_rank]
        swapped[places] = swapped[places[::-1]]
        odds = math.exp(plackett.log_probability(scores, swapped) - before)
        assert pair.rho == pytest.approx(odds / (1 + odds), rel=1e-9)
    weights = np.zeros(420)
    for pair in pairs:
        weights[pair.winner] += pair.weight
        weights[pair.loser] -= pair.weight
    assert np.allclose(plackett.document_weights(scores, ranking, clicks), weights, rtol=1e-12)
    alone = np.where(np.arange(400) == 5, 1, 0)  # one click at the top is little work
    assert len(plackett.pairs(scores, ranking, alone)) == 6


@pytest.mark.parametrize("function", ["document_weights", "pairs"])
def test_ctrl_c_stops_long_lists(function):
    script = f"""
        import numpy as np, plackett, sys, threading, time
        counted = [0]
        def count():
            while True:
                counted[0] += 1
                time.sleep(0.001)
        threading.Thread(target=count, daemon=True).start()
        documents = np.arange(5000)
        print("ready", flush=True)
        try:
            plackett.{function}(np.sin(documents), documents, documents % 2)
        except KeyboardInterrupt:
            with open("/proc/self/status") as status:
                threads = next(line.split()[1] for line in status if line.startswith("Threads:"))
            print("interrupted", threads, counted[0] > 100, flush=True)
            sys.exit(3)
    """
    stopped = interrupt(script, after_s=1)
    # This thread and the counting one; the GIL was free.
    assert stopped.said == ["interrupted", "2", "True"], stopped.errors
    assert stopped.took < 5 and stopped.code == 3  # a fraction of a second on a machine at rest


def test_scores_far_apart_are_no_problem():
    weights = plackett.document_weights([1e5, -1e5, 0.0], [0, 2, 1], [0, 0, 1])
    assert np.isfinite(weights).all() and weights.sum() == pytest.approx(0)


@pytest.mark.parametrize(
    "arguments, error, said",
    [
        (([0.0, np.nan], [0], [1]), ValueError, "scores: nan for document 1"),
        (([0.0, 1.0], [0], [1, 0]), ValueError, "clicks: 2 for 1 ranked documents"),
        (([0.0, 1.0], [2], [1]), ValueError, "document 2; documents are 0 to 1"),
        (([0.0, 1.0], [0, 0], [1, 0]), ValueError, "document 0 twice"),
        (([0.0, 1.0], [0], [3]), ValueError, "clicks: 3 at 0"),
        (([], [0], [1]), ValueError, "document 0; documents are 0 to -1"),
        (([[0.0]], [0], [1]), ValueError, "scores: shape"),
        ((["a"], [0], [1]), TypeError, "scores: dtype"),
        (([1j], [0], [1]), TypeError, "scores: dtype complex128"),
    ],
)
def test_wrong_lists_are_refused(arguments, error, said):
    for function in (plackett.document_weights, plackett.pairs):
        with pytest.raises(error, match=said):
            function(*arguments)


@pytest.mark.parametrize("scores", [[], [np.inf], [1e300], [np.nan]])
def test_wrong_scores_are_not_sampled(scores):
    with pytest.raises(ValueError, match="scores"):
        plackett.sample_ranking(scores, seed=1)
    with pytest.raises(ValueError, match="k: 0"):
        plackett.sample_ranking([1.0], k=0, seed=1)


def test_streams_are_named_by_four():
    names = itertools.product([1, 2], [0, 1], [0, 2**40], ["query", "ranking"])
    drawn = {plackett.stream(*name).next_u64() for name in names}
    assert len(drawn) == 16
    assert plackett.stream(1).uniform() == plackett.stream(1, 0, 0, "test").uniform()
    with pytest.raises(ValueError, match='purpose: "luck"; known are query'):
        plackett.stream(1, purpose="luck")
    with pytest.raises(ValueError, match="impression"):
        plackett.stream(1, impression=2**56)
    with pytest.raises(ValueError, match="bound: 0"):
        plackett.stream(1).below(0)
