"""A node that has much to read of the others, whose writer waits, or whose database went back."""

import sys
import threading
import time

import shop as shops
from shop import ITEMS, ask, learn, model_of, rank, until

MANY_ITEMS = 200_000
SLOW = 0.02  # seconds for each message between a node and the database


def versions_arrive_while_many_items_of_another_model_are_read(shop):
    model, large = shop.make("small"), shop.make("large")
    shop.lead(model, shop.west)
    learn(shop.east, model)
    for one in shop.east.proxies:
        one.slow_down(SLOW)
    # As if they had been put through a third node: two floats each.
    shop.server.sql(
        "SELECT setval('item_version_blocks', nextval('item_version_blocks') + "
        f"{MANY_ITEMS} + 1000); INSERT INTO item_versions(version, model, id, features) SELECT "
        f"currval('item_version_blocks') - {MANY_ITEMS} + at, models.id, 'item-' || at, "
        f"'\\x0000803f00000000' FROM models, generate_series(1, {MANY_ITEMS}) AS at WHERE name = "
        f"'{large}'; INSERT INTO items(model, id, version) SELECT model, id, version FROM "
        "item_versions WHERE id LIKE 'item-%'; UPDATE models SET revision = revision + 1 WHERE "
        f"name = '{large}'")
    until(lambda: model_of(shop.east, large)["items"] > 0, "east reads items", 5)
    for _ in range(3):
        learn(shop.east, model)  # whose answer has a version
    # Items that are not here yet are unknown, and skipped if the request says so.
    start = time.monotonic()
    answer = rank(shop.east, large, items=[*ITEMS, "no-such-item"], missing="skip")
    assert answer["skipped"] == ["no-such-item"] and time.monotonic() - start < 3
    read = model_of(shop.east, large)["items"]
    assert read < MANY_ITEMS, "they were read before anything was learned"
    for one in shop.east.proxies:
        one.mend()
    for node in shop.both():
        until(lambda one=node: model_of(one, large)["items"] == MANY_ITEMS, "all items", 20, 0.1)


def a_version_that_never_comes_is_refused_in_time_while_the_writer_waits(shop):
    model = shop.make("refused")
    version = learn(shop.west, model) + 1000
    time.sleep(2.5)  # the nodes give their numbers up
    for has_numbers in (False, True):
        if has_numbers:
            rank(shop.east, model)
        with shop.locked("LOCK TABLE impressions IN ACCESS EXCLUSIVE MODE"):
            waiting = threading.Thread(target=ask, daemon=True, args=(
                shop.east, "POST", f"/models/{model}/rank", {"items": ITEMS}))
            waiting.start()
            time.sleep(0.3)
            start = time.monotonic()
            status, answer = ask(shop.east, "POST", f"/models/{model}/rank",
                                 {"items": ITEMS, "min_version": version})
            seconds = time.monotonic() - start
            assert 1.8 < seconds < 2.9, f"{seconds:.1f} s"
            assert waiting.is_alive(), "the writer does not wait"
        waiting.join(20)
        assert status == 503 and "version" in answer["error"]["message"], (status, answer)


def both_nodes_end_if_their_database_is_replaced_by_an_older_copy(shop):
    """The one that only followed, too: it serves what was learned from lists that are lost."""
    model = shop.make("replaced")
    shop.lead(model, shop.west)
    before = learn(shop.west, model)
    rank(shop.east, model)

    def marks():
        return shop.server.sql("SELECT node, committed FROM store_nodes ORDER BY node")

    seen = [marks()]
    def is_idle():
        time.sleep(2)
        seen.append(marks())
        return seen[-1] == seen[-2]
    until(is_idle, "nodes that write nothing", 20)
    copy = shop.server.back_up()
    for _ in range(20):
        version = learn(shop.west, model)
    until(lambda: model_of(shop.east, model)["version"] == version > before, "the same on east")
    shop.server.restore(copy)
    for node in shop.both():
        until(lambda one=node: not one.runs(), f"{node.name} ends", 20, 0.1)
        assert node.process.returncode == 2, node.process.returncode
        with open(node.log, encoding="utf-8") as file:
            assert "restart the service" in file.read()
    for node in shop.both():
        node.start_and_wait()
    for node in shop.both():
        until(lambda one=node: ask(one, "GET", f"/models/{model}")[0] == 200, "the model", 5)
        assert model_of(node, model)["version"] < version
        learn(node, model)
    shop.check_replay(model)


CLAIMS = [
    versions_arrive_while_many_items_of_another_model_are_read,
    a_version_that_never_comes_is_refused_in_time_while_the_writer_waits,
    both_nodes_end_if_their_database_is_replaced_by_an_older_copy,
]

if __name__ == "__main__":
    sys.exit(shops.check(CLAIMS))
