"""At home with scikit-learn and PyTorch, which the package itself never imports."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import plackett


def makers(fold):
    return {
        "linear ranker": lambda: plackett.Ranker(features=3),
        "neural ranker": lambda: plackett.Ranker("neural", features=fold, hidden=(300, 8), seed=10**12),
        "learner": lambda: plackett.Learner("pdgd", features=1000, learning_rate=0.3, steps="adagrad"),
        "learner with a ranker": lambda: plackett.PDGD(plackett.Ranker("neural", features=fold, seed=7)),
        "learner of a fold": lambda: plackett.MGD(features=fold, candidates=9, shown=5, seed=12345678),
        "simulated": lambda: plackett.simulate("synthetic", "mgd", runs=1, impressions=9, seed=5).learner,
    }


@pytest.fixture(params=list(makers(None)))
def made(request, fold):
    return makers(fold)[request.param]()


def what_it_is(one):
    """Everything that clone must keep, in values."""
    ranker = getattr(one, "ranker", one)
    learner = (one.method, one.shown, one.seed, one.run, one.settings) if one is not ranker else ()
    return (*learner, ranker.kind, ranker.hidden, ranker.feature_ids.tolist(), ranker.scaling)


def test_clone_gives_one_that_has_learned_nothing(made, fold):
    base = pytest.importorskip("sklearn.base")
    before = made.get_params()
    again = base.clone(made)
    assert type(again) is type(made) and again is not made
    assert what_it_is(again) == what_it_is(made)
    again = base.clone(pickle.loads(pickle.dumps(again)))
    assert what_it_is(again) == what_it_is(made)
    assert list(made.get_params()) == list(before)
    if isinstance(made, plackett.Learner):
        assert again.impressions == 0 and again.updates == 0


def test_a_clone_starts_where_the_first_started(fold):
    base = pytest.importorskip("sklearn.base")
    learner = plackett.PDGD("neural", features=fold, seed=3)
    start = learner.ranker.parameters
    for query in fold.train[:50]:
        learner.learn(learner.rank(query), [1] + [0] * (min(10, len(query)) - 1))
    assert not np.array_equal(learner.ranker.parameters, start)
    again = base.clone(learner)
    assert np.array_equal(again.ranker.parameters, start)
    assert np.array_equal(plackett.simulate("synthetic", runs=1, impressions=1, seed=3).learner
                          .get_params()["features"].feature_ids, fold.feature_ids)  # fmt: skip


def test_parameters_are_the_constructors_arguments(fold):
    learner = plackett.PDGD(features=fold, shown=5, learning_rate=0.3)
    parameters = learner.get_params()
    assert parameters["shown"] == 5 and parameters["learning_rate"] == 0.3
    assert parameters["steps"] == "constant" and parameters["ranker"] is None
    assert parameters["features"].feature_ids == tuple(fold.feature_ids.tolist())
    assert what_it_is(plackett.PDGD(**parameters)) == what_it_is(learner)
    assert list(plackett.Ranker(features=3).get_params()) == [
        "kind", "features", "hidden", "activation", "seed"
    ]  # fmt: skip
    nested = plackett.PDGD(plackett.Ranker("neural", features=3)).get_params()
    assert nested["ranker__kind"] == "neural"


def test_set_params_starts_anew_with_other_parameters(fold):
    learner = plackett.PDGD(features=fold)
    for query in fold.train[:20]:
        learner.learn(learner.rank(query), [1] + [0] * (min(10, len(query)) - 1))
    assert learner.updates > 0
    assert learner.set_params() is learner and learner.updates > 0
    assert learner.set_params(learning_rate=0.25, shown=4) is learner
    assert (learner.learning_rate, learner.shown, learner.updates) == (0.25, 4, 0)
    assert not learner.ranker.parameters.any()
    assert len(learner.rank(fold.train[0])) == 4
    with pytest.raises(plackett.BadValue, match="shown: 0"):
        learner.set_params(shown=0)
    assert learner.shown == 4  # as before
    deep = plackett.PDGD(plackett.Ranker("neural", features=3, hidden=8))
    deep.set_params(ranker__hidden=(4, 2), learning_rate=0.5)
    assert deep.ranker.hidden == (4, 2) and deep.learning_rate == 0.5
    ranker = plackett.Ranker(features=3)
    assert ranker.set_params(kind="neural", hidden=5).parameters.size == 3 * 5 + 5 + 5
    assert plackett.Learner("pdgd", features=2).set_params(method="mgd", candidates=4).method == "mgd"


def test_a_grid_of_parameters_is_searched(data):
    """As scikit-learn's own searches do it."""
    grid = pytest.importorskip("sklearn.model_selection").ParameterGrid
    clone = pytest.importorskip("sklearn.base").clone
    start = plackett.PDGD(features=data.folds[0])
    found = [clone(start).set_params(**one) for one in grid({"learning_rate": [0.01, 0.1], "shown": [5, 10]})]
    assert sorted((one.learning_rate, one.shown) for one in found) == [
        (0.01, 5), (0.01, 10), (0.1, 5), (0.1, 10)
    ]  # fmt: skip


def test_the_package_imports_none_of_them():
    script = "import sys, plackett; print({'sklearn', 'torch', 'pandas'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_torch_takes_a_querys_features_without_a_warning(fold):
    torch = pytest.importorskip("torch")
    query = fold.train[3]
    impression = plackett.PDGD(features=fold).rank(query)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for features in (query.features, impression.features):
            tensor = torch.from_numpy(features)
            assert tensor.shape == (len(query), 42)
        means = plackett.evaluate(lambda rows: torch.from_numpy(rows)[:, 0].numpy(), fold.test)
    assert 0 < means["NDCG@10"] < 1
    before = query.features
    tensor.zero_()
    assert before.any() and np.array_equal(query.features, before)  # the data stays as it is


def test_torch_warns_of_a_splits_features(fold):
    """So the test above can fail."""
    script = "import plackett, torch; torch.from_numpy(plackett.load('synthetic').folds[0].test.features)"
    pytest.importorskip("torch")
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True)
    assert "not writable" in done.stderr
