"""Metrics against plain NumPy."""

import numpy as np
import pytest

import plackett


def plain_ndcg(ranking, labels, k):
    gains = 2.0 ** np.asarray(labels) - 1
    discounts = 1 / np.log2(np.arange(2, k + 2))

    def dcg(ordered):
        return (ordered[:k] * discounts[: min(k, len(ordered))]).sum()

    ideal = dcg(np.sort(gains)[::-1])
    return dcg(gains[np.asarray(ranking)]) / ideal if ideal else 0.0


def test_ndcg_is_the_plain_one():
    random = np.random.default_rng(1)
    for _ in range(200):
        docs = random.integers(1, 30)
        labels = random.integers(0, 5, docs)
        ranking = random.permutation(docs)[: random.integers(1, docs + 1)]
        k = int(random.integers(1, 15))
        expected = plain_ndcg(ranking, labels, k)
        assert plackett.ndcg(ranking, labels, k) == pytest.approx(expected, abs=1e-12)


def test_metrics_of_a_small_list():
    values = plackett.metrics([2, 0, 1], labels=[1, 1, 0])
    assert values["MRR"] == 0.5
    assert values["MAP"] == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert values["NDCG@1"] == 0
    assert values["NDCG@10"] == pytest.approx(plain_ndcg([2, 0, 1], [1, 1, 0], 10))
    more = plackett.metrics([2, 0, 1], labels=[1, 1, 0], max_label=4)
    assert more["ERR@10"] < values["ERR@10"]


def test_evaluate_is_the_mean_over_queries(data, fold):
    ranker = plackett.simulate(data, runs=1, impressions=300).ranker
    means = plackett.evaluate(ranker, fold.test)
    values = [
        plain_ndcg(np.argsort(-ranker.score(query)), query.labels, 10)
        for query in fold.test
        if query.labels.max() > 0
    ]
    assert means["NDCG@10"] == pytest.approx(np.mean(values), abs=1e-9)
    zero = plackett.evaluate(ranker, fold.test, no_relevant="zero")
    assert zero["NDCG@10"] == pytest.approx(sum(values) / len(fold.test), abs=1e-9)


def test_a_function_is_evaluated_as_a_ranker_is(data, fold):
    learner = plackett.simulate(data, runs=1, impressions=300).learner
    expected = plackett.evaluate(learner.ranker, fold.test)
    assert plackett.evaluate(learner, fold.test) == expected
    assert plackett.evaluate(learner.ranker.score, fold.test) == expected
    assert plackett.evaluate(lambda rows: -learner.ranker.score(rows), fold.test) != expected


def test_scores_of_float64_are_compared_as_such(fold):
    """As float32, most of these would be equal, and their order chance."""
    weights = np.arange(42.0)

    def score(features):
        return features.astype(np.float64) @ weights

    expected = plackett.evaluate(score, fold.test)
    assert plackett.evaluate(lambda rows: score(rows) + 1e9, fold.test) == pytest.approx(expected)
    assert plackett.evaluate(lambda rows: score(rows) * 1e290, fold.test) == expected
    rounded = plackett.evaluate(lambda rows: np.float32(score(rows) + 1e9), fold.test)
    assert abs(rounded["NDCG@10"] - expected["NDCG@10"]) > 0.005  # the check can fail


def test_equal_scores_of_float64_stay_equal(fold):
    """A seed orders them, whether float32 holds them or not."""
    values = [
        [plackett.evaluate(lambda rows: np.full(len(rows), value), fold.test, seed=seed) for seed in (1, 2)]
        for value in (0.0, 0.1, 1e300)
    ]
    assert values[0] == values[1] == values[2] and values[0][0] != values[0][1]


def test_errors_of_a_function_are_reported(fold):
    with pytest.raises(ValueError, match="scores: 3 for"):
        plackett.evaluate(lambda rows: [1, 2, 3], fold.test)
    with pytest.raises(ValueError, match="scores: nan"):
        plackett.evaluate(lambda rows: np.full(len(rows), np.nan), fold.test)
    with pytest.raises(ZeroDivisionError):
        plackett.evaluate(lambda rows: 1 / 0, fold.test)


def test_a_function_may_change_what_it_is_given(fold):
    def score(rows):
        first = rows[:, 0].copy()
        rows.fill(0)
        return first

    before = plackett.evaluate(lambda rows: rows[:, 0], fold.test)
    assert plackett.evaluate(score, fold.test) == before
    assert fold.test.features.any()


@pytest.mark.parametrize(
    "call, error, said",
    [
        (lambda fold: plackett.ndcg([5], [1, 0]), ValueError, "document 5; documents are 0 to 1"),
        (lambda fold: plackett.ndcg([0, 0], [1, 0]), ValueError, "document 0 appears twice"),
        (lambda fold: plackett.ndcg([], []), ValueError, "labels: none"),
        (lambda fold: plackett.ndcg([0], [1], k=0), ValueError, "k: 0"),
        (lambda fold: plackett.metrics([0], [1, 0]), ValueError, "1 of 2 documents"),
        (lambda fold: plackett.metrics([0], [3], max_label=2), ValueError, "max_label: 2"),
        (
            lambda fold: plackett.evaluate(plackett.Ranker(features=3), fold.test),
            ValueError,
            "42 features; the ranker reads 3",
        ),
        (lambda fold: plackett.evaluate(3, fold.test), TypeError, "ranker: 3"),
        (lambda fold: plackett.evaluate(len, fold), TypeError, "expected a plackett.Split"),
        (
            lambda fold: plackett.evaluate(len, fold.test, no_relevant="maybe"),
            ValueError,
            "maybe",
        ),
    ],
)
def test_wrong_arguments_are_refused(call, error, said, fold):
    with pytest.raises(error, match=said):
        call(fold)
