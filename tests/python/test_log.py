"""plackett.read_log, over a store that the command wrote."""

import io
import json
import os
import sqlite3
import subprocess

import pytest

import plackett

pandas = pytest.importorskip("pandas")


ODD = 'tab\there, "quoted",\r\nnext\nline \x01\u202e'


@pytest.fixture(scope="module")
def command():
    return os.environ["PLACKETT_COMMAND"]


@pytest.fixture(scope="module")
def store(tmp_path_factory, command):
    """A store with two models, still served."""
    path = tmp_path_factory.mktemp("log") / "shop #1.db"
    server = subprocess.Popen([command, "serve", "--db", path, "--port", "0"],
                              stdout=subprocess.PIPE, text=True)
    try:
        base = server.stdout.readline().split()[-1]
        with plackett.Client(base) as client:
            for model in ("shop", "other"):
                client.create_model(model, ["price", "age"], k=2, candidates="all",
                                    events={"purchase": 10, "wish-list": 0.5})
            for number in range(6):
                items = [{"id": name, "features": [at, number]} for at, name in enumerate("abc")]
                mode = ("explore", "exploit", "given")[number % 3]
                ranking = client.rank("shop", items, k=2, mode=mode, unit=f"user-{number % 2}",
                                      context={"query": "x"})
                first = ranking["items"][0]["id"]
                client.click("shop", ranking["impression"], first)
                for event in ("purchase", "wish-list"):
                    client.feedback("shop", {"impression": ranking["impression"], "event": event,
                                             "item": first})
                client.close_list("shop", ranking["impression"])
            client.start_experiment("other", "old-or-new", [
                {"name": "old", "policy": "given", "share": 0.5},
                {"name": "new", "policy": "model", "share": 0.5}])
            client.rank("other", [{"id": "z", "features": [1, 1]}], unit="user-1")
            client.create_model("odd", ["price"], candidates="none")
            client.rank("odd", [{"id": ODD, "features": [1]}], unit=ODD, context={ODD: [ODD]})
        yield path
    finally:
        server.terminate()
        server.wait(timeout=60)
        server.stdout.close()


def test_has_a_row_per_shown_item(store):
    log = plackett.read_log(store)
    assert len(log) == 14
    assert set(log["model"]) == {"shop", "other", "odd"}
    shop = plackett.read_log(str(store), "shop")
    assert len(shop) == 12
    assert shop["clicked"].dtype == bool and shop["clicked"].sum() == 6
    assert shop["reward"].sum() == 6 * 11.5
    assert set(shop["arm"]) == {"explore", "exploit", "given"}
    assert set(shop["unit"]) == {"user-0", "user-1"}
    assert (shop[shop["arm"] != "explore"]["propensity"] == 1).all()
    explored = shop[shop["arm"] == "explore"].groupby("impression")["propensity"].prod()
    assert (explored < 1).all() and (explored > 0).all()
    assert str(shop["time"].dtype) == "datetime64[ns, UTC]"
    assert json.loads(shop["context"].iloc[0]) == {"query": "x"}
    assert list(shop[shop["arm"] == "given"]["item"].head(2)) == ["a", "b"]


def test_scores_are_floats_though_all_are_whole(store, tmp_path):
    whole = tmp_path / "whole.db"
    database = sqlite3.connect(whole)
    served = sqlite3.connect(store)
    served.backup(database)
    served.close()
    database.execute("""UPDATE impressions SET shown = '[["a", 0, 1], ["b", -2, 1]]'""")
    database.commit()
    database.close()
    assert plackett.read_log(whole)["score"].dtype == float


@pytest.mark.parametrize("model", ["shop", "odd"])
def test_agrees_with_the_exported_rows(store, command, model):
    log = plackett.read_log(store, model)
    if model == "odd":
        assert list(log["item"]) == list(log["unit"]) == [ODD]
    text = subprocess.run([command, "export", "--db", store, "--model", model],
                          capture_output=True, check=True).stdout
    exported = pandas.read_csv(io.BytesIO(text))
    for column in ("impression", "arm", "unit", "item", "rank", "version", "context"):
        assert list(exported[column]) == list(log[column]), column
    for column in ("propensity", "reward", "score", "keep"):
        assert list(exported[column]) == list(log[column]), column
    assert list(exported["clicked"] == 1) == list(log["clicked"])


def test_names_the_experiment_and_its_arm(store, command):
    log = plackett.read_log(store)
    tested = log[log["model"] == "other"]
    assert list(tested["experiment"]) == ["old-or-new"]
    assert set(tested["arm"]) <= {"old", "new"}
    assert log[log["model"] == "shop"]["experiment"].isna().all()
    for form in ("csv", "jsonl"):
        text = subprocess.run([command, "export", "--db", store, "--format", form],
                              capture_output=True, text=True, check=True).stdout
        rows = pandas.read_csv(io.StringIO(text)) if form == "csv" else pandas.DataFrame(
            [json.loads(line) for line in text.splitlines()])
        by_list = lambda table: table.sort_values(["model", "impression", "rank"])
        assert list(by_list(rows)["experiment"].fillna("")) == list(
            by_list(log)["experiment"].fillna(""))
        assert list(by_list(rows)["arm"]) == list(by_list(log)["arm"])


def test_reads_stores_from_before_experiments(store, tmp_path):
    older = tmp_path / "older.db"
    database = sqlite3.connect(older)
    served = sqlite3.connect(store)
    served.backup(database)
    served.close()
    [view] = database.execute(
        "SELECT sql FROM sqlite_master WHERE name = 'shown_items'").fetchone()
    database.execute("DROP VIEW shown_items")
    database.execute(view.replace("experiments.name AS experiment", "NULL AS unused"))
    database.execute("PRAGMA user_version=2")
    database.commit()
    database.close()
    log = plackett.read_log(older, "shop")
    assert len(log) == 12
    assert log["experiment"].isna().all()


def test_exports_candidates_with_features(store, command):
    text = subprocess.run([command, "export", "--db", store, "--model", "shop", "--candidates",
                           "--features", "--format", "jsonl", "--from", "i-3"],
                          capture_output=True, text=True, check=True).stdout
    rows = [json.loads(line) for line in text.splitlines()]
    assert len(rows) == 9
    assert sorted(row["item"] for row in rows[:3]) == ["a", "b", "c"]
    assert [row["rank"] for row in rows[:3]] == [1, 2, None]
    by_item = {row["item"]: row["features"] for row in rows[:3]}
    assert by_item == {"a": [0.0, 0.0], "b": [0.5, 0.0], "c": [1.0, 0.0]}


def test_says_what_is_wrong(tmp_path, store):
    with pytest.raises(plackett.MissingFile, match="no such file"):
        plackett.read_log(tmp_path / "none.db")
    with pytest.raises(plackett.BadValue, match="no model 'shoe'.*its models: odd, other, shop"):
        plackett.read_log(store, "shoe")
    text = tmp_path / "text.db"
    text.write_bytes(b"x" * 5000)
    with pytest.raises(plackett.BadValue, match="not a plackett store"):
        plackett.read_log(text)
    with pytest.raises(plackett.BadValue, match="a folder, not a plackett store"):
        plackett.read_log(tmp_path)
    for version, advice in ((1, "plackett export reads it"), (99, "a newer plackett wrote it")):
        other = tmp_path / f"{version}.db"
        with sqlite3.connect(other) as database:
            database.execute("PRAGMA application_id=1347177299")
            database.execute(f"PRAGMA user_version={version}")
            database.execute("CREATE TABLE x(y)")
        database.close()
        with pytest.raises(plackett.BadValue, match=advice):
            plackett.read_log(other)
    with pytest.raises(plackett.BadType):
        plackett.read_log(5)
