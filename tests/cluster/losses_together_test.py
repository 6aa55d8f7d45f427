"""Database, network or a node fail while two nodes serve: what holds on both then."""

import collections
import contextlib
import itertools
import os
import random
import signal
import sys
import threading
import time

import processes
import shop as shops
from shop import ITEMS, ask, change, expect, learn, model_of, until

MODELS = 50
LONGEST = 12.0  # seconds until every rank is answered, whatever the database does
WELL = 10.0  # seconds until all is well after it is back
CATALOGUE = 100_000


# The list of all lists.

class Lists:
    """Lists that were acknowledged, and a reader that follows the cursor."""

    def __init__(self, shop, model):
        self.shop = shop
        self.model = model
        self.lock = threading.Lock()
        self.acknowledged = set()
        self.seen = collections.Counter()
        self.cursor = "start"

    def visit(self, at):
        node = self.shop.both()[at % 2]
        status, answer = ask(node, "POST", f"/models/{self.model}/rank", {"items": ITEMS})
        if status == 200:
            with self.lock:
                self.acknowledged.add(answer["impression"])
        else:
            assert status in (0, 429, 503), (status, answer)
            time.sleep(0.05)

    def read(self, node):
        """A page; False if there is none."""
        status, answer = ask(node, "GET", f"/models/{self.model}/impressions?cursor={self.cursor}"
                             "&limit=100")
        if status != 200:
            time.sleep(0.05)
            return False
        self.seen.update(one["impression"] for one in answer["impressions"])
        self.cursor = answer["cursor"]
        return bool(answer["impressions"])

    def missing(self):
        return self.acknowledged - set(self.seen)

    def finish(self, seconds):
        """Reads on until all that is stored was seen, through both nodes in turn."""
        nodes = itertools.cycle(self.shop.both())
        stored = int(self.shop.server.value(
            "SELECT count(*) FROM impressions JOIN models AS m ON impressions.id >> 40 = m.id "
            f"WHERE m.name = '{self.model}'"))

        def has_all():
            for _ in range(20):
                self.read(next(nodes))
            return len(self.seen) >= stored

        with contextlib.suppress(AssertionError):
            until(has_all, "all lists", seconds, 0.02)
        missing, twice = self.missing(), [one for one, count in self.seen.items() if count > 1]
        assert not missing and len(self.seen) == stored and not twice, (
            f"{stored} lists stored; the cursor {self.cursor} gave {len(self.seen)}, without "
            f"{len(missing)} that were acknowledged: {sorted(missing)[:5]}; twice: {twice[:5]}; "
            f"blocks: {self.shop.server.sql('SELECT * FROM number_blocks')}")


def the_cursor_gives_every_list_of_both_nodes_once(shop):
    lists = Lists(shop, shop.make("cursor"))
    with shops.Visitors(4, lists.visit):
        end = time.monotonic() + 2
        while time.monotonic() < end:
            lists.read(shop.both()[random.randrange(2)])
    lists.finish(5)
    # The planted fault: a reader that skips a list is noticed.
    lists.acknowledged.add("i-1000000")
    assert lists.missing()


def the_cursor_gives_every_list_once_after_kills_of_database_and_node(shop):
    lists = Lists(shop, shop.make("killed"))
    stopping = threading.Event()

    def read():
        for node in itertools.cycle(shop.both()):
            if stopping.is_set():
                return
            lists.read(node)

    reader = threading.Thread(target=read, daemon=True)
    with shops.Visitors(4, lists.visit):
        reader.start()
        time.sleep(1)
        shop.server.kill()
        shop.server.start()
        for node in shop.both():
            until_learned(shop, node, lists.model, WELL)
        shop.west.kill()
        time.sleep(0.5)
        shop.west.start_and_wait()
        time.sleep(1)
        shop.server.kill()
        shop.east.kill()
        shop.server.start()
        shop.east.start_and_wait()
        until_learned(shop, shop.west, lists.model, WELL)
        time.sleep(0.5)
    stopping.set()
    reader.join(30)
    lists.finish(WELL)


def try_to_learn(node, model):
    """Empty once a list was ranked and learned from; otherwise what came instead."""
    status, ranked = ask(node, "POST", f"/models/{model}/rank", {"items": ITEMS})
    if status != 200:
        return f"rank: {status} {ranked}"
    of = {"impression": ranked["impression"]}
    status, answer = ask(node, "POST", f"/models/{model}/feedback", [
        of | {"event": "click", "item": ranked["items"][0]["id"]}, of | {"event": "close"}])
    return "" if status == 200 and "model_version" in answer else f"feedback: {status} {answer}"


def until_learned(shop, node, model, seconds):
    end = time.monotonic() + seconds
    while answer := try_to_learn(node, model):
        assert time.monotonic() < end, (f"{model} does not learn through {node.name} within "
                                        f"{seconds} s: {answer}; {shop.describe(model)}")
        time.sleep(0.05)


def nodes_go_on_after_a_crash_of_the_database_and_say_why(shop):
    """It does not know them any more, since the table of nodes is empty then."""
    model = shop.make("crash")
    sizes = [os.path.getsize(node.log) for node in shop.both()]
    shop.server.kill()
    shop.server.start()
    for node, size in zip(shop.both(), sizes):
        until_learned(shop, node, model, WELL)

        def said(log=node.log, before=size):
            with open(log, encoding="utf-8") as file:
                file.seek(before)
                return [line for line in file if "it goes on as node" in line]
        lines = until(said, f"{node.name} says why", 2)
        assert len(lines) == 1 and "or the database crashed" in lines[0], lines


# A database that does not answer.

def pause_database(shop):
    """What resumes it."""
    stopped = []
    while True:  # the postmaster first: it starts no other then
        found = [pid for pid in [shop.server.process.pid,
                                 *processes.descendants(shop.server.process.pid)]
                 if pid not in stopped]
        if not found:
            break
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
        stopped += found

    def resume():
        for pid in stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
    return resume


def make_deaf(shop):
    proxies = [one for node in shop.both() for one in node.proxies]
    for one in proxies:
        one.make_deaf()

    def resume():
        for one in proxies:
            one.mend()
    return resume


def all_is_answered(shop, models, stop):
    """Ranks for all models at both nodes come while the database is away, in two waves."""
    answers = []  # seconds, status, node, model

    def send(node, model, pause):
        time.sleep(pause)
        start = time.monotonic()
        status, _ = ask(node, "POST", f"/models/{model}/rank", {"items": ITEMS}, seconds=40)
        answers.append((time.monotonic() - start, status, node.name, model))

    resume = stop(shop)
    try:
        threads = [threading.Thread(target=send, args=(node, model, pause), daemon=True)
                   for pause in (0, 3) for node in shop.both() for model in models]
        for thread in threads:
            thread.start()
        end = time.monotonic() + 3 + LONGEST + 1
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))
    finally:
        resume()
    start = time.monotonic()
    for node in shop.both():
        until(node.is_ready, f"{node.name} is ready", 30, 0.05)
    for node in shop.both():
        for model in models:
            until_learned(shop, node, model, 20)
    well = time.monotonic() - start
    for thread in threads:
        thread.join(45)
    longest = max(answers)
    print(f"  {len(answers)} ranks: {collections.Counter(one[1] for one in answers)}, longest "
          f"{longest[0]:.1f} s; well after {well:.1f} s")
    assert len(answers) == len(threads)
    assert longest[0] < LONGEST, f"the longest: {sorted(answers)[-3:]}"
    assert {status for _, status, _, _ in answers} <= {200, 503}, collections.Counter(
        one[1] for one in answers)
    assert well < WELL, f"well after {well:.1f} s"


def with_many_models(shop):
    names = [f"many-{at}" for at in range(MODELS)]
    there = {one["name"] for one in expect(200, shop.west, "GET", "/models")["models"]}
    for at, name in enumerate(names):
        if name not in there:
            expect(201, shop.both()[at % 2], "PUT", f"/models/{name}", shops.MODEL)
    for node in shop.both():
        for name in names:
            until_learned(shop, node, name, 5)
    return names


def ranks_of_many_models_are_answered_while_the_database_is_stopped(shop):
    all_is_answered(shop, with_many_models(shop), pause_database)


def ranks_of_many_models_are_answered_while_the_network_is_deaf(shop):
    all_is_answered(shop, with_many_models(shop), make_deaf)


# A node that is connected, and whose reads fail.

def a_node_that_cant_read_the_log_is_not_ready_and_leaves_the_models_to_the_other(shop):
    names = [f"unread-{at}" for at in range(12)]
    for name in names:
        shop.make(name)
        learn(shop.west, name)

    def epochs():
        return [int(epoch) for epoch, in shop.server.sql(
            "SELECT epoch FROM leads JOIN models AS m ON m.id = leads.model WHERE name LIKE "
            "'unread-%' ORDER BY m.id")]
    try:
        for one in shop.east.proxies:
            one.forbid(b"SELECT seq, model, kind, argument FROM log")
            one.cut()
        for name in names:
            until_learned(shop, shop.west, name, WELL)
        before = epochs()
        until(lambda: not shop.east.is_ready(), "east is not ready", WELL, 0.1)
        time.sleep(6)
        moved = sum(epochs()) - sum(before)
        assert moved <= 1, f"{moved} times more was a model taken over"
        for name in names:
            learn(shop.west, name)
    finally:
        for one in shop.east.proxies:
            one.mend()
    until(shop.east.is_ready, "east is ready", WELL, 0.1)
    for name in names:
        until_learned(shop, shop.east, name, WELL)
    for name in names:
        change(204, shop.west, "DELETE", f"/models/{name}")


# A node that takes long to start.

def a_third_node_with_many_items_over_a_slow_network_gets_in(shop):
    model = shop.make("catalogue")
    names = [f"item-{at}" for at in range(CATALOGUE)]
    for first in range(0, CATALOGUE, 10_000):
        expect(200, shop.west, "PUT", f"/models/{model}/items", {
            "items": [{"id": name, "features": [first, 1]} for name in
                      names[first:first + 10_000]]})
    until(lambda: model_of(shop.east, model)["items"] == CATALOGUE, "all items on east", 10)
    third = shop.add("third")
    for one in third.proxies:
        one.slow_down(0.01)
    third.start()
    pid = third.process.pid
    start = time.monotonic()
    try:
        until(lambda: not third.runs() or third.is_ready(), "the third node", 40, 0.05)
        ready = time.monotonic() - start
        def all_there():
            found = ask(shop.west, "GET", "/nodes")[1]["nodes"]
            return sorted(one["name"] for one in found) == ["east", "third", "west"]

        until(all_there, "the third node on west", 2)
        # Long enough for the others to end what they have not heard of.
        end = time.monotonic() + 5
        while time.monotonic() < end:
            assert third.runs(), f"the third node ended after {time.monotonic() - start:.1f} s"
            assert all_there(), ask(shop.west, "GET", "/nodes")
            time.sleep(0.2)
        print(f"  ready after {ready:.1f} s")
        assert third.is_ready() and third.process.pid == pid
        assert model_of(third, model)["items"] == CATALOGUE
        ranked = shops.rank(third, model, items=names[::CATALOGUE // 10])
        assert len(ranked["items"]) == shops.MODEL["k"]
        version = learn(shop.west, model)
        shops.rank(third, model, items=names[:5], min_version=version)
        for node in (*shop.both(), third):
            with open(node.log, encoding="utf-8") as file:
                ended = [line for line in file if "(third)" in line and "ended" in line]
            assert not ended, ended
    finally:
        shop.nodes.remove(third)
        if third.runs():
            third.kill()
        change(204, shop.west, "DELETE", f"/models/{model}")


def a_node_that_gets_many_models_over_a_slow_network_is_not_ended(shop):
    """It reads them, and takes over half of them: that takes longer than a node may be silent."""
    slow, other = shop.east, shop.west
    before = [os.path.getsize(node.log) for node in (slow, other)]
    for one in slow.proxies:
        one.slow_down(0.01)
    start = time.monotonic()
    names = [f"more-{at}" for at in range(MODELS)]
    for name in names:
        expect(201, other, "PUT", f"/models/{name}", shops.MODEL)
    until(lambda: all(shops.is_served(slow, name) for name in names), "all models on east", 60, 0.1)
    read = time.monotonic() - start

    def leads():
        found = ask(slow, "GET", "/nodes")[1]["nodes"]
        return {node["name"]: len(set(names) & set(node["leads"])) for node in found}
    until(lambda: leads().get(slow.name, 0) > MODELS / 5 and sum(leads().values()) == MODELS,
          "the leads of both", 60, 0.1)
    print(f"  read after {read:.1f} s, leads after {time.monotonic() - start:.1f} s: {leads()}")
    assert read > 5, "it was not slow"
    for node, size in zip((slow, other), before):
        with open(node.log, encoding="utf-8") as file:
            file.seek(size)
            ended = [line for line in file if "ended" in line]
        assert not ended, ended


def nodes_whose_last_transactions_are_gone_end_and_start_anew(shop):
    """As after a failover to a standby that lacked them."""
    model = shop.make("back")
    learn(shop.west, model)
    learn(shop.east, model)
    shop.server.sql("UPDATE store_nodes SET committed = committed - 1")
    shop.server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
                    "application_name LIKE 'plackett-%'")
    for node in shop.both():
        until(lambda one=node: not one.runs(), f"{node.name} ends", 20, 0.1)
        assert node.process.returncode == 2, node.process.returncode
        with open(node.log, encoding="utf-8") as file:
            assert "restart the service" in file.read()
    for node in shop.both():
        node.start_and_wait()
    for node in shop.both():
        until_learned(shop, node, model, WELL)


CLAIMS = [
    nodes_whose_last_transactions_are_gone_end_and_start_anew,
    nodes_go_on_after_a_crash_of_the_database_and_say_why,
    the_cursor_gives_every_list_of_both_nodes_once,
    a_node_that_cant_read_the_log_is_not_ready_and_leaves_the_models_to_the_other,
    a_third_node_with_many_items_over_a_slow_network_gets_in,
    ranks_of_many_models_are_answered_while_the_database_is_stopped,
    the_cursor_gives_every_list_once_after_kills_of_database_and_node,
    ranks_of_many_models_are_answered_while_the_network_is_deaf,
    a_node_that_gets_many_models_over_a_slow_network_is_not_ended,
]

if __name__ == "__main__":
    sys.exit(shops.check(CLAIMS))
