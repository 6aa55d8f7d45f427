"""Numbers of lists that two nodes give don't follow time; what is read in their order."""

import json
import subprocess
import sys
import time

import shop as shops
from shop import ITEMS, ask, change, expect, feedback, rank, until

HOUR_MS = 3_600_000
SHOWN = 5.0  # seconds until a list is in the list of all lists


class Reader:
    """Follows the list of all lists."""

    def __init__(self, shop, model):
        self.shop = shop
        self.model = model
        self.seen = set()
        self.cursor = "start"

    def sees(self, impression):
        while True:
            page = expect(200, self.shop.west, "GET",
                          f"/models/{self.model}/impressions?cursor={self.cursor}&limit=100")
            if not page["impressions"]:
                return impression in self.seen
            self.seen.update(one["impression"] for one in page["impressions"])
            self.cursor = page["cursor"]


def a_list_is_listed_within_seconds_while_the_other_node_shows_few(shop):
    model = shop.make("few")
    lists = Reader(shop, model)
    # So many that its blocks of numbers are large.
    with shops.Visitors(4, lambda _: ask(shop.west, "POST", f"/models/{model}/rank",
                                         {"items": ITEMS})):
        time.sleep(2)
    times = []
    with shops.Visitors(1, lambda _: (rank(shop.west, model), time.sleep(0.3))):
        for _ in range(4):
            shown = rank(shop.east, model)["impression"]
            start = time.monotonic()
            until(lambda one=shown: lists.sees(one), f"{shown} is listed", SHOWN, 0.05)
            times.append(time.monotonic() - start)
    print("  listed after", ", ".join(f"{one:.1f} s" for one in times))


def a_node_that_was_ended_holds_no_numbers_that_it_does_not_give(shop):
    """It may reserve numbers as the new node, and drop them a moment later with the old ones."""
    names = [f"rejoined-{at}" for at in range(40)]
    for name in names:
        expect(201, shop.west, "PUT", f"/models/{name}", shops.MODEL)
    def node():
        return shop.server.value("SELECT max(id) FROM nodes WHERE name = 'west'")
    for _ in range(3):
        before = node()
        shop.server.sql("DELETE FROM nodes WHERE name = 'west'")
        for name in names:
            status, answer = ask(shop.west, "POST", f"/models/{name}/rank", {"items": ITEMS})
            assert status in (200, 503), (status, answer)
            time.sleep(0.01)
        until(lambda one=before: node() not in (None, one), "west is a new node", 5)
        until(lambda: shop.server.value("SELECT count(*) FROM number_blocks") == "0",
              "no number is held", SHOWN, 0.1)
    for name in names:
        change(204, shop.west, "DELETE", f"/models/{name}")


def what_if(shop, model):
    """How many lists count, and how many are open."""
    answer = expect(200, shop.west, "GET", f"/models/{model}/what-if?policy=current")
    return answer["lists"], answer["left_out"]["open"]


def evaluated(shop, model):
    """The same of `plackett evaluate`."""
    done = subprocess.run([shops.nodes.COMMAND, "evaluate", "--log", shop.url(), "--model", model,
                           "--policy", "current", "--json"], capture_output=True, text=True,
                          check=True)
    answer = json.loads(done.stdout)
    return answer["lists"], answer["left_out"]["open"]


def a_list_counts_for_what_if_once_its_own_time_is_up(shop):
    model = shop.make("judged", candidates="all")
    change(200, shop.west, "POST", f"/models/{model}/freeze")
    shown = [rank(shop.both()[at % 2], model) for at in range(600)]
    for one in shown[::3]:
        feedback(shop.west, model, {"impression": one["impression"], "event": "click",
                                    "item": one["items"][0]["id"]})
    # Every other one is old, however they are numbered.
    shop.make_old(HOUR_MS, "(id & 1) = 0")
    old = int(shop.server.value("SELECT count(*) FROM impressions JOIN models ON models.id = "
                                f"impressions.id >> 40 WHERE name = '{model}' AND "
                                "(impressions.id & 1) = 0"))
    assert what_if(shop, model) == (old, 600 - old), (what_if(shop, model), old)
    assert evaluated(shop, model) == (old, 600 - old), (evaluated(shop, model), old)
    newest = expect(200, shop.west, "GET", f"/models/{model}/what-if?policy=current&lists=200")
    assert newest["lists"] == 200, newest["lists"]
    # If none is open, all count.
    for one in shown:
        feedback(shop.east, model, {"impression": one["impression"], "event": "close"})
    assert what_if(shop, model) == (600, 0), what_if(shop, model)


CLAIMS = [
    a_list_counts_for_what_if_once_its_own_time_is_up,
    a_list_is_listed_within_seconds_while_the_other_node_shows_few,
    a_node_that_was_ended_holds_no_numbers_that_it_does_not_give,
]

if __name__ == "__main__":
    sys.exit(shops.check(CLAIMS))
