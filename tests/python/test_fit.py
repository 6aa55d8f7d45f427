"""plackett.fit: a model that starts as a present ranking."""

import json
import os
import subprocess

import numpy as np
import pytest

import plackett


def lists(count=60, docs=8, features=4, seed=1):
    """Lists in the order of a weighted sum, best first."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=features)
    rows = rng.random((count, docs, features)).astype(np.float32)
    return [one[np.argsort(-(one @ weights), kind="stable")] for one in rows]


def test_imitates_and_explores_with_the_fitted_scores():
    orders = lists(200)
    result = plackett.fit(orders)
    assert isinstance(result, plackett.Fitted)
    assert result.converged and result.iterations > 1
    assert (result.fitted.lists, result.held_out.lists) == (160, 40)
    assert result.held_out.kendall_tau > 0.9
    assert result.ranker.kind == "linear+neural"
    assert result.ranker.scaling == "query-minmax"
    assert result.learner.method == "steady" and result.learner.updates == 0
    scores = result.ranker.score(orders[0])
    assert np.array_equal(result.learner.explorer.score(orders[0]), scores)


def test_is_what_the_command_writes_to_the_bit(tmp_path):
    orders = lists()
    with open(tmp_path / "orders", "w") as file:
        for one in orders:
            print(json.dumps({"items": one.tolist(), "shown": 3}), file=file)
    told = subprocess.run(
        [os.environ["PLACKETT_COMMAND"], "fit", "--orders", tmp_path / "orders", "--json"]
        + ["--save-model", tmp_path / "command.plk", "--temperature", "0.5", "--hidden", "8"],
        check=True, capture_output=True, text=True,
    )
    told = json.loads(told.stdout)
    result = plackett.fit([(one, 3) for one in orders], temperature=0.5, hidden=8)
    result.learner.save(tmp_path / "python.plk")
    assert (tmp_path / "python.plk").read_bytes() == (tmp_path / "command.plk").read_bytes()
    assert told["held_out"] == vars(result.held_out)
    assert told["fitted"] == vars(result.fitted)


def test_takes_a_three_dimensional_array_queries_and_generators():
    orders = lists()
    by_list = plackett.fit(orders, learner="pdgd")
    by_array = plackett.fit(np.stack(orders).astype(np.float64), learner="pdgd")
    by_generator = plackett.fit(((one, np.int64(8)) for one in orders), learner="pdgd")
    for other in (by_array, by_generator):
        assert np.array_equal(other.ranker.parameters, by_list.ranker.parameters)


def test_leaves_the_arrays_as_they_were():
    orders = lists()
    before = [one.copy() for one in orders]
    plackett.fit(orders, learner="pdgd")
    assert all(np.array_equal(one, other) for one, other in zip(orders, before))


def test_has_the_same_bits_for_any_number_of_threads():
    one = plackett.fit(lists(), threads=1, iterations=20)
    three = plackett.fit(lists(), threads=3, iterations=20)
    assert np.array_equal(one.ranker.parameters, three.ranker.parameters)


def test_without_lists_held_out_there_is_no_such_agreement():
    result = plackett.fit(lists(), learner="pdgd", held_out=0)
    assert result.held_out is None
    assert result.fitted.lists == 60


def test_settings_are_the_learners():
    result = plackett.fit(lists(), learner="pdgd:neural", steps="adagrad", learning_rate=0.3)
    assert result.learner.settings["steps"] == "adagrad"
    assert result.learner.learning_rate == 0.3
    assert result.ranker.kind == "neural"
    with pytest.raises(plackett.BadType, match="sharpnes"):
        plackett.fit(lists(), sharpnes=3)


@pytest.mark.parametrize(
    "orders, message",
    [
        ([], "orders: none"),
        ([np.zeros((1, 2))], "none with two candidates"),
        ([np.zeros(3)], "orders\\[0\\]: shape"),
        ([np.zeros((2, 2)), np.zeros((2, 3))], "orders\\[1\\]: 3 features; expected 2"),
        ([np.zeros((2, 0))], "orders\\[0\\]: 0 features"),
        ([np.zeros((0, 2))], "orders\\[0\\]: no candidate"),
        ([[[1.0, np.nan], [2.0, 3.0]]], "orders\\[0\\]: nan; features must be finite"),
        ([[[1.0, np.inf], [2.0, 3.0]]], "orders\\[0\\]: inf; features must be finite"),
        ([(np.zeros((2, 2)), 3)], "orders\\[0\\]: 3 shown of 2 candidates"),
        ([(np.zeros((2, 2)), 0)], "orders\\[0\\]: 0 shown of 2 candidates"),
        ([(np.zeros((2, 2)), -1)], "orders\\[0\\]: shown"),
    ],
)
def test_refuses_what_is_no_list_of_a_ranking(orders, message):
    with pytest.raises(plackett.BadValue, match=message):
        plackett.fit(orders)


@pytest.mark.parametrize(
    "orders", [None, 3, "orders", [(np.zeros((2, 2)), 1, 2)], [(np.zeros((2, 2)), "two")], [object()]]
)
def test_refuses_other_types(orders):
    with pytest.raises(plackett.Error):
        plackett.fit(orders)


@pytest.mark.parametrize(
    "keywords, message",
    [
        ({"ridge": -1}, "ridge"),
        ({"temperature": 0}, "temperature"),
        ({"held_out": 1}, "held_out"),
        ({"learner": "dbgd"}, "can't start from a fit"),
        ({"learner": "magic"}, "unknown method"),
        ({"ranker": "forest"}, "unknown ranker"),
        ({"scaling": "log"}, "unknown scaling"),
        ({"iterations": 0}, "iterations"),
    ],
)
def test_refuses_wrong_options(keywords, message):
    with pytest.raises(plackett.BadValue, match=message):
        plackett.fit(lists(), **keywords)
