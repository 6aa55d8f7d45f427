"""Rankers."""

import copy
import pickle

import numpy as np
import pytest

import plackett

KINDS = ["linear", "neural", "linear+neural"]


def random_ranker(kind, features=5):
    network = {} if kind == "linear" else {"hidden": [7, 3]}
    ranker = plackett.Ranker(kind, features=features, seed=4, **network)
    shape = ranker.parameters.shape
    ranker.parameters = np.random.default_rng(3).normal(size=shape)
    return ranker


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_follows_the_gradient(kind, rows):
    """Against finite differences, in float32: to 1 % of the largest; twice the step isn't that."""
    ranker = random_ranker(kind)
    weights = np.random.default_rng(5).normal(size=len(rows))
    start = ranker.parameters.astype(np.float64)
    gradient = np.empty_like(start)
    for at in range(len(start)):
        values = []
        for move in (0.02, -0.02):
            moved = start.copy()
            moved[at] += move
            ranker.parameters = moved
            values.append(weights @ ranker.score(rows).astype(np.float64))
        gradient[at] = (values[0] - values[1]) / 0.04
    ranker.parameters = start
    ranker.step(rows, weights, rate=0.5)
    taken = (ranker.parameters - start) / 0.5
    assert np.abs(taken - gradient).max() < 0.01 * np.abs(gradient).max()
    assert np.abs(2 * taken - gradient).max() > 0.01 * np.abs(gradient).max()


@pytest.mark.parametrize("kind", KINDS)
def test_saving_keeps_all(kind, rows, tmp_path, fold):
    ranker = random_ranker(kind)
    ranker.feature_ids = [9, 3, 4, 5, 6]
    ranker.scaling = "query-minmax"
    ranker.save(tmp_path / "model.plk")
    for again in (
        plackett.Ranker.load(tmp_path / "model.plk"),
        pickle.loads(pickle.dumps(ranker)),
        ranker.copy(),
    ):
        assert again.kind == kind and again.hidden == ranker.hidden
        assert again.feature_ids.tolist() == [9, 3, 4, 5, 6]
        assert again.scaling == "query-minmax"
        assert np.array_equal(again.parameters, ranker.parameters)
        assert np.array_equal(again.score(rows), ranker.score(rows))
        again.parameters = again.parameters + 1
        assert not np.array_equal(again.parameters, ranker.parameters)


def test_a_fold_gives_feature_ids_and_scaling(fold):
    ranker = plackett.Ranker(features=fold)
    assert np.array_equal(ranker.feature_ids, fold.feature_ids)
    assert ranker.scaling == "query-minmax" and ranker.feature_count == 42


def test_rank_orders_by_score_and_ties_by_seed():
    ranker = plackett.Ranker(features=1)
    ranker.parameters = [1.0]
    assert ranker.rank([[1], [3], [2]]).tolist() == [1, 2, 0]
    assert ranker.rank([[1], [3], [2]], k=2).tolist() == [1, 2]
    assert ranker.rank([[1], [3], [2]], k=9).tolist() == [1, 2, 0]
    same = np.zeros((20, 1), dtype=np.float32)
    orders = {tuple(ranker.rank(same, seed=seed)) for seed in range(20)}
    assert len(orders) == 20
    assert tuple(ranker.rank(same, seed=3)) == tuple(ranker.rank(same, seed=3))


def test_hidden_layers_may_be_any_sequence():
    for hidden in ([7, 300], (7, 300), np.array([7, 300]), range(7, 308, 293)):
        assert plackett.Ranker("neural", features=2, hidden=hidden).hidden == (7, 300)
    assert plackett.Ranker("neural", features=2, hidden=7).hidden == (7,)


def test_a_linear_ranker_takes_its_own_hidden():
    linear = plackett.Ranker(features=2)
    assert plackett.Ranker(linear.kind, features=2, hidden=linear.hidden).hidden == ()


class Scaled(plackett.Ranker):
    """Scores that the engine does not know."""

    def score(self, features):
        return 2 * super().score(features)


class Stepping(plackett.Ranker):
    def step(self, features, weights, rate):
        super().step(features, weights, rate / 2)


class Held(plackett.Ranker):
    parameters = None


class Noted(plackett.Ranker):
    """Adds a method, and overrides none."""

    def note(self):
        return self.notes


def shadowed():
    made = Noted(features=42)
    made.score = len
    return made


OVERRIDING = {
    "score": lambda: Scaled(features=42),
    "step": lambda: Stepping(features=42),
    "parameters": lambda: Held(features=42),
    "an instance's score": shadowed,
}


@pytest.mark.parametrize("member", OVERRIDING)
def test_a_subclass_that_the_engine_would_not_call_is_refused(member, fold):
    ranker = OVERRIDING[member]()
    said = f"ranker: .* overrides {member.split()[-1]}, .*plackett.document_weights and plackett.evaluate"
    calls = [lambda: plackett.PDGD(ranker), lambda: plackett.evaluate(ranker, fold.test)]
    if member != "step":
        calls.append(lambda: ranker.rank(fold.test[0]))
    for call in calls:
        with pytest.raises(plackett.BadType, match=said):
            call()
    assert plackett.evaluate(Scaled(features=42).score, fold.test)["NDCG@10"] > 0


def test_a_subclass_that_overrides_nothing_is_a_ranker(fold):
    ranker = Noted(features=fold)
    ranker.notes = ["first"]
    plain = plackett.Ranker(features=fold)
    assert plackett.evaluate(ranker, fold.test) == plackett.evaluate(plain, fold.test)
    assert np.array_equal(ranker.rank(fold.test[0]), plain.rank(fold.test[0]))
    assert plackett.PDGD(ranker).ranker.feature_count == 42
    again = ranker.copy()
    assert type(again) is Noted and again.note() is ranker.notes
    again.parameters = np.ones(42)
    assert ranker.parameters.sum() == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_out_of_range_is_not_taken(kind, rows):
    ranker = random_ranker(kind)
    start = ranker.parameters
    weights = np.linspace(-1, 1, len(rows))
    with pytest.raises(plackett.BadValue, match="rate: 1e.300; must be finite as float32"):
        ranker.step(rows, weights, rate=1e300)
    for wrong, rate in ((np.full_like(rows, np.nan), 0.1), (1e30 * rows, 3e38)):
        with pytest.raises(plackett.BadValue, match="features: parameter .* after the step, which was not taken"):
            ranker.step(wrong, weights, rate=rate)
        assert np.array_equal(ranker.parameters, start)
    ranker.step(rows, weights, rate=0.1)
    assert not np.array_equal(ranker.parameters, start)


def test_parameters_are_a_copy():
    ranker = plackett.Ranker(features=2)
    ranker.parameters[0] = 5
    assert ranker.parameters.tolist() == [0, 0]


@pytest.mark.parametrize(
    "make, error, said",
    [
        (lambda: plackett.Ranker("cubic", features=2), ValueError, 'unknown ranker.* "cubic"'),
        (lambda: plackett.Ranker(features=0), ValueError, "features: 0; expected an integer from 1"),
        (lambda: plackett.Ranker(features=-1), ValueError, "features: -1"),
        (lambda: plackett.Ranker(features=1.5), TypeError, "features: 1.5; expected the number of features"),
        (lambda: plackett.Ranker(features="2"), TypeError, "features: '2'"),
        (lambda: plackett.Ranker(features=None), TypeError, "features: None"),
        (lambda: plackett.Ranker("neural", features=2, hidden=[]), ValueError, "hidden layer"),
        (lambda: plackett.Ranker("neural", features=2, hidden=[0]), ValueError, "hidden: 0"),
        (lambda: plackett.Ranker("neural", features=2, hidden="8"), TypeError, "hidden: '8'"),
        (
            lambda: plackett.Ranker("neural", features=2, activation="step"),
            ValueError,
            'activation "step"',
        ),
        (lambda: plackett.Ranker(features=2, seed=-1), ValueError, "seed: -1"),
        (lambda: plackett.Ranker(3, features=2), TypeError, "kind: 3; expected a str"),
        (
            lambda: plackett.Ranker(features=2, hidden=(128, 64)),
            ValueError,
            r'hidden: \(128, 64\); a linear ranker has none; kind="neural" has',
        ),
        (
            lambda: plackett.Ranker("linear", features=2, activation="relu"),
            ValueError,
            "activation: 'relu'; a linear ranker has none; kind=\"neural\" has",
        ),
        (
            lambda: plackett.Ranker("neural", features=65536, hidden=[65536]),
            ValueError,
            "parameters .*GiB",
        ),
    ],
)
def test_wrong_rankers_are_refused(make, error, said):
    with pytest.raises(error, match=said) as caught:
        make()
    assert isinstance(caught.value, plackett.Error)


def test_wrong_parameters_and_weights_are_refused(rows):
    ranker = plackett.Ranker(features=5)
    with pytest.raises(ValueError, match="parameters: 3; the ranker has 5"):
        ranker.parameters = [1, 2, 3]
    with pytest.raises(ValueError, match="parameters: nan at 1"):
        ranker.parameters = [1, np.nan, 3, 4, 5]
    with pytest.raises(ValueError, match="parameters: shape"):
        ranker.parameters = np.zeros((5, 1))
    with pytest.raises(ValueError, match="weights: 3 for 8 documents"):
        ranker.step(rows, [1, 2, 3], 0.1)
    with pytest.raises(ValueError, match="weights: inf at 7"):
        ranker.step(rows, [0] * 7 + [np.inf], 0.1)
    with pytest.raises(ValueError, match="rate: nan"):
        ranker.step(rows, [0] * 8, np.nan)
    with pytest.raises(ValueError, match="feature_ids: 4; the ranker reads 5"):
        ranker.feature_ids = [1, 2, 3, 4]
    for ids, said in (([1, 1, 2, 3, 4], "1 appears twice; ids must differ"), ([0, 1, 2, 3, 4], "0; feature")):
        with pytest.raises(ValueError, match=f"feature_ids: {said}"):
            ranker.feature_ids = ids
        with pytest.raises(ValueError, match=f"keep_feature_ids: {said}"):
            plackett.load("synthetic", keep_feature_ids=ids)
    assert ranker.feature_ids.tolist() == [1, 2, 3, 4, 5]
    assert ranker.parameters.tolist() == [0] * 5


def test_files_that_are_not_models_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        plackett.Ranker.load(tmp_path / "none.plk")
    with pytest.raises(FileNotFoundError, match="can't create: No such file"):
        plackett.Ranker(features=1).save(tmp_path / "none" / "model.plk")
    (tmp_path / "text.plk").write_text("not a model")
    with pytest.raises(ValueError, match="path: .*not a plackett model"):
        plackett.Ranker.load(tmp_path / "text.plk")
    plackett.Ranker(features=1).save(tmp_path / "model.plk")
    whole = (tmp_path / "model.plk").read_bytes()
    (tmp_path / "torn.plk").write_bytes(whole[:-1])
    with pytest.raises(ValueError):
        plackett.Ranker.load(tmp_path / "torn.plk")


def test_sixty_four_features_are_read_to_the_last():
    """Rows of every width: nothing past the end of a row is read, and all of it is."""
    for width in range(1, 70):
        wide = np.full((3, width + 2), np.nan, dtype=np.float32)
        wide[:, :width] = 1
        ranker = plackett.Ranker(features=width)
        ranker.parameters = np.ones(width)
        assert ranker.score(wide[:, :width]).tolist() == [width] * 3


def test_a_subclass_may_copy_by_copy():
    class Mine(plackett.Ranker):
        def __copy__(self):
            return self.copy()

    mine = Mine(features=2)
    mine.parameters = [1, 2]
    mine.note = "kept"
    again = copy.copy(mine)
    assert type(again) is Mine and again.note == "kept"
    assert again.parameters.tolist() == [1, 2]
