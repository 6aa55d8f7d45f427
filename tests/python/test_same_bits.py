"""A loop in Python gives the engine's own run: same queries, lists, clicks and parameters."""

import json
import os
import subprocess

import numpy as np
import pytest

import plackett

METHODS = [method["name"] for method in plackett.methods()]
IMPRESSIONS = 300


def python_run(data, *, method, ranker, click_model, seed, run=0, protocol="described", way):
    fold = data.folds[run % len(data.folds)]
    learner = plackett.Learner(
        method, ranker, features=fold, seed=seed, run=run, protocol=protocol
    )
    user = plackett.ClickModel(click_model, grades=data.grade_count, protocol=protocol)
    for number in range(IMPRESSIONS):
        draw = plackett.stream(seed, run, number, "query")
        query = fold.train[draw.below(len(fold.train))]
        if way == "query":
            impression = learner.rank(query)
            clicks = user.click(impression, query)
        elif way == "arrays":
            impression = learner.rank(query.features)
            clicks = user.click(impression, query.labels)
        else:  # copies, and the streams by name
            impression = learner.rank(np.array(query.features, dtype=np.float64))
            rng = plackett.stream(seed, run, number, "clicks")
            clicks = user.click(impression.ranking.tolist(), query.labels.tolist(), rng=rng)
        learner.learn(impression, clicks)
    return learner


@pytest.mark.parametrize("way", ["query", "arrays", "copies"])
@pytest.mark.parametrize("method", METHODS)
def test_parameters_are_those_of_simulate(data, method, way):
    spec = {"click_model": "informational", "seed": 11}
    engine = plackett.simulate(data, method, runs=1, impressions=IMPRESSIONS, **spec)
    mine = python_run(data, method=method, ranker=None, way=way, **spec)
    assert np.array_equal(mine.ranker.parameters, engine.ranker.parameters)
    assert mine.updates == engine.learner.updates > IMPRESSIONS / 5
    assert mine.impressions == engine.learner.impressions == IMPRESSIONS


def test_networks_and_the_published_protocol_too(data):
    spec = {"ranker": "neural", "click_model": "navigational", "seed": 2, "protocol": "published"}
    engine = plackett.simulate(data, "pdgd", runs=1, impressions=IMPRESSIONS, **spec)
    mine = python_run(data, method="pdgd", way="arrays", **spec)
    assert np.array_equal(mine.ranker.parameters, engine.ranker.parameters)


def test_another_seed_gives_other_parameters(data):
    """So that the tests above can fail."""
    spec = {"click_model": "informational"}
    engine = plackett.simulate(data, "pdgd", runs=1, impressions=IMPRESSIONS, seed=11, **spec)
    mine = python_run(data, method="pdgd", ranker=None, way="arrays", seed=12, **spec)
    assert not np.array_equal(mine.ranker.parameters, engine.ranker.parameters)


def test_a_simulated_learner_continues_as_a_longer_simulation(data):
    short = plackett.simulate(data, "pdgd", runs=1, impressions=IMPRESSIONS, seed=3)
    long = plackett.simulate(data, "pdgd", runs=1, impressions=IMPRESSIONS + 50, seed=3)
    fold, user = data.folds[0], plackett.ClickModel("perfect", grades=data.grade_count)
    for number in range(IMPRESSIONS, IMPRESSIONS + 50):
        query = fold.train[plackett.stream(3, 0, number, "query").below(len(fold.train))]
        impression = short.learner.rank(query)
        short.learner.learn(impression, user.click(impression, query))
    assert np.array_equal(short.ranker.parameters, long.ranker.parameters)


def test_other_runs_are_those_of_simulate(data):
    """Run 1, through its offline curve: its last point is the evaluation of what was learned."""
    engine = plackett.simulate(data, "pdgd", runs=2, impressions=IMPRESSIONS, seed=4)
    mine = python_run(
        data, method="pdgd", ranker=None, click_model="perfect", seed=4, run=1, way="query"
    )
    test = data.folds[1].test
    offline = plackett.evaluate(mine, test)["NDCG@10"]
    assert offline == pytest.approx(engine.runs.offline[1, -1], abs=1e-12)
    assert offline != pytest.approx(engine.runs.offline[0, -1], abs=1e-12)


@pytest.mark.skipif(
    not os.access(os.environ.get("PLACKETT_COMMAND", ""), os.X_OK), reason="no command was built"
)
def test_simulate_gives_the_commands_result(data, tmp_path):
    command = os.environ["PLACKETT_COMMAND"]
    said = subprocess.run(
        [command, "simulate", "--method", "pdgd:neural", "--click-model", "navigational"]
        + ["--runs", "3", "--impressions", "400", "--seed", "7", "--json"]
        + ["--save-model", str(tmp_path / "model.plk")],
        check=True,
        capture_output=True,
        text=True,
    )
    theirs = json.loads(said.stdout)
    ours = plackett.simulate(
        data, "pdgd", ranker="neural", click_model="navigational", runs=3, impressions=400, seed=7
    )
    assert ours.offline == (theirs["offline"]["mean"], theirs["offline"]["std"])
    assert ours.online == (theirs["online"]["mean"], theirs["online"]["std"])
    curve = [point["offline_mean"] for point in theirs["curve"]]
    assert ours.curve.offline_mean.tolist() == curve
    saved = plackett.Ranker.load(tmp_path / "model.plk")
    assert np.array_equal(saved.parameters, ours.ranker.parameters)
    assert saved.scaling == ours.ranker.scaling
    assert np.array_equal(saved.feature_ids, ours.ranker.feature_ids)
    ours.learner.save(tmp_path / "ours.plk")
    assert (tmp_path / "ours.plk").read_bytes() == (tmp_path / "model.plk").read_bytes()
