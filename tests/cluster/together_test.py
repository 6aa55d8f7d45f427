"""What was changed or learned through one node holds on the other. Nothing fails here."""

import os
import sys
import time

import shop as shops
from shop import (ITEMS, ask, change, expect, feedback, learn, model_of, rank, together, until,
                  weights)

MANY_ITEMS = 3000
MODELS = 50


# Items.

def shown(node, model, names, **more):
    """The ids in the order of the model's weights; the status if there is no list."""
    status, answer = ask(node, "POST", f"/models/{model}/rank",
                         {"items": names, "mode": "exploit", "k": len(names), **more})
    return [item["id"] for item in answer["items"]] if status == 200 else status


def by_price(shop, name):
    """A model that puts the dearest item first."""
    shop.make(name)
    change(200, shop.west, "PUT", f"/models/{name}/weights", {"weights": [1, 0]})
    for node in shop.both():
        until(lambda one=node: weights(one, name) == [1, 0], f"the weights on {node.name}")
    return name


def put_items(node, model, prices):
    expect(200, node, "PUT", f"/models/{model}/items",
           {"items": [{"id": name, "features": [price, 0]} for name, price in prices.items()]})


def items_put_replaced_and_deleted_on_one_node_are_ranked_so_on_the_other(shop):
    model = by_price(shop, "items")
    for turn in range(10):
        here = shop.both()[turn % 2]
        there = shop.other(here)
        names = [f"{one}-{turn}" for one in ("tent", "stove", "lamp")]
        tent, stove, lamp = names
        assert shown(there, model, names) == 400
        put_items(here, model, {tent: 1, stove: 2, lamp: 3})
        until(lambda: shown(there, model, names) == [lamp, stove, tent], f"put, {turn}")
        put_items(here, model, {tent: 4})
        until(lambda: shown(there, model, names) == [tent, lamp, stove], f"replaced, {turn}")
        expect(204, here, "DELETE", f"/models/{model}/items/{lamp}")
        until(lambda: shown(there, model, names, missing="skip") == [tent, stove],
              f"deleted, {turn}")
        assert shown(there, model, names) == 400


def many_items_at_once_are_on_the_other_node_within_a_second(shop):
    model = by_price(shop, "catalogue")
    names = [f"item-{at}" for at in range(MANY_ITEMS)]
    probes = names[::MANY_ITEMS // 10] + names[-1:]
    for here, sign in ((shop.west, 1), (shop.east, -1)):
        there = shop.other(here)
        put_items(here, model, {name: sign * at for at, name in enumerate(names)})
        wanted = probes[::-1] if sign > 0 else probes
        until(lambda: shown(there, model, probes) == wanted, f"{MANY_ITEMS} items of {here.name}")
        assert model_of(there, model)["items"] == MANY_ITEMS


def items_that_both_nodes_replace_at_once_are_the_same_on_both(shop):
    model = by_price(shop, "contested")
    names = [f"item-{at}" for at in range(20)]
    for turn in range(10):
        together([lambda node=node, sign=sign: put_items(
            node, model, {name: sign * (at + 1) * (turn + 1) for at, name in enumerate(names)})
                  for node, sign in ((shop.west, 1), (shop.east, -1))])
        def of(node):
            return [expect(200, node, "GET", f"/models/{model}/items/{name}") for name in names]
        until(lambda: of(shop.west) == of(shop.east), f"the same items, turn {turn}")


def feature_of(node, model, name):
    status, item = ask(node, "GET", f"/models/{model}/items/{name}")
    assert status in (200, 404), item
    return item["features"][0] if status == 200 else None


def stored_feature(shop, model, name):
    """As the database has it, in hexadecimal digits; None if it is not there."""
    return shop.server.value(
        "SELECT encode(features, 'hex') FROM items JOIN item_versions USING(version) JOIN models "
        f"ON models.id = items.model WHERE items.id = '{name}' AND name = '{model}'")


def an_item_that_was_replaced_through_one_node_can_be_put_back_through_the_other(shop):
    """The other node does not know yet that it was replaced."""
    model = shop.make("put-back")
    for turn in range(20):
        here, there = shop.both()[turn % 2], shop.both()[1 - turn % 2]
        name = f"item-{turn}"
        put_items(here, model, {name: 1})
        as_put = stored_feature(shop, model, name)
        until(lambda one=name: feature_of(there, model, one) == 1, f"{name} on {there.name}")
        put_items(there, model, {name: 2})
        put_items(here, model, {name: 1})
        assert stored_feature(shop, model, name) == as_put, f"turn {turn}: not put back"
        for node in shop.both():
            until(lambda one=node: feature_of(one, model, name) == 1, f"{name} on {node.name}")


def an_item_that_was_deleted_through_one_node_can_be_put_again_through_the_other(shop):
    model = shop.make("put-again")
    for turn in range(20):
        here, there = shop.both()[turn % 2], shop.both()[1 - turn % 2]
        name = f"item-{turn}"
        put_items(here, model, {name: 1})
        as_put = stored_feature(shop, model, name)
        until(lambda one=name: feature_of(there, model, one) == 1, f"{name} on {there.name}")
        expect(204, there, "DELETE", f"/models/{model}/items/{name}")
        put_items(here, model, {name: 1})
        assert stored_feature(shop, model, name) == as_put, f"turn {turn}: not stored"
    time.sleep(shops.SOON)
    for node in shop.both():
        found = [feature_of(node, model, f"item-{turn}") for turn in range(20)]
        assert found == 20 * [1], f"{node.name}: {found}"


# Versions.

def a_rank_with_min_version_uses_what_the_other_node_has_learned(shop):
    model = shop.make("versions")
    for turn in range(40):
        here = shop.both()[turn % 2]
        version = learn(here, model)
        ranked = rank(shop.other(here), model, min_version=version)
        assert ranked["model_version"] >= version, (version, ranked)


def a_version_that_never_comes_is_refused_after_two_seconds(shop):
    model = shop.make("never")
    version = learn(shop.west, model)
    for node in shop.both():
        start = time.monotonic()
        status, headers, body = shops.nodes.ask(
            node.port, "POST", f"/models/{model}/rank",
            {"items": ITEMS, "min_version": version + 1000})
        seconds = time.monotonic() - start
        assert status == 503 and headers["Retry-After"] is not None, (status, body)
        assert 1.8 < seconds < 3.5, f"{node.name}: {seconds:.1f} s"


def without_min_version_a_list_may_be_older(shop):
    """The planted fault: the check of versions can fail."""
    model = shop.make("older")
    shop.lead(model, shop.west)
    ages = []
    try:
        for proxy in shop.east.proxies:
            proxy.slow_down(0.03)
        for _ in range(5):
            version = learn(shop.west, model)
            ages.append(version - rank(shop.east, model)["model_version"])
            assert rank(shop.east, model, min_version=version)["model_version"] >= version
    finally:
        for proxy in shop.east.proxies:
            proxy.mend()
    assert max(ages) > 0, ages


# Ids of the client's own.

def an_own_id_that_both_nodes_get_at_once_is_given_once(shop):
    model = shop.make("ids")
    for turn in range(40):
        name = f"own-{turn}"
        answers = together([lambda node=node: ask(
            node, "POST", f"/models/{model}/rank", {"items": ITEMS, "id": name})
                            for node in shop.both()])
        assert sorted(status for status, _ in answers) == [200, 409], answers
        given = next(answer for status, answer in answers if status == 200)
        for node in shop.both():
            kept = expect(200, node, "GET", f"/models/{model}/impressions/{name}")
            assert ([item["id"] for item in kept["items"]]
                    == [item["id"] for item in given["items"]]), (kept, given)
    stored = shop.server.value("SELECT count(*) FROM impressions WHERE given LIKE 'own-%'")
    assert stored == "40", stored


def lists_that_are_refused_are_not_counted(shop):
    """Another node gives the id while this one waits for that."""
    model = shop.make("counted")
    rank(shop.west, model, id="given")

    def visit():
        return ask(shop.west, "POST", f"/models/{model}/rank", {"items": ITEMS, "id": "taken"})

    def give():
        until(lambda: shop.server.value("SELECT count(*) FROM pg_stat_activity WHERE "
                                        "wait_event_type = 'Lock' AND query LIKE '%given_ids%'")
              == "1", "west waits for the id", 3)
        other.ask("COMMIT")

    with shop.locked("INSERT INTO given_ids SELECT model, 'taken', impression FROM given_ids "
                     "WHERE given = 'given'") as other:
        (status, answer), _ = together([visit, give])
    assert status == 409, answer
    rank(shop.west, model)
    lists, counted = shop.server.sql(
        "SELECT (SELECT count(*) FROM impressions WHERE id >> 40 = m.id), (SELECT "
        f"sum(impressions) FROM series WHERE model = m.id) FROM models AS m WHERE name = '{model}'"
    )[0]
    assert lists == counted == "2", f"{lists} lists, {counted} in the series"
    assert model_of(shop.west, model)["impressions"] == 2


def an_event_that_both_nodes_get_at_once_is_counted_once(shop):
    model = shop.make("events")
    for turn in range(40):
        ranked = rank(shop.both()[turn % 2], model)
        event = {"impression": ranked["impression"], "event": "click", "event_id": f"e-{turn}",
                 "item": ranked["items"][0]["id"]}
        answers = together([lambda node=node: feedback(node, model, [event])
                            for node in shop.both()])
        statuses = sorted(answer["results"][0]["status"] for answer in answers)
        assert statuses == ["accepted", "duplicate"], statuses


# Changes of a model's state.

def on_both(shop, model, holds, what):
    for node in shop.both():
        until(lambda one=node: holds(one), f"{what} on {node.name}, {model}")


def changes_through_the_node_that_does_not_lead_hold_on_both(shop):
    model = shop.make("changes")

    def through(method, path, body=None, status=200, leads=True):
        """By the node that does not lead; it leads afterwards if what it did needs the lead."""
        node = shop.other(until(lambda: shop.leader(model), f"a leader of {model}", 5))
        answer = change(status, node, method, f"/models/{model}{path}", body)
        assert not leads or shop.leader(model) is node, f"{node.name} does not lead after {path}"
        return answer

    for _ in range(5):
        learn(shop.west, model)
    through("POST", "/freeze")
    on_both(shop, model, lambda node: model_of(node, model)["frozen_because"] == "asked", "frozen")
    for node in shop.both():
        before = weights(node, model)
        answer = shops.click_and_close(node, model, rank(node, model))
        assert answer["accepted"] == 2, answer
        assert weights(node, model) == before
    through("POST", "/resume")
    on_both(shop, model, lambda node: model_of(node, model)["learning"], "resumed")
    snapshot = through("POST", "/snapshots", {"note": "before the sale"}, 201, False)
    kept, file = weights(shop.west, model), shop.settle(model)
    on_both(shop, model, lambda node: any(
        one["id"] == snapshot["id"] and one["note"] == "before the sale"
        for one in expect(200, node, "GET", f"/models/{model}/snapshots")["snapshots"]), "snapshot")
    for node in shop.both():
        version = learn(node, model)
    on_both(shop, model, lambda node: model_of(node, model)["version"] >= version, "learned")
    assert weights(shop.west, model) != kept, "nothing was learned"
    through("POST", "/rollback", {"snapshot": snapshot["id"]})
    on_both(shop, model, lambda node: weights(node, model) == kept, "rolled back")
    through("PUT", "/weights", {"weights": [1.5, -2]})
    on_both(shop, model, lambda node: weights(node, model) == [1.5, -2], "given weights")
    through("POST", "/import", file)
    on_both(shop, model, lambda node: weights(node, model) == kept, "imported")
    for node in shop.both():
        learn(node, model)
    shop.check_replay(model)


def a_change_right_after_a_model_was_made_is_not_refused(shop):
    """The lead may be on its way to another node then."""
    refused = []
    for turn in range(12):
        model = shop.make(f"fresh-{turn}")
        for what in ("freeze", "resume"):
            status, answer = ask(shop.both()[turn % 2], "POST", f"/models/{model}/{what}")
            if status != 200:
                refused.append((turn, what, status, answer))
    assert not refused, refused


def a_replay_differs_if_the_log_lacks_an_entry(shop):
    """The planted fault: the check of replays can fail."""
    model = shop.make("lacking")
    for node in 4 * shop.both():
        learn(node, model)
    shop.settle(model)
    shop.server.sql("DELETE FROM log WHERE seq = (SELECT min(seq) FROM log JOIN models ON "
                    f"model = models.id WHERE name = '{model}' AND kind = 1)")
    try:
        shop.check_replay(model)
    except AssertionError:
        return
    raise AssertionError("a replay without an entry of the log gives the same")


# Models.

def a_model_that_is_made_or_deleted_on_one_node_is_so_on_the_other(shop):
    for turn in range(6):
        here = shop.both()[turn % 2]
        there = shop.other(here)
        count = 2 + turn % 3  # features: the model of before would refuse these items
        items = [{"id": str(at), "features": [at] * count} for at in range(4)]
        expect(201, here, "PUT", "/models/anew", shops.MODEL | {"features": count})
        until(lambda: shops.is_served(there, "anew"), f"made anew, {turn}")
        for node in shop.both():
            found = model_of(node, "anew")
            assert (found["features"], found["items"], found["version"]) == (count, 0, 0), found
        lists = [rank(node, "anew", items=items) for node in shop.both()]
        for node, ranked in zip((there, here), lists):
            answer = shops.click_and_close(node, "anew", ranked)
            assert answer["accepted"] == 2 and "model_version" in answer, answer
        expect(200, there, "PUT", "/models/anew/items", {"items": items})
        expect(204, here, "DELETE", "/models/anew")
        assert not shops.is_served(here, "anew")
        until(lambda: ask(there, "GET", "/models/anew")[0] == 404, f"deleted, {turn}")
        assert ask(there, "POST", "/models/anew/rank", {"items": items})[0] == 404
    for table in ("impressions", "responses", "events"):
        column = "id" if table == "impressions" else "impression"
        until(lambda: shop.server.value(f"SELECT count(*) FROM {table} WHERE {column} >> 40 NOT IN "
                                        "(SELECT id FROM models)") == "0",
              f"no {table} of models that were deleted", 5, 0.1)


def a_model_that_is_deleted_and_made_anew_is_the_new_one_on_the_other_node_at_once(shop):
    """The other node has not heard of either yet."""
    for turn in range(20):
        here, there = shop.both()[turn % 2], shop.both()[1 - turn % 2]
        expect(201, here, "PUT", "/models/again", shops.MODEL)
        rank(there, "again")
        expect(204, here, "DELETE", "/models/again")
        expect(201, here, "PUT", "/models/again", shops.MODEL)
        if turn % 4 < 2:
            put_items(there, "again", {"new": 5})
            assert shown(here, "again", ["new"]) in (["new"], 400)
        ranked = rank(there, "again")
        kept = expect(200, here, "GET", f"/models/again/impressions/{ranked['impression']}")
        assert [one["id"] for one in kept["items"]] == [one["id"] for one in ranked["items"]], kept
        answer = shops.click_and_close(here, "again", ranked)
        assert answer["accepted"] == 2, answer
        counted = shop.server.value("SELECT count(*) FROM items JOIN models ON models.id = model "
                                    "WHERE name = 'again'")
        assert counted == str(int(turn % 4 < 2)), f"{counted} items, turn {turn}"
        expect(204, here, "DELETE", "/models/again")
        until(lambda: ask(there, "POST", "/models/again/rank", {"items": ITEMS})[0] == 404,
              f"deleted, {turn}")


def a_model_that_is_made_anew_is_found_by_a_node_that_has_no_numbers(shop):
    names = [shop.make(f"unnumbered-{at}") for at in range(8)]
    for name in names:
        rank(shop.east, name)
    time.sleep(2.5)  # the nodes give their numbers up
    for name in names:
        expect(204, shop.west, "DELETE", f"/models/{name}")
        expect(201, shop.west, "PUT", f"/models/{name}", shops.MODEL)
        status, answer = ask(shop.east, "POST", f"/models/{name}/rank", {"items": ITEMS})
        assert status == 200, (name, status, answer)
        expect(204, shop.west, "DELETE", f"/models/{name}")


def requests_that_wait_for_the_leader_of_a_model_that_is_deleted_are_answered_at_once(shop):
    for turn in range(8):
        model = shop.make(f"awaited-{turn}")
        shop.lead(model, shop.west)
        ranked = rank(shop.east, model)
        time.sleep(0.05 * (turn % 3))
        start = time.monotonic()
        deleted, frozen, closed = together([
            lambda: ask(shop.west, "DELETE", f"/models/{model}"),
            lambda: ask(shop.east, "POST", f"/models/{model}/freeze"),
            lambda: ask(shop.east, "POST", f"/models/{model}/feedback",
                        {"impression": ranked["impression"], "event": "close"})])
        seconds = time.monotonic() - start
        assert deleted[0] == 204 and frozen[0] in (200, 404) and closed[0] in (200, 404), (
            deleted, frozen, closed)
        assert seconds < 1.5, f"turn {turn}: {seconds:.1f} s"


def a_model_that_is_deleted_right_after_it_was_made_does_not_stay_on_the_other_node(shop):
    """The other node has loaded it, and not read its settings yet."""
    for one in shop.east.proxies:
        one.slow_down(0.01)
    names = [f"short-{at}" for at in range(60)]
    for at, name in enumerate(names):
        expect(201, shop.west, "PUT", f"/models/{name}", shops.MODEL)
        time.sleep(0.01 * (at % 7))
        expect(204, shop.west, "DELETE", f"/models/{name}")
    for one in shop.east.proxies:
        one.mend()
    until(lambda: not any(shops.is_served(shop.east, name) for name in names), "all deleted", 5)


def nothing_of_a_model_is_left_if_it_is_deleted_while_the_other_node_ranks(shop):
    for turn in range(5):
        shop.make("brief")

        def visit(_):
            status, answer = ask(shop.east, "POST", "/models/brief/rank",
                                 {"items": ITEMS, "unit": "bob"})
            assert status in (200, 404, 429, 503), (status, answer)

        with shops.Visitors(3, visit):
            time.sleep(0.3)
            expect(204, shop.west, "DELETE", "/models/brief")
            time.sleep(0.3)
        until(lambda: not shops.is_served(shop.east, "brief"), f"deleted, {turn}")
    until(lambda: shop.server.value("SELECT count(*) FROM impressions WHERE id >> 40 NOT IN "
                                    "(SELECT id FROM models)") == "0",
          "no list of a model that was deleted", 5, 0.1)


def a_node_that_has_not_heard_that_a_model_was_deleted_adds_nothing_to_it(shop):
    """Nodes wait for the table of nodes, and learn of nothing, while they rank."""
    model = shop.make("late")
    shop.lead(model, shop.west)
    identity = shop.server.value(f"SELECT id FROM models WHERE name = '{model}'")

    def rows():
        return [int(shop.server.value(f"SELECT count(*) FROM {table} WHERE {column} = {identity}"))
                for table, column in (("impressions", "id >> 40"), ("queued_log", "model"))]

    lists = [rank(shop.east, model) for _ in range(3)]
    with shop.locked("LOCK TABLE nodes IN ACCESS EXCLUSIVE MODE"):
        lists.append(rank(shop.east, model))
        expect(204, shop.west, "DELETE", f"/models/{model}")
        until(lambda: rows() == [0, 0], "the lists of the model are dropped", 2)
        # As if a commit had been on its way: dropped some seconds later.
        shop.server.sql(f"INSERT INTO impressions(id, shown_at, version, data) VALUES({identity}::"
                        f"bigint << 40, 1, 1, ''); INSERT INTO queued_log(model, kind, argument, "
                        f"at) VALUES({identity}, 1, {identity}::bigint << 40, 1)")
        assert rows() == [1, 1], rows()
        for path, body in (("rank", {"items": ITEMS}),
                           ("feedback", {"impression": lists[-1]["impression"], "event": "close"})):
            status, answer = ask(shop.east, "POST", f"/models/{model}/{path}", body)
            assert status in (404, 503), (path, status, answer)
            assert max(rows()) <= 1, f"{rows()} after {path}"
    until(lambda: not shops.is_served(shop.east, model), "deleted on east", 5)
    until(lambda: rows() == [0, 0], "no rows of the model", 10, 0.1)


def a_model_that_both_nodes_are_asked_to_make_at_once_is_one_model(shop):
    for turn in range(10):
        answers = together([lambda node=node: ask(node, "PUT", f"/models/one-{turn}", shops.MODEL)
                            for node in shop.both()])
        assert sorted(status for status, _ in answers) == [200, 201], answers
        for node in shop.both():
            until(lambda one=node: shops.is_served(one, f"one-{turn}"), f"one-{turn}")
        version = learn(shop.west, f"one-{turn}")
        rank(shop.east, f"one-{turn}", min_version=version)


def many_models_made_at_once_are_served_and_learn_on_both_nodes(shop):
    names = [f"many-{at}" for at in range(MODELS)]
    together([lambda part=part: [expect(201, shop.both()[part % 2], "PUT", f"/models/{name}",
                                        shops.MODEL) for name in names[part::10]]
              for part in range(10)])
    for node in shop.both():
        until(lambda one=node: all(shops.is_served(one, name) for name in names),
              f"{MODELS} models on {node.name}", 3)

    def visit(part):
        for name in names[part::5]:
            for node in shop.both():
                version = learn(node, name)
                rank(shop.other(node), name, min_version=version)

    together([lambda part=part: visit(part) for part in range(5)])
    for name in names:
        expect(204, shop.west, "DELETE", f"/models/{name}")
    until(lambda: not any(shops.is_served(shop.east, name) for name in names), "all deleted", 5)


def a_node_that_starts_does_not_count_all_lists_that_were_closed(shop):
    """Nobody would see the count, and it reads a whole table."""
    learn(shop.east, shop.make("closed"))
    shop.east.terminate()
    size = os.path.getsize(shop.server.log)
    shop.server.sql("ALTER SYSTEM SET log_statement = 'all'")
    shop.server.sql("SELECT pg_reload_conf()")
    try:
        shop.east.start_and_wait()
    finally:
        shop.server.sql("ALTER SYSTEM RESET log_statement")
        shop.server.sql("SELECT pg_reload_conf()")
    with open(shop.server.log, encoding="utf-8", errors="replace") as file:
        file.seek(size)
        asked = file.read()
    assert "FROM series_parts WHERE model" in asked, asked
    assert "count(*) FROM responses" not in asked, asked


# Settings.

def settings(node, model):
    found = model_of(node, model)
    return found["candidates"], found["events"]


def settings_that_were_changed_on_one_node_hold_on_the_other(shop):
    model = shop.make("settings")
    for turn in range(6):
        here = shop.both()[turn % 2]
        there = shop.other(here)
        expect(200, here, "PUT", f"/models/{model}",
               {"features": ["price", "age"], "candidates": "all" if turn % 2 else "none",
                "events": {f"purchase-{turn}": turn + 1}})
        on_both(shop, model, lambda node: settings(node, model) == (
            turn % 2, {f"purchase-{turn}": turn + 1}), f"settings {turn}")
        for node in shop.both():
            ranked = rank(node, model)
            answer = feedback(node, model, {
                "impression": ranked["impression"], "item": ranked["items"][0]["id"],
                "event": f"purchase-{turn}"})
            assert answer["accepted"] == 1, answer
            kept = expect(200, there, "GET", f"/models/{model}/impressions/{ranked['impression']}")
            assert kept["candidates_kept"] == bool(turn % 2), kept


def settings_hold_on_the_other_node_even_if_a_reload_there_failed(shop):
    """A node waits for 3 s, twice, when it reads settings and experiments of a changed model."""
    wanted = (1, {"purchase": 5})
    models = {shop.make("through-west"): shop.west, shop.make("through-east"): shop.east}
    time.sleep(1)
    with shop.locked("LOCK TABLE experiments IN ACCESS EXCLUSIVE MODE"):
        for model, here in models.items():
            expect(200, here, "PUT", f"/models/{model}",
                   {"features": ["price", "age"], "candidates": "all", "events": {"purchase": 5}})
        for node in shop.both():
            until(lambda one=node: waits_for_lock(shop, one), f"{node.name} waits for the lock")
        time.sleep(7.5)
    for model, here in models.items():
        for node in shop.both():
            until(lambda one=node, name=model: settings(one, name) == wanted,
                  f"settings of {here.name} on {node.name} after a reload that failed", 3)
            ranked = rank(node, model)
            answer = feedback(node, model, {
                "impression": ranked["impression"], "item": ranked["items"][0]["id"],
                "event": "purchase"})
            assert answer["accepted"] == 1, answer


def waits_for_lock(shop, node):
    rows = shop.server.sql("SELECT client_port FROM pg_stat_activity WHERE wait_event_type = "
                           "'Lock' AND query LIKE '%FROM experiments%'")
    return any(node.owns(int(port)) for port, in rows)


CLAIMS = [
    # First: it locks a table that writers, too, read for some seconds after a model was deleted.
    settings_hold_on_the_other_node_even_if_a_reload_there_failed,
    items_put_replaced_and_deleted_on_one_node_are_ranked_so_on_the_other,
    many_items_at_once_are_on_the_other_node_within_a_second,
    items_that_both_nodes_replace_at_once_are_the_same_on_both,
    an_item_that_was_replaced_through_one_node_can_be_put_back_through_the_other,
    an_item_that_was_deleted_through_one_node_can_be_put_again_through_the_other,
    a_rank_with_min_version_uses_what_the_other_node_has_learned,
    a_version_that_never_comes_is_refused_after_two_seconds,
    without_min_version_a_list_may_be_older,
    an_own_id_that_both_nodes_get_at_once_is_given_once,
    lists_that_are_refused_are_not_counted,
    an_event_that_both_nodes_get_at_once_is_counted_once,
    changes_through_the_node_that_does_not_lead_hold_on_both,
    a_change_right_after_a_model_was_made_is_not_refused,
    a_replay_differs_if_the_log_lacks_an_entry,
    a_model_that_is_made_or_deleted_on_one_node_is_so_on_the_other,
    a_model_that_is_deleted_and_made_anew_is_the_new_one_on_the_other_node_at_once,
    a_model_that_is_made_anew_is_found_by_a_node_that_has_no_numbers,
    requests_that_wait_for_the_leader_of_a_model_that_is_deleted_are_answered_at_once,
    a_model_that_is_deleted_right_after_it_was_made_does_not_stay_on_the_other_node,
    nothing_of_a_model_is_left_if_it_is_deleted_while_the_other_node_ranks,
    a_node_that_has_not_heard_that_a_model_was_deleted_adds_nothing_to_it,
    a_model_that_both_nodes_are_asked_to_make_at_once_is_one_model,
    many_models_made_at_once_are_served_and_learn_on_both_nodes,
    a_node_that_starts_does_not_count_all_lists_that_were_closed,
    settings_that_were_changed_on_one_node_hold_on_the_other,
]

if __name__ == "__main__":
    sys.exit(shops.check(CLAIMS))
