"""Learners by hand."""

import copy
import pickle

import numpy as np
import pytest

import plackett

METHODS = [method["name"] for method in plackett.methods()]
LATE = [method["name"] for method in plackett.methods() if method["learns_late"]]
AT_ONCE = sorted(set(METHODS) - set(LATE))


def clicks_on(impression, *ranks):
    clicks = np.zeros(len(impression), dtype=bool)
    clicks[list(ranks)] = True
    return clicks


def teach(learner, fold, impressions, first=0):
    user = plackett.ClickModel("perfect")
    for number in range(first, first + impressions):
        query = fold.train[number % len(fold.train)]
        impression = learner.rank(query.features)
        learner.learn(impression, user.click(impression, query.labels))


def test_there_is_a_class_for_every_method():
    for method in plackett.methods():
        made = getattr(plackett, method["title"])(features=3)
        assert made.method == method["name"] and isinstance(made, plackett.Learner)
        assert isinstance(made, getattr(plackett, method["title"]))
        for setting in method["settings"]:
            assert setting["name"].replace("-", "_") in type(made).__doc__


def test_pdgds_step_is_its_weights_times_the_features(rows):
    learner = plackett.PDGD(features=5, learning_rate=0.5, seed=9)
    impression = learner.rank(rows)
    clicks = clicks_on(impression, 1, 4)
    scores = np.zeros(len(rows))
    weights = plackett.document_weights(scores, impression.ranking, clicks)
    learner.learn(impression, clicks)
    assert np.allclose(learner.ranker.parameters, 0.5 * weights @ rows, atol=1e-6)
    assert np.abs(learner.ranker.parameters).max() > 1e-3


def test_an_impression_says_what_was_shown(rows):
    learner = plackett.PDGD(features=5, shown=3)
    first, second = learner.rank(rows), learner.rank(rows)
    assert (first.number, second.number, learner.impressions) == (0, 1, 2)
    assert len(first) == 3 and first.ranking.dtype == np.int64
    assert len(set(first.ranking.tolist())) == 3 and first.ranking.max() < len(rows)
    assert first.shown_scores.tolist() == [0, 0, 0]
    short = learner.rank(rows[:2])
    assert len(short) == 2


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_learns_the_same(method, fold):
    learners = [plackett.Learner(method, features=fold, seed=seed) for seed in (5, 5, 6)]
    for learner in learners:
        teach(learner, fold, 40)
    first, same, other = (learner.ranker.parameters for learner in learners)
    assert np.array_equal(first, same) and not np.array_equal(first, other)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("way", ["pickle", "copy", "file"])
def test_a_restored_learner_goes_on_as_the_first_would(method, way, fold, tmp_path):
    learner = plackett.Learner(method, features=fold, seed=5, shown=7)
    teach(learner, fold, 30)
    if way == "pickle":
        again = pickle.loads(pickle.dumps(learner))
    elif way == "copy":
        again = copy.deepcopy(learner)
    else:
        learner.save(tmp_path / "model.plk")
        again = plackett.Learner.load(tmp_path / "model.plk", seed=5, shown=7)
    assert again.impressions == 30 and again.updates == learner.updates
    teach(learner, fold, 30, first=30)
    assert not np.array_equal(learner.ranker.parameters, again.ranker.parameters)
    teach(again, fold, 30, first=30)
    assert np.array_equal(learner.ranker.parameters, again.ranker.parameters)


def told(learner):
    """What load needs, from the learner."""
    names = ("shown", "seed", "run", "protocol")
    return {name: getattr(learner, name) for name in names}


@pytest.mark.parametrize("method", METHODS)
def test_a_learner_has_all_that_load_needs(method, fold, tmp_path):
    given = {"shown": 7, "seed": 5, "run": 2, "protocol": "published"}
    other = {
        "cascade": {"window": 50},
        "coltr": {"temperature": 0.5},
        "dbgd": {"projection": "documents"},
        "mgd": {"candidates": 4},
        "pairrank": {"alpha": 0.2},
        "pairwise": {"epsilon": 0.3},
        "pdgd": {"learning_rate": 0.3},
        "pl-gradient": {"debias": "position"},
        "steady": {"novelty": 5},
    }[method]
    learner = plackett.Learner(method, features=fold, **given, **other)
    table = next(one for one in plackett.methods() if one["name"] == method)["settings"]
    defaults = {one["name"].replace("-", "_"): one["default"] for one in table}
    assert learner.settings == {**defaults, **other}
    teach(learner, fold, 30)
    assert learner.settings.get("learning_rate", 0) == learner.learning_rate
    assert ("learning_rate" in learner.settings) == (method != "pairrank")
    if method == "pdgd":
        assert learner.learning_rate < 0.3  # so that the initial rate would differ
    learner.save(tmp_path / "model.plk")
    again = plackett.Learner.load(tmp_path / "model.plk", **told(learner))
    assert told(again) == told(learner) and again.settings == learner.settings
    for one in (learner, again):
        teach(one, fold, 30, first=30)
    assert np.array_equal(learner.ranker.parameters, again.ranker.parameters)


@pytest.mark.parametrize("method", METHODS)
def test_assigned_parameters_are_what_it_goes_on_from(method, fold):
    learner = plackett.Learner(method, features=fold, seed=3)
    teach(learner, fold, 20)
    wanted = np.full_like(learner.ranker.parameters, 0.25)
    learner.ranker.parameters = wanted
    assert np.array_equal(learner.ranker.parameters, wanted)
    assert np.array_equal(learner.explorer.parameters, wanted)


def test_a_steady_learner_explores_with_more_than_it_saves(fold):
    learner = plackett.Steady(features=fold)
    teach(learner, fold, 20)
    assert not np.array_equal(learner.explorer.parameters, learner.ranker.parameters)
    learner = plackett.PDGD(features=fold)
    teach(learner, fold, 20)
    assert np.array_equal(learner.explorer.parameters, learner.ranker.parameters)


def test_a_simulated_learner_has_its_settings(data):
    learner = plackett.simulate(data, "mgd", runs=1, impressions=20, candidates=4).learner
    assert learner.settings["candidates"] == 4 and learner.protocol == "described"


def test_a_simulated_learner_is_restored_too(data, fold):
    learner = plackett.simulate(data, "mgd", runs=1, impressions=50, candidates=3, seed=8).learner
    again = pickle.loads(pickle.dumps(learner))
    for one in (learner, again):
        teach(one, fold, 20, first=50)
    assert again.impressions == 70
    assert np.array_equal(learner.ranker.parameters, again.ranker.parameters)


def test_half_made_objects_are_refused():
    for cls in (plackett.Learner, plackett.PDGD, plackett.Ranker, plackett.ClickModel):
        with pytest.raises(TypeError, match="made by __new__ alone"):
            repr(cls.__new__(cls))
    for cls in (plackett.Query, plackett.Split, plackett.Rng, plackett.Impression):
        with pytest.raises(TypeError):
            cls.__new__(cls)
        with pytest.raises(TypeError, match="no constructor"):
            cls()


def test_classes_pickle_and_load_as_themselves(tmp_path):
    learner = plackett.PDGD(features=3, learning_rate=0.3)
    assert type(pickle.loads(pickle.dumps(learner))) is plackett.PDGD
    learner.save(tmp_path / "model.plk")
    again = plackett.PDGD.load(tmp_path / "model.plk")
    assert type(again) is plackett.PDGD and again.learning_rate == 0.3
    assert plackett.PDGD.load(tmp_path / "model.plk", learning_rate=0.7).learning_rate == 0.7
    for settings in ({}, {"candidates": 4}):
        with pytest.raises(ValueError, match="path: .*: a model of pdgd, not of mgd"):
            plackett.MGD.load(tmp_path / "model.plk", **settings)


def test_a_ranker_without_a_learner_is_reported(tmp_path):
    plackett.Ranker(features=3).save(tmp_path / "model.plk")
    with pytest.raises(ValueError, match="a ranker without a learner"):
        plackett.Learner.load(tmp_path / "model.plk")


def test_an_old_impression_counts_with_its_own_scores(fold):
    """Learned from later, a list has the weights of when it was shown; with the present scores the
    step would differ."""
    rows = fold.train[0].features
    learner = plackett.PDGD(features=fold, learning_rate=1.0)
    late = learner.rank(rows)
    teach(learner, fold, 50)
    clicks = clicks_on(late, 2)
    before = learner.ranker.parameters.astype(np.float64)
    old = np.zeros(len(rows))
    now = learner.ranker.score(rows).astype(np.float64)
    learner.learn(late, clicks)
    step = learner.ranker.parameters - before

    def expected(scores):
        return plackett.document_weights(scores, late.ranking, clicks) @ rows

    assert np.allclose(step, expected(old), atol=1e-5)
    assert not np.allclose(step, expected(now), atol=1e-5)


@pytest.mark.parametrize("method", AT_ONCE)
def test_some_methods_refuse_old_impressions(method, rows):
    learner = plackett.Learner(method, features=5)
    old, last = learner.rank(rows), learner.rank(rows)
    with pytest.raises(ValueError, match="number 0; .* learns only from the last one"):
        learner.learn(old, clicks_on(old, 0))
    learner.learn(last, clicks_on(last, 1))
    with pytest.raises(ValueError, match="learns only from the last one that it showed, once"):
        learner.learn(last, clicks_on(last, 1))
    other = plackett.Learner(method, features=5)
    foreign = other.rank(rows)
    with pytest.raises(ValueError, match="learns only from the last one"):
        learner.learn(foreign, clicks_on(foreign, 1))


def test_another_methods_impression_is_refused(rows):
    shown = plackett.PDGD(features=5).rank(rows)
    with pytest.raises(ValueError, match="made by pdgd; cascade learns only from its own"):
        plackett.Cascade(features=5).learn(shown, clicks_on(shown, 0))
    with pytest.raises(ValueError, match="documents of 5 features; the ranker reads 4"):
        plackett.PDGD(features=4).learn(shown, clicks_on(shown, 0))


@pytest.mark.parametrize(
    "clicks, error, said",
    [
        ([1, 0], ValueError, "clicks: 2 for 8 shown documents"),
        ([1] * 9, ValueError, "clicks: 9 for 8 shown documents"),
        ([], ValueError, "clicks: 0 for 8"),
        ([2] + [0] * 7, ValueError, "clicks: 2 at 0; expected a 0 or 1"),
        ([-1] + [0] * 7, ValueError, "clicks: -1 at 0"),
        ([0.5] + [0] * 7, ValueError, "clicks: 0.5 at 0"),
        ([np.nan] + [0] * 7, ValueError, "clicks: nan at 0"),
        (np.zeros((8, 1)), ValueError, "clicks: shape"),
        (np.zeros(8, dtype=complex), TypeError, "clicks: dtype complex128"),
        (["a"] * 8, TypeError, "clicks: dtype"),
        (None, TypeError, "clicks: None; expected a 0 or 1 for each shown document"),
        ({1, 2}, TypeError, r"clicks: {1, 2}; expected a 0 or 1 for each shown document"),
        (7, ValueError, "clicks: shape"),
    ],
)
def test_wrong_clicks_are_refused(clicks, error, said, rows):
    learner = plackett.PDGD(features=5)
    impression = learner.rank(rows)
    with pytest.raises(error, match=said):
        learner.learn(impression, clicks)
    assert learner.updates == 0
    learner.learn(impression, [0, 1] + [0] * 6)
    assert learner.updates == 1


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.int64, np.uint32, np.float32, list])
def test_clicks_of_any_dtype_are_the_same(dtype, rows):
    parameters = []
    for kind in (bool, dtype):
        learner = plackett.PDGD(features=5)
        impression = learner.rank(rows)
        clicks = [0, 1, 0, 0, 1, 0, 0, 0]
        learner.learn(impression, clicks if kind is list else np.array(clicks, dtype=kind))
        parameters.append(learner.ranker.parameters)
    assert np.array_equal(*parameters)


def test_the_learners_ranker_lives_with_it(rows):
    learner = plackett.PDGD(features=5)
    ranker = learner.ranker
    impression = learner.rank(rows)
    learner.learn(impression, clicks_on(impression, 3))
    assert np.abs(ranker.parameters).max() > 0  # it sees what is learned
    ranker.parameters = np.arange(5)
    assert learner.ranker.parameters.tolist() == [0, 1, 2, 3, 4]
    ranker.scaling = "query-minmax"
    assert learner.ranker.scaling == "query-minmax"
    del learner
    assert ranker.score(rows).shape == (8,)  # and keeps it alive


def test_a_given_ranker_is_copied(rows):
    ranker = plackett.Ranker("neural", features=5, seed=3)
    learner = plackett.PDGD(ranker)
    impression = learner.rank(rows)
    learner.learn(impression, clicks_on(impression, 3))
    assert not np.array_equal(learner.ranker.parameters, ranker.parameters)
    with pytest.raises(TypeError, match="the given ranker has its own"):
        plackett.PDGD(ranker, features=5)


@pytest.mark.parametrize(
    "arguments, error, said",
    [
        ({"method": "sgd", "features": 3}, ValueError, 'unknown method "sgd"; known: cascade'),
        ({"method": "pdgd"}, TypeError, "features: None"),
        ({"method": "pdgd", "features": 3, "epsilon": 1}, TypeError, 'unknown keyword "epsilon"'),
        ({"method": "pdgd", "features": 3, "learning_rate": -1}, ValueError, "learning_rate -1"),
        ({"method": "pdgd", "features": 3, "learning_rate": []}, TypeError, "learning_rate: "),
        ({"method": "pdgd", "features": 3, "steps": "big"}, ValueError, 'steps "big"; known'),
        ({"method": "mgd", "features": 3, "candidates": 1.5}, ValueError, "candidates 1.5"),
        ({"method": "pdgd", "features": 3, "shown": 0}, ValueError, "shown: 0"),
        ({"method": "pdgd", "features": 3, "shown": 101}, ValueError, "from 1 to 100"),
        ({"method": "pdgd", "features": 3, "seed": 2**64}, ValueError, "seed: 18446744073709551616"),
        ({"method": "pdgd", "features": 3, "protocol": "mine"}, ValueError, "mine"),
        ({"method": "cascade", "ranker": "linear", "features": 3}, ValueError, "linear.neural"),
        ({"method": 3, "features": 3}, TypeError, "method: 3; expected a str"),
        ({"method": "pdgd", "ranker": 3, "features": 3}, TypeError, "ranker: 3"),
        (
            {"method": "pdgd", "features": 3, "hidden": (128, 64)},
            ValueError,
            r'hidden: \(128, 64\); a linear ranker has none; ranker="neural" has',
        ),
        (
            {"method": "pdgd", "features": 3, "activation": "relu"},
            ValueError,
            "activation: 'relu'; a linear ranker has none",
        ),
    ],
)
def test_wrong_learners_are_refused(arguments, error, said):
    with pytest.raises(error, match=said) as caught:
        plackett.Learner(**arguments)
    assert isinstance(caught.value, plackett.Error)


def test_a_diverged_learner_is_reported(rows):
    learner = plackett.PDGD(features=5, learning_rate=1e30)
    with pytest.raises(ValueError, match="a smaller learning rate"):
        for _ in range(200):
            impression = learner.rank(1e6 * rows)
            learner.learn(impression, clicks_on(impression, len(impression) - 1))
