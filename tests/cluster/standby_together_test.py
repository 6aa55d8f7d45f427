"""Nodes over a primary and its standby: what they acknowledge is on both, and which one they find."""

import os
import sys
import time

import shop as shops
from shop import ITEMS, ask, rank, until

PATIENCE = 6.0  # seconds that the client tries again while the standby is away


def sessions(shop):
    """By the ports of their clients: what each waits for."""
    return {int(port): wait for port, wait in shop.server.sql(
        "SELECT client_port, wait_event FROM pg_stat_activity WHERE client_port > 0")}


def hang_and_die(shop, node, path, body):
    """The node commits it, waits for the standby, and is killed. What sessions it had."""
    def kill():
        until(lambda: "SyncRep" in sessions(shop).values(), "a commit that waits", 5)
        open_ones = {port for port in sessions(shop) if node.owns(port)}
        node.process.kill()
        return open_ones

    answer, open_ones = shops.together([lambda: ask(node, "POST", path, body), kill])
    node.process.wait()
    assert answer[0] == 0, answer
    return open_ones


def acknowledged(node, path, body, seconds):
    """The first answer but 503, as its client asks again and again; None if there is none."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        status, answer = ask(node, "POST", path, body)
        if status not in (0, 503):
            return status, answer
        time.sleep(0.2)
    return None


def lose_the_primary(shop):
    """The standby takes its place, with what it has."""
    pair = shop.pair
    pair.primary.kill()
    pair.standby.start()
    with open(os.path.join(pair.standby.data, "postgresql.auto.conf"), "a",
              encoding="ascii") as file:
        file.write("synchronous_standby_names = ''\n")
    pair.standby.promote()
    pair.primary, pair.standby = pair.standby, pair.primary
    shop.server = pair.primary


def told_only_what_the_standby_has(shop, model, path, body, count):
    """West begins it and dies, its client asks east, and then the primary is lost. What east said,
    and how many there are afterwards."""
    shop.lead(model, shop.east)
    shop.pair.wait_for_standby()
    time.sleep(2)  # nothing else is on its way to the standby
    rank(shop.west, model)  # it has numbers for lists, for a second
    shop.pair.standby.kill()
    open_ones = hang_and_die(shop, shop.west, path, body)
    # East ends the sessions of west, and then sees what they wrote.
    until(lambda: not open_ones & set(sessions(shop)), "the end of west's sessions", 15, 0.1)
    when, told = "while the standby was away", acknowledged(shop.east, path, body, PATIENCE)
    if told is None:
        shop.pair.standby.start()
        shop.pair.wait_for_standby()
        when, told = "once it was back", acknowledged(shop.east, path, body, 20)
        shop.pair.standby.kill()
    print(f"  {when}: {told}")
    assert told is not None, "never answered"
    # The planted fault: what the standby has not confirmed is lost, so the check can fail.
    shop.server.sql("SET synchronous_commit = local; CREATE TABLE planted(id int)")
    lose_the_primary(shop)
    assert shop.server.value("SELECT to_regclass('planted') IS NULL") == "t", (
        "the promoted standby has what it never confirmed")
    found = shop.server.value(count)
    shop.pair.add_standby()
    assert found == "1", f"told {when}, and lost with the primary: {told}"
    return told


def an_event_that_another_node_began_is_a_duplicate_only_if_the_standby_has_it(shop):
    model = shop.make("event")
    ranked = rank(shop.west, model, id="own")  # looked up by its id, not by its number
    status, answer = told_only_what_the_standby_has(
        shop, model, f"/models/{model}/feedback",
        {"impression": ranked["impression"], "event": "click", "event_id": "the-click",
         "item": ranked["items"][0]["id"]},
        "SELECT count(*) FROM events WHERE event_id = 'the-click'")
    assert status == 200 and answer["duplicate"] + answer["accepted"] == 1, answer


def a_list_that_another_node_began_exists_only_if_the_standby_has_it(shop):
    model = shop.make("list")
    status, answer = told_only_what_the_standby_has(
        shop, model, f"/models/{model}/rank", {"items": ITEMS, "id": "the-list"},
        "SELECT count(*) FROM impressions WHERE given = 'the-list'")
    assert status in (200, 409), answer


def a_node_that_connects_again_behind_a_host_that_hangs_is_not_ended(shop):
    """Each connection that tries that host first takes two seconds; three are as long as a node may be
    silent."""
    model = shop.make("hangs")
    if shop.pair.primary is shop.pair.servers[0]:
        shop.pair.fail_over()
        shop.server = shop.pair.primary
    for node in shop.both():
        until(lambda one=node: learns(one, model), f"{node.name} learns after the failover", 15)
    sizes = [os.path.getsize(node.log) for node in shop.both()]
    for node in shop.both():
        node.proxies[0].make_deaf()
    for node in 2 * shop.both():
        node.proxies[1].cut()
        start = time.monotonic()
        until(lambda one=node: learns(one, model), f"{node.name} learns again", 12)
        print(f"  {node.name} learns after {time.monotonic() - start:.1f} s")
        until(node.is_ready, f"{node.name} is ready", 5)
    for node, size in zip(shop.both(), sizes):
        with open(node.log, encoding="utf-8") as file:
            file.seek(size)
            ended = [line for line in file if "ended" in line]
        assert not ended, ended


def learns(node, model):
    status, ranked = ask(node, "POST", f"/models/{model}/rank", {"items": ITEMS})
    if status != 200:
        return False
    of = {"impression": ranked["impression"]}
    status, answer = ask(node, "POST", f"/models/{model}/feedback", [
        of | {"event": "click", "item": ranked["items"][0]["id"]}, of | {"event": "close"}])
    return status == 200 and "model_version" in answer


CLAIMS = [
    an_event_that_another_node_began_is_a_duplicate_only_if_the_standby_has_it,
    a_list_that_another_node_began_exists_only_if_the_standby_has_it,
    a_node_that_connects_again_behind_a_host_that_hangs_is_not_ended,
]

if __name__ == "__main__":
    sys.exit(shops.check(CLAIMS, pair=True))
