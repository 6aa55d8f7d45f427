"""Nodes whose database went back."""

import sys
import time

import shop as shops
from shop import ask, learn, model_of, rank, until


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
    both_nodes_end_if_their_database_is_replaced_by_an_older_copy,
]

if __name__ == "__main__":
    sys.exit(shops.check(CLAIMS))
