"""plackett.off_policy and plackett.learn, over a store that the command wrote."""

import inspect
import json
import os
import random
import subprocess

import numpy as np
import pytest

import plackett

from service import running_service


@pytest.fixture(scope="module")
def shop():
    """A served shop whose visitors like the first feature; its first snapshot ranks by it."""
    with running_service() as service:
        rng = random.Random(1)
        with plackett.Client(service.url) as client:
            client.create_model("shop", ["liked", "other"], k=3, candidates="all", learner="pdgd",
                                scaling="none")
            client.request("PUT", "/models/shop/weights", {"weights": [2, 0]})
            client.freeze("shop")
            client.take_snapshot("shop", "good")
            client.request("PUT", "/models/shop/weights", {"weights": [0, 0]})
            client.freeze("shop")
            for number in range(600):
                items = [{"id": name, "features": [rng.random(), rng.random()]} for name in "abcde"]
                liked = {item["id"]: item["features"][0] for item in items}
                ranking = client.rank("shop", items)
                events = [
                    {"impression": ranking["impression"], "event": "click", "item": item["id"]}
                    for item in ranking["items"]
                    if rng.random() < liked[item["id"]] / item["rank"]
                ]
                events.append({"impression": ranking["impression"], "event": "close"})
                client.feedback("shop", events)
            good = client.snapshots("shop")[-1]["id"]
        db = os.path.join(service.folder, "x.db")
        URLS[db] = service.url
        yield db, good


URLS = {}  # of the services, by their stores


def command(*arguments):
    done = subprocess.run([os.environ["PLACKETT_COMMAND"], *map(str, arguments)],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_is_what_the_command_says_to_the_bit(shop):
    db, good = shop
    told = command("evaluate", "--log", db, "--model", "shop", "--policy", f"snapshot:{good}",
                   "--policy", "current@0", "--json")
    result = plackett.off_policy(db, "shop", [f"snapshot:{good}", "current@0"])
    assert (result.lists, result.kept) == (told["lists"], told["kept"]) == (600, 600)
    assert result.logged == told["logged"]
    assert list(result.logged_interval) == told["logged_interval"]
    assert result.left_out == told["left_out"]
    estimates = [one for policy in told["policies"] for one in policy["estimates"]]
    assert len(estimates) == len(result.estimates) == 6
    for one, other in zip(result.estimates, estimates):
        assert one.estimator == other["estimator"]
        assert one.refused == other.get("refused")
        assert one.value == other.get("value")
        assert one.difference == other.get("difference")
        if one.value is not None:
            assert list(one.bootstrap) == other["bootstrap"]
            assert list(one.difference_interval) == other["difference_interval"]
    ranks = told["policies"][0]["ranks"]
    assert [rank.effective_lists for rank in result.ranks[f"snapshot:{good}"]] == [
        rank["effective_lists"] for rank in ranks
    ]


def test_counts_later_lists_only(shop):
    db, _ = shop
    told = command("evaluate", "--log", db, "--policy", "logged", "--from", "i-401", "--json")
    result = plackett.off_policy(db, policies="logged", from_impression="i-401")
    assert 0 < result.lists == told["lists"] < 600
    assert result.logged == told["logged"]
    assert plackett.off_policy(db, policies="logged", from_impression="0").lists == 600
    with pytest.raises(plackett.BadValue, match="from_impression: x: expected an impression"):
        plackett.off_policy(db, policies="logged", from_impression="x")
    with pytest.raises(plackett.Error, match="no sampled list"):
        plackett.off_policy(db, policies="logged", from_impression="i-90000")


def test_finds_the_better_policy(shop):
    db, good = shop
    result = plackett.off_policy(db, policies=f"snapshot:{good}", estimators="doubly-robust")
    [estimate] = result.estimates
    assert estimate.difference_interval[0] > 0
    [as_logged] = plackett.off_policy(db, policies="logged", estimators=["prefix-ips"]).estimates
    assert as_logged.value == result.logged


def test_is_a_data_frame_with_a_row_per_policy_and_estimator(shop):
    pandas = pytest.importorskip("pandas")
    db, good = shop
    result = plackett.off_policy(db, "shop", [f"snapshot:{good}", "current@0"], threads=1)
    frame = result.to_dataframe()
    assert len(frame) == 6
    assert frame["value"].dtype == float and frame["effective_lists"].dtype == float
    known = frame[frame["refused"].isna()]
    assert len(known) >= 3 and (known["bootstrap_low"] <= known["value"]).all()
    assert (known["value"] <= known["bootstrap_high"]).all()
    assert frame["value"].isna().equals(frame["refused"].notna())
    assert frame.equals(
        plackett.off_policy(db, "shop", [f"snapshot:{good}", "current@0"], threads=2).to_dataframe()
    )
    assert list(result.to_dataframe().columns) == list(
        plackett.OffPolicy("m", "clicks", 0.95, 0, 0, {}, 0.0, (0.0, 0.0), (), {}, ())
        .to_dataframe().columns
    )


def test_takes_model_files_orders_and_options(shop, tmp_path):
    db, good = shop
    ranker = plackett.Ranker("linear", features=2)
    ranker.parameters = np.array([2, 0], dtype=np.float32)
    ranker.save(tmp_path / "new.plk")
    by_file, by_name = (
        plackett.off_policy(db, "shop", policy, metric="dcg", ranks=2, level=0.9)
        for policy in (tmp_path / "new.plk", f"snapshot:{good}")
    )
    assert by_file.metric == "dcg" and by_file.level == 0.9
    assert len(by_file.ranks[str(tmp_path / "new.plk")]) == 2
    assert [one.value for one in by_file.estimates] == [one.value for one in by_name.estimates]
    log = plackett.read_log(db, "shop")
    with open(tmp_path / "orders.jsonl", "w") as file:
        for impression, rows in log.groupby("impression"):
            print(json.dumps({"impression": impression, "items": list(rows["item"])}), file=file)
    shown = plackett.off_policy(db, "shop", f"order:{tmp_path / 'orders.jsonl'}", ranks=1)
    assert "must not know the order that was shown" in shown.estimates[0].refused


def test_learns_what_the_command_learns_to_the_bit(shop, tmp_path):
    db, _ = shop
    told = command("learn", "--log", db, "--model", "shop", "--ranker", "linear", "--save-model",
                   tmp_path / "command.plk", "--json")
    result = plackett.learn(db, "shop", ranker="linear")
    assert isinstance(result, plackett.Learned)
    assert result.lists == told["lists"] and result.deciding_lists == told["deciding_lists"]
    assert [one.value for one in result.stages] == [one["value"] for one in told["stages"]]
    assert sum(stage.chosen for stage in result.stages) == 1
    assert result.measured.estimates[0].value == (
        told["measured"]["policies"][0]["estimates"][0].get("value"))
    result.learner.save(tmp_path / "python.plk")
    assert (tmp_path / "python.plk").read_bytes() == (tmp_path / "command.plk").read_bytes()
    assert result.ranker.kind == "linear" and result.learner.method == "pdgd"
    weights = result.ranker.parameters
    assert weights[0] > abs(weights[1])
    neural = plackett.learn(db, ranker="neural", hidden=4, iterations=3)
    assert neural.ranker.kind == "neural"


def test_says_what_is_wrong(shop, tmp_path):
    db, good = shop
    with pytest.raises(plackett.MissingFile, match="none.db"):
        plackett.off_policy(tmp_path / "none.db", "shop", "logged")
    (tmp_path / "text.db").write_bytes(b"x" * 5000)
    for call, more in ((plackett.off_policy, {"policies": "logged"}), (plackett.learn, {})):
        with pytest.raises(plackett.BadValue, match="text.db"):
            call(tmp_path / "text.db", **more)
        with pytest.raises(plackett.BadType):
            call(5, **more)
    with pytest.raises(plackett.BadValue, match='no model "shoe"'):
        plackett.off_policy(db, "shoe", "logged")
    with pytest.raises(plackett.BadValue, match="policies: none"):
        plackett.off_policy(db, "shop")
    with pytest.raises(plackett.BadType, match="policies"):
        plackett.off_policy(db, "shop", 5)
    with pytest.raises(plackett.BadType, match="policies"):
        plackett.off_policy(db, "shop", [5])
    with pytest.raises(plackett.Error, match="snapshot 99"):
        plackett.off_policy(db, "shop", "snapshot:99")
    with pytest.raises(plackett.Error, match="no.plk"):
        plackett.off_policy(db, "shop", "no.plk")
    with pytest.raises(plackett.BadValue, match="temperature"):
        plackett.off_policy(db, "shop", "current@hot")
    with pytest.raises(plackett.BadValue, match="metric: \"joy\""):
        plackett.off_policy(db, "shop", "logged", metric="joy")
    with pytest.raises(plackett.BadValue, match="estimators"):
        plackett.off_policy(db, "shop", "logged", estimators=["guess"])
    with pytest.raises(plackett.BadValue, match="level"):
        plackett.off_policy(db, "shop", "logged", level=2)
    with pytest.raises(plackett.BadValue, match="method"):
        plackett.learn(db, "shop", method="pdgd")
    wide = plackett.Ranker("linear", features=7)
    wide.save(tmp_path / "wide.plk")
    with pytest.raises(plackett.BadValue, match="7 features"):
        plackett.off_policy(db, "shop", tmp_path / "wide.plk")


def test_the_service_says_the_same_of_its_own_log(shop):
    db, good = shop
    result = plackett.off_policy(db, "shop", [f"snapshot:{good}", "logged"])
    with plackett.Client(URLS[db]) as client:
        told = client.what_if("shop", [f"snapshot:{good}", "logged"])
        assert client.what_if("shop", "logged", lists=100)["lists"] == 100
    assert (told["lists"], told["logged"]["value"]) == (result.lists, result.logged)
    estimates = [one for policy in told["policies"] for one in policy["estimates"]]
    assert [one["value"] for one in estimates] == [one.value for one in result.estimates]
    assert [one["low"] for one in estimates] == [one.bootstrap[0] for one in result.estimates]


def test_has_the_engines_defaults():
    for call, command_name in ((plackett.off_policy, "evaluate"), (plackett.learn, "learn")):
        text = subprocess.run([os.environ["PLACKETT_COMMAND"], command_name, "--help"],
                              capture_output=True, text=True, check=True).stdout
        for name, parameter in inspect.signature(call).parameters.items():
            if name in ("metric", "least_lists", "bootstraps", "held_out", "iterations"):
                assert f"--{name.replace('_', '-')}" in text
                assert str(parameter.default) in text
