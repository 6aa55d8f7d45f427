"""Which lists two nodes drop if the store is to stay below a size."""

import sys
import time

import shop as shops
from shop import expect, feedback, rank, until

KEPT = 1_000_000  # --keep-bytes
HOUR_MS = 3_600_000  # longer than lists take feedback


def count(shop, condition="true"):
    return int(shop.server.value(f"SELECT count(*) FROM impressions WHERE {condition}"))


class KeptBelow:
    """Both nodes drop lists above so many bytes while the block runs."""

    def __init__(self, shop, kept, forbidden=None):
        self.shop = shop
        self.options = ["--keep-bytes", kept]
        self.forbidden = forbidden

    def restart(self, options):
        for node in self.shop.both():
            node.terminate()
            node.options = options
        for node in self.shop.both():
            for one in node.proxies:
                one.forbid(self.forbidden)
            node.start_and_wait()

    def __enter__(self):
        self.restart(self.options)
        return self

    def __exit__(self, *_):
        self.forbidden = None
        self.restart([])


def a_measurement_of_the_items_that_fails_drops_no_list(shop):
    features = [f"f{at}" for at in range(100)]
    model = shop.make("measured", features=features)
    for first in range(0, 4000, 1000):
        expect(200, shop.west, "PUT", f"/models/{model}/items", {
            "items": [{"id": f"i{at}", "features": [at] * 100}
                      for at in range(first, first + 1000)]})
    for _ in range(100):
        rank(shop.west, model, items=["i1", "i2", "i3"])
    shop.make_old(HOUR_MS)
    # Undisturbed, stored items don't count.
    with KeptBelow(shop, KEPT):
        time.sleep(2)
        assert count(shop) == 100, count(shop)
    # Only the measurement of the items asks for this.
    with KeptBelow(shop, KEPT, forbidden=b"WHERE until IS NULL"):
        until(lambda: sum(one.cuts for node in shop.both() for one in node.proxies) >= 4,
              "the measurement fails", 20, 0.1)
        time.sleep(2)
        assert count(shop) == 100, count(shop)
    expect(204, shop.west, "DELETE", f"/models/{model}")


def a_list_that_takes_feedback_is_kept_among_older_ones_with_higher_numbers(shop):
    model = shop.make("open")
    lists = [rank(shop.west, model) for _ in range(300)]
    kept = lists[100]
    number = kept["impression"].removeprefix("i-")
    shop.make_old(HOUR_MS, f"(id & 1099511627775) <> {number}")
    with KeptBelow(shop, 1):
        until(lambda: not count(shop, f"(id & 1099511627775) < {number}"), "old lists go", 20, 0.1)
        time.sleep(1)
        assert count(shop) == 200, f"{count(shop)}: those from the open one on are kept"
        for event in ({"event": "click", "item": kept["items"][0]["id"]}, {"event": "close"}):
            answer = feedback(shop.east, model, {"impression": kept["impression"], **event})
            assert answer["accepted"] == 1, answer
        until(lambda: not count(shop), "all lists go once it is closed", 20, 0.1)
    expect(204, shop.west, "DELETE", f"/models/{model}")


CLAIMS = [
    a_list_that_takes_feedback_is_kept_among_older_ones_with_higher_numbers,
    a_measurement_of_the_items_that_fails_drops_no_list,
]

if __name__ == "__main__":
    sys.exit(shops.check(CLAIMS))
