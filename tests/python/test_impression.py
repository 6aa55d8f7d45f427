"""Impressions: as rankings, their weights, pickled."""

import copy
import pickle

import numpy as np
import pytest

import plackett

LATE = [method["name"] for method in plackett.methods() if method["learns_late"]]
AT_ONCE = [method["name"] for method in plackett.methods() if not method["learns_late"]]
WAYS = {
    "pickle": lambda one: pickle.loads(pickle.dumps(one)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


def trained(fold, **options):
    """A learner whose scores differ."""
    learner = plackett.PDGD(features=fold, **options)
    learner.ranker.parameters = np.random.default_rng(2).normal(size=42)
    return learner


def clicks_on(impression, *ranks):
    clicks = np.zeros(len(impression), dtype=int)
    clicks[list(ranks)] = 1
    return clicks


def test_an_impression_stands_for_its_ranking(fold):
    query = fold.train[0]
    learner = trained(fold, shown=5)
    impression, scores = learner.rank(query), learner.ranker.score(query)
    ranking, clicks = impression.ranking, clicks_on(impression, 1, 3)
    assert plackett.ndcg(impression, query) == plackett.ndcg(ranking, query)
    assert plackett.log_probability(scores, impression) == plackett.log_probability(scores, ranking)
    assert plackett.pairs(scores, impression, clicks) == plackett.pairs(scores, ranking, clicks)
    weights = plackett.document_weights(scores, impression, clicks)
    assert np.array_equal(weights, plackett.document_weights(scores, ranking, clicks))
    whole = trained(fold, shown=100).rank(query)
    assert plackett.metrics(whole, query) == plackett.metrics(whole.ranking, query)


def test_an_impression_has_as_many_candidates_as_scores_and_labels(fold):
    impression = trained(fold, shown=5).rank(fold.train[0])
    docs = len(fold.train[0])
    with pytest.raises(plackett.BadValue, match=f"labels: 3 for {docs} documents; expected one each"):
        plackett.ndcg(impression, [1, 0, 0])
    for function in (plackett.document_weights, plackett.pairs):
        with pytest.raises(plackett.BadValue, match=f"scores: 5 for {docs} documents; expected one"):
            function(impression.shown_scores, impression, clicks_on(impression, 1))


def test_scores_by_rank_are_refused(fold):
    query = fold.train[0]
    learner = trained(fold, shown=100)
    impression = learner.rank(query)
    clicks = clicks_on(impression, 1)
    assert len(impression) == len(query)
    with pytest.raises(plackett.BadValue, match="scores: in the order of the ranking, .*one per document"):
        plackett.document_weights(impression.shown_scores, impression, clicks)
    right = plackett.document_weights(learner.ranker.score(query), impression, clicks)
    assert np.allclose(impression.document_weights(clicks), right, rtol=1e-9)


@pytest.mark.parametrize("shown", [5, 100])
def test_an_impressions_weights_are_those_when_it_was_shown(fold, shown):
    query = fold.train[0]
    learner = trained(fold, shown=shown)
    impression, scores = learner.rank(query), learner.ranker.score(query)
    clicks = clicks_on(impression, 1, 3)
    learner.ranker.parameters = np.zeros(42)  # must not matter: the scores when it was shown count
    weights = impression.document_weights(clicks)
    assert weights.shape == (len(query),) and weights.dtype == np.float64
    assert np.allclose(weights, plackett.document_weights(scores, impression.ranking, clicks), rtol=1e-9)
    now = plackett.document_weights(np.zeros(len(query)), impression.ranking, clicks)
    assert not np.allclose(weights, now, rtol=1e-3)
    with pytest.raises(plackett.BadValue, match=f"clicks: 1 for {len(impression)} shown documents"):
        impression.document_weights([1])


@pytest.mark.parametrize("method", AT_ONCE)
def test_other_lists_have_no_weights(method, rows):
    impression = plackett.Learner(method, features=5).rank(rows)
    with pytest.raises(plackett.BadValue, match=f"shown by {method}; only lists sampled"):
        impression.document_weights(clicks_on(impression, 0))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("method", LATE)
def test_a_copy_is_learned_from_as_the_first(method, way, fold):
    learners = [plackett.Learner(method, features=fold, shown=5, seed=3) for _ in range(2)]
    query = fold.train[0]
    for learner in learners:
        learner.ranker.parameters = np.linspace(-1, 1, len(learner.ranker.parameters))
        first = learner.rank(query)
        again = WAYS[way](first) if learner is learners[1] else first
        assert np.array_equal(again.features, query.features) and again.number == 0
        assert np.array_equal(again.ranking, first.ranking) and repr(again) == repr(first)
        user = plackett.ClickModel("random")
        assert np.array_equal(user.click(again, query), user.click(first, query))
        learner.learn(again, clicks_on(again, 2))
    assert learners[0].updates == learners[1].updates == 1
    assert np.array_equal(learners[0].ranker.parameters, learners[1].ranker.parameters)


def test_a_copy_shares_features_and_a_deep_one_does_not(rows):
    impression = plackett.PDGD(features=5).rank(rows)
    assert copy.copy(impression).features is rows
    assert not np.shares_memory(copy.deepcopy(impression).features, rows)


@pytest.mark.parametrize("method", AT_ONCE)
def test_others_learn_only_from_the_object_that_rank_returned(method, rows):
    learner = plackett.Learner(method, features=5)
    impression = learner.rank(rows)
    again = pickle.loads(pickle.dumps(impression))
    with pytest.raises(plackett.BadValue, match="learns only from the last one"):
        learner.learn(again, clicks_on(again, 0))
    learner.learn(impression, clicks_on(impression, 0))


def test_wrong_states_are_refused(rows):
    again, state = plackett.PDGD(features=5, shown=3).rank(rows).__reduce__()
    assert again(*state).number == 0
    odd = [None, -1, 2**80, 1.5, "x", b"", [], [0, 0, 0], [9], [np.nan] * 3, np.inf, {}, object(), int]
    refused = 0
    for place in range(len(state)):
        for value in odd:
            try:
                again(*state[:place], value, *state[place + 1 :])
            except (plackett.Error, TypeError):
                refused += 1
    assert refused > 0.9 * len(state) * len(odd)


def test_users_are_pickled(tmp_path, monkeypatch):
    labels = [1, 0, 1, 1, 0]
    file = tmp_path / "mine.toml"
    file.write_text('kind = "cascade"\nname = "mine"\nclick = [0.2, 0.7]\nstop = [0.1, 0.3]\n')
    monkeypatch.chdir(tmp_path)
    for user in (
        plackett.ClickModel("position-based", grades=3, eta=0.5),
        plackett.ClickModel("navigational", protocol="published"),
        plackett.ClickModel("mine.toml", grades=2),
    ):
        state = pickle.dumps(user)
        monkeypatch.chdir("/")  # where a worker may be
        again = pickle.loads(state)
        assert repr(again) == repr(user)
        for seed in range(30):
            drawn = [one.click(range(5), labels, seed=seed).tolist() for one in (user, again)]
            assert drawn[0] == drawn[1]
        monkeypatch.chdir(tmp_path)
    file.unlink()
    with pytest.raises(FileNotFoundError, match="mine.toml"):
        pickle.loads(state)


@pytest.mark.parametrize("way", WAYS)
def test_errors_say_what_to_pickle_instead_of_data(way, data, fold):
    for what in (data, fold, fold.train, fold.train[0]):
        with pytest.raises(plackett.BadType, match="it can't be pickled or copied; pickle "):
            WAYS[way](what)
