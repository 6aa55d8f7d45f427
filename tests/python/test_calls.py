"""Arguments that don't fit are plackett's own errors, for everything public."""

import inspect

import numpy as np
import pytest

import plackett

EXCEPTIONS = {name for name in plackett.__all__ if isinstance(getattr(plackett, name), type)
              and issubclass(getattr(plackett, name), Exception)}  # fmt: skip


def public_calls():
    """(name, callable) of all public functions, classes and their methods; methods of instances with
    one of them."""
    fold = plackett.load("synthetic").folds[0]
    learner = plackett.PDGD(features=fold)
    instances = [learner, learner.ranker, learner.rank(fold.train[0]), plackett.ClickModel("perfect"),
                 plackett.stream(1), plackett.simulate("synthetic", runs=1, impressions=5),
                 plackett.compare("synthetic", "pdgd", "perfect", runs=1, impressions=5),
                 plackett.Client()]  # fmt: skip
    for name in plackett.__all__:
        if name not in EXCEPTIONS and callable(getattr(plackett, name)):
            yield name, getattr(plackett, name)
    for one in [*instances, plackett.Dataset, plackett.Learner, plackett.Ranker]:
        cls = one if inspect.isclass(one) else type(one)
        for member in dir(one):
            if member.startswith("_") or not callable(getattr(one, member)):
                continue
            if inspect.isclass(one) and not inspect.ismethod(getattr(one, member)):
                if not isinstance(inspect.getattr_static(one, member), staticmethod):
                    continue  # its instances'
            yield f"{cls.__name__}.{member}", getattr(one, member)


CALLS = dict(public_calls())


def test_all_are_looked_at():
    assert len(CALLS) > 60
    assert {"simulate", "load_results", "PDGD", "ndcg", "Ranker", "Ranker.score", "Learner.load",
            "Ranker.load", "Dataset.from_arrays", "Rng.below", "Compared.report", "Pair",
            "PDGD.rank", "PDGD.get_params", "Query", "Client.rank", "Client.models"} <= set(CALLS)  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_an_unknown_keyword_is_our_error(name):
    call = CALLS[name]
    if name.endswith("set_params"):
        expected = f"{name}: unknown keyword"
    elif name in ("Query", "Split", "Rng", "Impression"):
        expected = f"{name}: made by plackett"
    else:
        expected = ": "
    with pytest.raises(plackett.BadType, match=expected):
        call(no_such_keyword_=1)


@pytest.mark.parametrize("name", CALLS)
def test_too_many_arguments_are_our_error(name):
    with pytest.raises((plackett.BadType, plackett.MissingFile)):
        CALLS[name](*[object()] * 40)


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda: plackett.simulate(runz=5), 'simulate: unknown keyword "runz"; did you mean runs\\? known'),
        (lambda: plackett.simulate(learning_rate=5), "simulate: data is missing; known are data, method"),
        (
            lambda: plackett.simulate("synthetic", runz=5),
            'simulate: unknown keyword "runz"; did you mean runs\\? known are data, method, .*'
            "progress, learning_rate, pairs",
        ),
        (
            lambda: plackett.compare("synthetic", impresions=5),
            'compare: unknown keyword "impresions"; did you mean impressions\\? known are data, methods',
        ),
        (
            lambda: plackett.PDGD(features=3, learning_rat=1),
            'unknown keyword "learning_rat"; did you mean learning_rate\\?',
        ),
        (lambda: plackett.PDGD(1, 2, 3), "PDGD: 3 arguments without a name; expected at most 1 .ranker."),
        (lambda: plackett.Ranker("linear"), "Ranker: features is missing; known are kind, features, h"),
        (lambda: plackett.Ranker(features=2).score(), "Ranker.score: features is missing"),
        (lambda: plackett.Ranker.score(3, 4), "Ranker.score: called without a Ranker"),
        (lambda: plackett.Ranker.load(), "Ranker.load: path is missing"),
        (lambda: plackett.ndcg([0], labels=[1], at=3), 'ndcg: unknown keyword "at"; known are ranking'),
        (lambda: plackett.ndcg([0], [1], ranking=[0]), "ndcg: ranking is given twice"),
        (lambda: plackett.load(), "load: where is missing"),
        (lambda: plackett.version(3), "version: 1 arguments without a name; expected none"),
        (lambda: plackett.stream(1).below(bond=3), 'Rng.below: unknown keyword "bond"; did you mean bound'),
        (lambda: plackett.Pair(1, 2), "Pair: winner_rank is missing"),
        (lambda: plackett.PDGD(features=3).set_params(shwn=3), 'set_params: unknown keyword "shwn"; did'),
    ],
)
def test_the_message_says_what_is_known(call, said):
    with pytest.raises(plackett.BadType, match=said):
        call()


def test_a_type_error_of_the_users_own_is_left_alone():
    def progress(done):  # lacks an argument
        pass

    with pytest.raises(TypeError) as caught:
        plackett.simulate("synthetic", runs=1, impressions=20, progress=progress)
    assert not isinstance(caught.value, plackett.Error)
    with pytest.raises(TypeError, match="unsupported operand"):
        plackett.evaluate(lambda rows: 1 + "x", plackett.load("synthetic").folds[0].test)


def test_signatures_and_names_stay():
    assert plackett.simulate.__name__ == "simulate" and plackett.simulate.__doc__.startswith("One method")
    assert list(inspect.signature(plackett.load_results).parameters) == ["folders", "baselines", "test"]
    assert "learning_rate" in inspect.signature(plackett.PDGD).parameters
    assert np.array_equal(plackett.Pair(1, 2, 3, 4, 5.0, 6.0), [1, 2, 3, 4, 5, 6])
