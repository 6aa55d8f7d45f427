"""The signatures that help() and inspect show are the real ones: giving a default that they name must
change nothing, and giving another value must change something."""

import inspect
import pickle
import types

import numpy as np
import pytest

import plackett

LABELS = [2, 0, 1, 0, 3, 1, 0, 2, 1, 0, 4, 1]


def documented(function):
    """{name: default} of a signature's parameters, without those that have none."""
    parameters = inspect.signature(function).parameters.items()
    return {name: one.default for name, one in parameters if one.default is not inspect.Parameter.empty}


def state(learner, fold):
    """What a learner shows and learns, and where it ends."""
    shown = [learner.rank(fold.train[0]) for _ in range(3)]
    return [one.ranking.tolist() for one in shown], learner.ranker.parameters.tolist()


def of_learner(fold, **given):
    return state(plackett.Learner("pdgd", "neural", features=fold, **given), fold), learner_rate(given)


def learner_rate(given):
    """Protocols differ in the learning rate's decay."""
    learner = plackett.PDGD(features=2, **given)
    learner.learn(learner.rank(np.eye(2)), [0, 1])
    return learner.learning_rate


def of_load(fold, path, **given):
    learner = plackett.Learner.load(path, **given)
    shown = [learner.rank(fold.train[0]).ranking.tolist() for _ in range(3)]
    learner.learn(learner.rank(fold.train[0]), [0, 1] + [0] * (learner.shown - 2))
    return shown, learner.learning_rate


def clicks(**given):
    user = plackett.ClickModel("position-based", **given)
    return user.grades, [user.click(range(5), [1, 0, 1, 0, 1], seed=seed).tolist() for seed in range(90)]


def stops(**given):
    user = plackett.ClickModel("navigational", **given)
    return user.grades, [user.click(range(5), [1, 1, 1, 1, 1], seed=seed).tolist() for seed in range(90)]


def params(**given):
    return list(plackett.PDGD(plackett.Ranker(features=3)).get_params(**given))


PUBLISHED = "published"


@pytest.fixture
def calls(fold, tmp_path):
    """name: (function, what is called with its keywords, another value for each default)."""
    model = tmp_path / "model.plk"
    plackett.PDGD(features=fold).save(model)
    flat = plackett.Ranker(features=fold)
    learners = {"shown": 3, "seed": 7, "run": 7, "protocol": PUBLISHED}
    return {
        "Learner": (plackett.Learner, lambda **given: of_learner(fold, **given), learners),
        "Learner.load": (
            plackett.Learner.load,
            lambda **given: of_load(fold, model, **given),
            learners,
        ),
        "Ranker": (
            plackett.Ranker,
            lambda **given: plackett.Ranker("neural", features=3, **given).parameters.tolist(),
            {"seed": 7},
        ),
        "Learner.get_params": (plackett.Learner.get_params, params, {"deep": False}),
        "Ranker.get_params": (plackett.Ranker.get_params, params, {"deep": False}),
        "Ranker.rank": (
            plackett.Ranker.rank,
            lambda **given: flat.rank(fold.train[0], **given).tolist(),
            {"k": 2, "seed": 7},
        ),
        "ClickModel": (plackett.ClickModel, clicks, {"grades": 3, "eta": 0.1}),
        "ClickModel stops": (plackett.ClickModel, stops, {"protocol": PUBLISHED}),
        "sample_ranking": (
            plackett.sample_ranking,
            lambda **given: plackett.sample_ranking(np.zeros(20), seed=1, **given).tolist(),
            {"k": 2},
        ),
        "ndcg": (
            plackett.ndcg,
            lambda **given: plackett.ndcg(range(12), LABELS, **given),
            {"k": 3},
        ),
        "metrics": (
            plackett.metrics,
            lambda **given: plackett.metrics(range(12), LABELS, **given),
            {"max_label": 9},
        ),
        "evaluate": (
            plackett.evaluate,
            lambda **given: plackett.evaluate(flat, fold.test, **given),
            {"no_relevant": "one", "seed": 7},
        ),
        "stream": (
            plackett.stream,
            lambda **given: plackett.stream(1, **given).next_u64(),
            {"run": 7, "impression": 7, "purpose": "query"},
        ),
    }


def test_named_defaults_are_the_real_ones(calls):
    for name, (function, call, others) in calls.items():
        defaults = documented(function)
        assert set(others) <= set(defaults), name
        plain = call()
        for argument, other in others.items():
            assert call(**{argument: defaults[argument]}) == plain, (name, argument)
            assert call(**{argument: other}) != plain, (name, argument)  # so that this can fail


def test_every_named_default_is_looked_at(calls):
    """Except None, which stands for nothing given."""
    looked_at = {}
    for name, (function, _, others) in calls.items():
        looked_at.setdefault(name.split()[0], set()).update(others)
    for full, function in extensions():
        named = {key for key, default in documented(function).items() if default is not None}
        assert named <= looked_at.get(full, set()) | {"name"}, full  # from_arrays(name="arrays")


def extensions():
    """(name, function) of all that is the extension's and public."""
    for name in plackett.__all__:
        value = getattr(plackett, name)
        if isinstance(value, types.BuiltinFunctionType) or value in plackett_types()[:3]:
            yield name, value
        if value in plackett_types():
            for member in vars(value):
                if not member.startswith("_") and callable(getattr(value, member)):
                    yield f"{name}.{member}", getattr(value, member)


def test_everything_has_a_signature(rows):
    names = [name for name, function in extensions() if inspect.signature(function)]
    assert len(names) > 25 and {"ndcg", "Ranker", "Ranker.step", "Dataset.from_arrays"} <= set(names)
    ranker = plackett.Ranker(features=5)
    assert list(inspect.signature(plackett.Ranker.score).parameters) == ["self", "features"]
    assert list(inspect.signature(ranker.score).parameters) == ["features"]
    inspect.signature(plackett.Learner).bind("pdgd", features=3, steps="adagrad")
    assert "self" not in inspect.signature(plackett.Ranker).parameters
    assert "learning_rate" in inspect.signature(plackett.PDGD).parameters


def test_nothing_public_names_the_extension():
    for name in plackett.__all__:
        value = getattr(plackett, name)
        assert "_engine" not in repr(value) and "_engine" not in value.__module__, name
    assert b"_engine" not in pickle.dumps(plackett.Ranker(features=2))
    assert b"_engine" not in pickle.dumps(plackett.PDGD(features=2))


def plackett_types():
    """Those with a constructor first."""
    return (
        plackett.Learner,
        plackett.Ranker,
        plackett.ClickModel,
        plackett.Dataset,
        plackett.Impression,
        plackett.Rng,
    )
