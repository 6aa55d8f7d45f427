"""A unit is deleted while both nodes get its ranks and feedback: nothing of it is left."""

import itertools
import os
import sys
import time

import shop as shops
from shop import ask, change, expect, learn, model_of, until

OTHERS = ("alice", "bob")
VISITORS = 6
SECONDS = 3


def secret(model):
    """The unit of a model, and a part of everything that leads to it."""
    return f"secretive-{model}"


class Traffic:
    """Visits of the unit and of others, through both nodes."""

    def __init__(self, shop, model):
        self.shop = shop
        self.model = model
        self.unit = secret(model)
        self.numbers = itertools.count()
        self.kept = []  # lists of others
        self.wrong = []
        self.dropped = 0  # visits of the unit whose list was gone before its feedback

    def visit(self, at):
        node = self.shop.both()[at % 2]
        number = next(self.numbers)
        unit = self.unit if at < VISITORS // 2 else OTHERS[at % 2]
        name = f"{unit}-{number}"
        body = {"unit": unit, "context": {"query": name},
                "items": [{"id": f"{unit}-{item}", "features": [(number * 7 + item) % 5, item]}
                          for item in range(5)]}
        if number % 3:
            body["id"] = name
        status, ranked = ask(node, "POST", f"/models/{self.model}/rank", body)
        if status != 200:
            return self.refused("rank", status, ranked)
        if unit != self.unit:
            self.kept.append(ranked["impression"])
        # Feedback may come to the other node.
        node = self.shop.both()[(at + number) % 2]
        of = {"impression": ranked["impression"]}
        status, answer = ask(node, "POST", f"/models/{self.model}/feedback", [
            of | {"event": "click", "item": ranked["items"][number % 3]["id"],
                  "event_id": f"{name}-click"},
            of | {"event": "close", "event_id": f"{name}-close"}])
        if status != 200:
            return self.refused("feedback", status, answer)
        statuses = {one["status"] for one in answer["results"]}
        if unit != self.unit and statuses != {"accepted"}:
            self.wrong.append((name, answer))
        self.dropped += unit == self.unit and statuses != {"accepted"}
        return None

    def refused(self, what, status, answer):
        if status not in (429, 503):
            self.wrong.append((what, status, answer))
        time.sleep(0.02)


def delete(node, model, how):
    return ask(node, "DELETE", f"/models/{model}/units/{secret(model)}?impressions={how}")


def deleted(shop, model, how):
    """Until it is done: 429 and 503 say to try again."""
    def is_done():
        status, answer = delete(shop.east, model, how)
        assert status in (200, 429, 503), (status, answer)
        return status == 200
    until(is_done, "the last deletion", 15, 0.1)


def dump(shop):
    path = os.path.join(shop.folder, "dump.sql")
    shop.server.dump(path)
    with open(path, encoding="utf-8") as file:
        return file.read()


def traces(shop, model):
    """Lines of a dump that lead to the unit. Bytes are in it in hexadecimal digits."""
    word = secret(model)
    table = None
    found = []
    for line in dump(shop).splitlines():
        if line.startswith("COPY "):
            table = line.split()[1]
        if word in line or word.encode().hex() in line:
            found.append(f"{table}: {line[:200]}")
    return found


def orphans(shop):
    return {table: shop.server.value(f"SELECT count(*) FROM {table} WHERE impression NOT IN "
                                     "(SELECT id FROM impressions)")
            for table in ("responses", "events")}


def delete_under_load(shop, model, how):
    traffic = Traffic(shop, model)
    refusals = []
    with shops.Visitors(VISITORS, traffic.visit) as visitors:
        end = time.monotonic() + SECONDS
        for turn in itertools.count():
            time.sleep(0.1)
            if turn == 3:
                until(lambda: traces(shop, model), "a trace of a unit that is there", 10, 0)
            status, answer = delete(shop.both()[turn % 2], model, how)
            if status != 200:
                refusals.append((status, answer))
            if time.monotonic() > end:
                break
        visitors.stop()
    assert not traffic.wrong, f"{len(traffic.wrong)} of others: {traffic.wrong[:3]}"
    assert all(status in (429, 503) for status, _ in refusals), refusals
    deleted(shop, model, how)
    for node in shop.both():
        found = model_of(node, model)
        assert found["learning"], f"{node.name}: frozen: {found['frozen_because']}"
    for what in ("the last deletion", "the vacuum"):
        left = traces(shop, model)
        assert not left, f"{len(left)} traces after {what}: {left[:3]}"
        expect(200, shop.west, "POST", "/vacuum")
    left = orphans(shop)
    assert set(left.values()) == {"0"}, f"without a list: {left}"
    for name in traffic.kept:
        expect(200, shop.east, "GET", f"/models/{model}/impressions/{name}")
    for node in shop.both():
        before = model_of(node, model)["version"]
        learned = learn(node, model)
        assert learned > before, (learned, before)
    shop.check_replay(model)
    print(f"  {how}: {next(traffic.numbers)} visits, {len(traffic.kept)} lists of others, "
          f"{traffic.dropped} visits lost their list, {len(refusals)} deletions refused")


def a_unit_that_is_deleted_under_load_leaves_its_lists_without_a_name(shop):
    delete_under_load(shop, shop.make("keep"), "keep")


def a_unit_that_is_dropped_under_load_leaves_nothing(shop):
    delete_under_load(shop, shop.make("drop"), "drop")


def an_event_that_comes_after_its_unit_was_deleted_leaves_no_id(shop):
    """As above, in the order that the load gives now and then."""
    model = shop.make("late")
    ranked = shops.rank(shop.west, model, unit=secret(model))
    deleted(shop, model, "keep")
    shops.feedback(shop.east, model, {"impression": ranked["impression"], "event": "close",
                                      "event_id": f"{secret(model)}-close"})
    left = traces(shop, model)
    assert not left, left


def a_unit_leaves_nothing_in_the_statistics_of_columns(shop):
    model = shop.make("statistics")
    for at in range(60):
        shops.rank(shop.both()[at % 2], model, unit=secret(model), context=secret(model),
                   id=f"{secret(model)}-{at}")
    query = ("SELECT tablename, attname FROM pg_stats WHERE most_common_vals::text LIKE "
             f"'%{secret(model)}%' OR histogram_bounds::text LIKE '%{secret(model)}%'")
    shop.server.sql("ANALYZE")
    # Of tables whose columns have statistics.
    shop.server.sql("CREATE TABLE copied AS SELECT unit FROM impressions; ANALYZE copied")
    assert shop.server.sql(query), "the check of statistics can't fail"
    shop.server.sql("DROP TABLE copied")
    assert not shop.server.sql(query), shop.server.sql(query)
    deleted(shop, model, "drop")
    expect(200, shop.east, "POST", "/vacuum")
    assert not shop.server.sql(query), shop.server.sql(query)


def a_unit_of_an_experiment_that_is_deleted_leaves_its_sums_alone(shop):
    model = shop.make("tested")
    change(201, shop.west, "PUT", f"/models/{model}/experiments/e", {
        "arms": [{"name": "old", "policy": "given", "share": 0.5},
                 {"name": "new", "policy": "model", "share": 0.5}]})
    until(lambda: model_of(shop.east, model)["experiment"] == "e", "the experiment on east")
    traffic = Traffic(shop, model)
    with shops.Visitors(VISITORS, traffic.visit) as visitors:
        time.sleep(1)
        for turn in range(6):
            status, answer = delete(shop.both()[turn % 2], model, ("keep", "drop")[turn % 2])
            assert status in (200, 429, 503), (status, answer)
            time.sleep(0.1)
        visitors.stop()
    assert not traffic.wrong, traffic.wrong[:3]
    deleted(shop, model, "drop")
    expect(200, shop.west, "POST", "/vacuum")
    left = traces(shop, model)
    assert not left, f"{len(left)} traces: {left[:3]}"
    units = shop.server.value("SELECT count(*) FROM experiment_units")
    assert units == str(len(OTHERS)), f"{units} units, {len(OTHERS)} are not deleted"
    for node in shop.both():
        assert model_of(node, model)["learning"]
    shop.check_replay(model)
    change(200, shop.east, "POST", f"/models/{model}/experiments/e/stop")


CLAIMS = [
    a_unit_that_is_deleted_under_load_leaves_its_lists_without_a_name,
    a_unit_that_is_dropped_under_load_leaves_nothing,
    an_event_that_comes_after_its_unit_was_deleted_leaves_no_id,
    a_unit_leaves_nothing_in_the_statistics_of_columns,
    a_unit_of_an_experiment_that_is_deleted_leaves_its_sums_alone,
]

if __name__ == "__main__":
    sys.exit(shops.check(CLAIMS))
