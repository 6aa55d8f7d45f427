"""A live test over two nodes: the same arms, each list counted once, the same results and end."""

import collections
import itertools
import random
import sys
import time

import shop as shops
from shop import ITEMS, ask, change, expect, feedback, model_of, rank, together, until, weights

ARMS = [{"name": "old", "policy": "given", "share": 0.5},
        {"name": "new", "policy": "model", "share": 0.5}]
RULES = 5.0  # seconds until a rule has been applied, about once a second, and followed


def start(shop, model, **more):
    """Begun on west; both nodes assign units when this returns."""
    change(201, shop.west, "PUT", f"/models/{model}/experiments/e", {"arms": ARMS, **more})
    until(lambda: model_of(shop.east, model)["experiment"] == "e", "the experiment on east")


def results(node, model):
    return expect(200, node, "GET", f"/models/{model}/experiments/e")


def arms_of(node, model):
    """What counts: the rest depends on when it is asked for."""
    return [{key: arm[key] for key in ("name", "impressions", "units", "clicks", "value", "lift",
                                       "stopped_because")}
            for arm in results(node, model)["arms"]]


class Ledger:
    """What clients were told, by arm."""

    def __init__(self):
        self.arms = {}  # by unit
        self.lists = collections.Counter()  # by node and arm
        self.clicks = collections.Counter()  # by arm

    def visit(self, node, model, unit, clicks):
        """`clicks`: whether an arm's list is clicked."""
        ranked = rank(node, model, **({"unit": unit} if unit else {}))
        arm = ranked.get("arm")
        if unit:
            assert self.arms.setdefault(unit, arm) == arm, (unit, arm, self.arms[unit])
        self.lists[node.name, arm] += 1
        if arm is not None and clicks(arm):
            of = {"impression": ranked["impression"]}
            answer = feedback(node, model, [
                of | {"event": "click", "item": ranked["items"][0]["id"]}, of | {"event": "close"}])
            assert answer["accepted"] == 2, answer
            self.clicks[arm] += 1
        return arm

    def count(self, arm):
        return sum(count for (_, name), count in self.lists.items() if name == arm)


def check_counts(shop, model, ledger):
    def counted():
        return [[{one["name"]: (one["impressions"], one["clicks"], one["units"])
                  for one in arms_of(node, model)}, node.name] for node in shop.both()]
    units = collections.Counter(ledger.arms.values())
    wanted = {arm["name"]: (ledger.count(arm["name"]), ledger.clicks[arm["name"]],
                            units[arm["name"]]) for arm in ARMS}
    until(lambda: all(one[0] == wanted for one in counted()), f"{wanted} on both nodes", 3, 0.1)
    assert arms_of(shop.west, model) == arms_of(shop.east, model)


def both_nodes_assign_a_unit_to_the_same_arm_and_count_each_list_once(shop):
    model = shop.make("split")
    start(shop, model)
    ledger = Ledger()
    rng = random.Random(1)
    units = [f"unit-{at}" for at in range(150)]
    for node in (*shop.both(), shop.west):
        for unit in units:
            ledger.visit(node, model, unit,
                         lambda arm: rng.random() < (0.9 if arm == "new" else 0.6))
    split = collections.Counter(ledger.arms.values())
    assert set(split) == {"old", "new"} and min(split.values()) > 40, split  # false alarm: 1e-8
    check_counts(shop, model, ledger)
    found = arms_of(shop.east, model)
    assert found[1]["lift"] is not None, found
    # The sums of each node are the lists that it showed.
    parts = shop.server.sql("SELECT node, arm, impressions FROM experiment_arm_parts AS p JOIN "
                            "experiments ON id = experiment JOIN models AS m ON m.id = model "
                            f"WHERE m.name = '{model}'")
    names = {one["id"]: one["name"] for one in expect(200, shop.west, "GET", "/nodes")["nodes"]}
    by_node = {(names[int(node)], ARMS[int(arm)]["name"]): int(count) for node, arm, count in parts}
    assert by_node == dict(ledger.lists), (by_node, ledger.lists)


def lists_counted_at_the_same_moment_on_both_nodes_are_all_counted(shop):
    model = shop.make("crowd")
    start(shop, model)
    ledgers = [Ledger() for _ in range(8)]

    def work(at):
        rng = random.Random(at)
        for _ in range(60):
            ledgers[at].visit(shop.both()[at % 2], model, f"unit-{rng.randrange(20)}",
                              lambda arm: rng.random() < 0.5)

    together([lambda at=at: work(at) for at in range(len(ledgers))])
    total = Ledger()
    for ledger in ledgers:
        for unit, arm in ledger.arms.items():
            assert total.arms.setdefault(unit, arm) == arm, (unit, total.arms[unit], arm)
        total.lists += ledger.lists
        total.clicks += ledger.clicks
    check_counts(shop, model, total)
    # The planted fault: the check can fail.
    shop.server.sql("UPDATE experiment_arm_parts SET impressions = impressions + 1 WHERE arm = 1")
    try:
        check_counts(shop, model, total)
    except AssertionError:
        return
    raise AssertionError("a list that was counted twice was not noticed")


def a_test_that_has_begun_counts_every_list_from_then_on(shop):
    """The node that begins it hears of the model's own making at about the same time."""
    models = []
    for at in range(60):
        models.append(f"begun-{at}")
        expect(201, shop.west, "PUT", f"/models/{models[-1]}", shops.MODEL)
        change(201, shop.west, "PUT", f"/models/{models[-1]}/experiments/e", {"arms": ARMS})
        for model in models[-10:]:
            assert rank(shop.west, model, unit="somebody").get("arm"), f"{model} lost its test"
    for _ in range(20):
        for model in models:
            assert rank(shop.west, model, unit="somebody").get("arm"), f"{model} lost its test"


def feedback_through_a_node_that_has_not_heard_of_the_test_is_counted_in_it(shop):
    """A list of an arm that is a snapshot has that arm's name, which the node does not know either."""
    for turn in range(12):
        model = shop.make(f"heard-{turn}")
        here = shop.both()[turn % 2]
        there = shop.other(here)
        arms = ARMS
        if turn % 3 == 2:
            taken = expect(201, here, "POST", f"/models/{model}/snapshots", {"note": ""})
            arms = [ARMS[0], {"name": "new", "policy": f"snapshot:{taken['id']}", "share": 0.5}]
        change(201, here, "PUT", f"/models/{model}/experiments/e", {"arms": arms})
        ledger = Ledger()
        lists = [rank(here, model, unit=f"unit-{at}") for at in range(8)]
        for at, ranked in enumerate(lists):
            ledger.arms[f"unit-{at}"] = ranked["arm"]
            ledger.lists[here.name, ranked["arm"]] += 1
            of = {"impression": ranked["impression"]}
            answer = feedback(there, model, [
                of | {"event": "click", "item": ranked["items"][0]["id"]}, of | {"event": "close"}])
            assert answer["accepted"] == 2, (turn, answer)
            ledger.clicks[ranked["arm"]] += 1
        check_counts(shop, model, ledger)


def a_guard_that_stops_an_arm_stops_it_on_both_nodes(shop):
    model = shop.make("guarded")
    start(shop, model, guard={"drop": "5 %"})
    numbers = itertools.count()

    def work(at):
        ledger = Ledger()
        for _ in range(100):
            ledger.visit(shop.both()[at % 2], model, f"unit-{next(numbers)}",
                         lambda arm: arm == "old")

    together([lambda at=at: work(at) for at in range(6)])
    for node in shop.both():
        until(lambda one=node: results(one, model)["state"] == "ended",
              f"the end of the test on {node.name}", RULES, 0.1)
        assert arms_of(node, model)[1]["stopped_because"] is not None
    check_baseline(shop, model)
    assert results(shop.west, model)["ended_because"] == results(shop.east, model)["ended_because"]


def check_baseline(shop, model):
    """No test any more: requests without a mode get their own order, on both."""
    for node in shop.both():
        until(lambda one=node: (model_of(one, model)["experiment"], model_of(one, model)["serves"])
              == (None, "given"), f"the baseline on {node.name}")
        for at in range(10):
            ranked = rank(node, model, unit=f"later-{at}")
            assert "arm" not in ranked, ranked
            assert [one["id"] for one in ranked["items"]] == [one["id"] for one in ITEMS[:3]]


def check_as_before(shop, model):
    """No test any more: what was served before the test is served again, on both."""
    for node in shop.both():
        until(lambda one=node: (model_of(one, model)["experiment"], model_of(one, model)["serves"])
              == (None, "explore"), f"what was before on {node.name}")
        assert "arm" not in rank(node, model, unit="later")


def a_test_that_is_stopped_through_one_node_is_stopped_on_the_other(shop):
    for turn in range(4):
        model = shop.make(f"stopped-{turn}")
        start(shop, model)
        here = shop.both()[turn % 2]
        change(200, here, "POST", f"/models/{model}/experiments/e/stop")
        check_as_before(shop, model)
        for node in shop.both():
            assert results(node, model)["state"] == "ended"


def a_promotion_through_one_node_and_its_undoing_hold_on_the_other(shop):
    for turn in range(2):
        model = shop.make(f"promoted-{turn}")
        here = shop.both()[turn % 2]
        there = shop.other(here)
        change(201, here, "PUT", f"/models/{model}/experiments/e", {"arms": [
            ARMS[0], ARMS[1] | {"mode": "exploit"}]})
        until(lambda: model_of(there, model)["experiment"] == "e", "the experiment")
        ledger = Ledger()
        for at in range(40):
            ledger.visit(shop.both()[at % 2], model, f"unit-{at}", lambda arm: True)
        # Asked of the node that did not start it.
        change(200, there, "POST", f"/models/{model}/experiments/e/promote", {"arm": "new"})
        for node in shop.both():
            until(lambda one=node: (model_of(one, model)["serves"], model_of(one, model)[
                "experiment"]) == ("exploit", None), f"the promoted arm on {node.name}")
            assert results(node, model)["promoted"] == "new"
            assert "arm" not in rank(node, model, unit="unit-1")
        change(200, here, "POST", f"/models/{model}/experiments/e/undo")
        check_as_before(shop, model)
        shop.check_replay(model)


def a_promoted_snapshot_is_served_with_its_parameters_by_both_nodes(shop):
    model = shop.make("snapshot")
    for at in range(4):
        shops.learn(shop.both()[at % 2], model)
    taken = expect(201, shop.east, "POST", f"/models/{model}/snapshots", {"note": ""})
    change(201, shop.west, "PUT", f"/models/{model}/experiments/e", {"arms": [
        {"name": "old", "policy": "model", "share": 0.5},
        {"name": "new", "policy": f"snapshot:{taken['id']}", "share": 0.5}]})
    until(lambda: model_of(shop.east, model)["experiment"] == "e", "the experiment on east")
    ledger = Ledger()
    for at in range(60):
        ledger.visit(shop.both()[at % 2], model, f"unit-{at % 30}", lambda arm: True)
    assert {arm for _, arm in ledger.lists} == {"old", "new"}
    check_counts(shop, model, ledger)
    inner = f"{model}.e.new"
    shop.settle(inner)
    wanted = weights(shop.west, inner)
    change(200, shop.east, "POST", f"/models/{model}/experiments/e/promote", {"arm": "new"})
    for node in shop.both():
        until(lambda one=node: weights(one, model) == wanted, f"its weights on {node.name}")
    shop.check_replay(model)


# Locks.

def deadlocks(shop):
    time.sleep(1.2)  # sessions report once a second
    return int(shop.server.value("SELECT deadlocks FROM pg_stat_database WHERE datname = "
                                 f"'{shops.database.DATABASE}'"))


def many_clients_of_few_units_never_wait_for_each_other(shop):
    model = shop.make("few")
    start(shop, model)
    before = deadlocks(shop)
    clients = [shops.Connections(seconds=30) for _ in range(24)]
    seconds = []
    statuses = collections.Counter()

    def visit(at):
        unit = f"unit-{random.randrange(10)}"
        begun = time.monotonic()
        status, _ = clients[at].ask(random.choice(shop.both()), "POST", f"/models/{model}/rank",
                                    {"items": ITEMS, "unit": unit})
        seconds.append(time.monotonic() - begun)
        statuses[status] += 1

    with shops.Visitors(len(clients), visit):
        time.sleep(5)
    for client in clients:
        client.close()
    found = deadlocks(shop) - before
    longest = max(seconds)
    print(f"  {len(seconds)} ranks, longest {longest * 1000:.0f} ms, {found} deadlocks, {statuses}")
    assert found == 0, f"{found} deadlocks"
    assert longest < 0.5, f"a rank took {longest:.2f} s"
    assert set(statuses) <= {200, 429}, statuses


def never_wait_for_each_other(shop, works, seconds=0.9):
    """Deadlocks are found after a second."""
    before = deadlocks(shop)
    start = time.monotonic()
    answers = together(works)
    longest = time.monotonic() - start
    found = deadlocks(shop) - before
    assert found == 0, f"{found} deadlocks"
    assert longest < seconds, f"{longest:.2f} s"
    return answers


def feedback_about_the_same_lists_in_opposite_orders_never_waits(shop):
    """Lists with ids of the client's own, and lists of arms that are snapshots."""
    model = shop.make("opposite")
    taken = expect(201, shop.west, "POST", f"/models/{model}/snapshots", {"note": ""})
    for turn in range(6):
        if turn == 3:
            change(201, shop.west, "PUT", f"/models/{model}/experiments/e", {"arms": [
                ARMS[0] | {"share": 0.1},
                {"name": "new", "policy": f"snapshot:{taken['id']}", "share": 0.9}]})
            until(lambda: model_of(shop.east, model)["experiment"] == "e", "the experiment on east")
        lists = [rank(shop.west, model, unit=f"unit-{turn}-{at}",
                      **({"id": f"own-{turn}-{at}"} if turn < 3 else {})) for at in range(40)]
        assert turn < 3 or any("@" in one["impression"] for one in lists)
        events = [{"impression": one["impression"], "event": "click", "item":
                   one["items"][0]["id"]} for one in lists]
        answers = never_wait_for_each_other(shop, [
            lambda: feedback(shop.west, model, events),
            lambda: feedback(shop.east, model, events[::-1])])
        assert sum(answer["accepted"] for answer in answers) == 40, answers
        assert sum(answer["duplicate"] for answer in answers) == 40, answers


def ranks_of_many_models_after_a_rest_never_wait(shop):
    """Both nodes have given their numbers up, and reserve some of the same models."""
    models = [shop.make(f"home-{at}") for at in range(12)]
    for turn in range(4):
        time.sleep(2.2)
        orders = [random.Random(at + 2 * turn).sample(models, len(models)) for at in range(2)]
        answers = never_wait_for_each_other(shop, [
            lambda node=node, model=model: ask(node, "POST", f"/models/{model}/rank",
                                               {"items": ITEMS})[0]
            for node, order in zip(shop.both(), orders) for model in order])
        assert set(answers) == {200}, collections.Counter(answers)


def own_ids_that_are_given_in_opposite_orders_are_given_once(shop):
    """They may wait for each other once: what was in a deadlock is done again one by one."""
    model = shop.make("given")
    for turn in range(3):
        names = [f"given-{turn}-{at}" for at in range(20)]
        start = time.monotonic()
        answers = together([
            lambda node=node, name=name: ask(node, "POST", f"/models/{model}/rank",
                                             {"items": ITEMS, "id": name})[0]
            for pair in zip(names, names[::-1]) for node, name in zip(shop.both(), pair)])
        longest = time.monotonic() - start
        assert collections.Counter(answers) == {200: 20, 409: 20}, collections.Counter(answers)
        assert longest < 4, f"{longest:.1f} s"


def a_lock_that_is_held_after_a_deadlock_is_waited_for_once(shop):
    """Not by each request of the group that was in it."""
    model = shop.make("held")
    lists = sorted(rank(shop.west, model)["impression"] for _ in range(3))
    identity = int(shop.server.value(f"SELECT id FROM models WHERE name = '{model}'"))
    lock = [f"SELECT 1 FROM impressions WHERE id = {(identity << 40) + int(one[2:])} FOR UPDATE"
            for one in lists]
    seconds = []

    def ask_of(path, body):
        start = time.monotonic()
        status, _ = ask(shop.west, "POST", f"/models/{model}/{path}", body, seconds=60)
        seconds.append((time.monotonic() - start, path, status))

    def view(*names):
        return [{"impression": one, "event": "view", "item": "1"} for one in names]

    before = deadlocks(shop)
    with shop.locked(lock[1]) as other:
        with shop.locked(lock[2]):
            threads = [shops.in_background(ask_of, "feedback", view(lists[2]))]
            time.sleep(0.3)  # the first one waits, and these come together
            threads += [shops.in_background(ask_of, "feedback", view(*lists[:2]))
                        for _ in range(8)]
            time.sleep(0.3)
        time.sleep(0.3)
        other.send(lock[0])
        time.sleep(2)
        threads += [shops.in_background(ask_of, "rank", {"items": ITEMS}) for _ in range(4)]
        for thread in threads:
            thread.join(60)
    longest = max(seconds)
    print(f"  longest {longest[0]:.1f} s, {collections.Counter(one[1:] for one in seconds)}")
    assert deadlocks(shop) > before, "there was no deadlock"
    assert longest[0] < 9, sorted(seconds)[-3:]


def a_deadlock_is_counted(shop):
    """The planted fault: the count of deadlocks can be above 0."""
    before = deadlocks(shop)
    shop.server.sql("CREATE TABLE planted(id int); INSERT INTO planted VALUES(1), (2)")
    first = "UPDATE planted SET id = id WHERE id = 1"
    second = "UPDATE planted SET id = id WHERE id = 2"
    with shop.locked(first) as one, shop.locked(second) as other:
        one.send(second)
        time.sleep(0.2)
        other.send(first)
        assert [one.wait(), other.wait()].count(False) == 1
    shop.server.sql("DROP TABLE planted")
    assert deadlocks(shop) == before + 1


CLAIMS = [
    both_nodes_assign_a_unit_to_the_same_arm_and_count_each_list_once,
    lists_counted_at_the_same_moment_on_both_nodes_are_all_counted,
    a_test_that_has_begun_counts_every_list_from_then_on,
    feedback_through_a_node_that_has_not_heard_of_the_test_is_counted_in_it,
    a_guard_that_stops_an_arm_stops_it_on_both_nodes,
    a_test_that_is_stopped_through_one_node_is_stopped_on_the_other,
    a_promotion_through_one_node_and_its_undoing_hold_on_the_other,
    a_promoted_snapshot_is_served_with_its_parameters_by_both_nodes,
    many_clients_of_few_units_never_wait_for_each_other,
    feedback_about_the_same_lists_in_opposite_orders_never_waits,
    ranks_of_many_models_after_a_rest_never_wait,
    own_ids_that_are_given_in_opposite_orders_are_given_once,
    a_lock_that_is_held_after_a_deadlock_is_waited_for_once,
    a_deadlock_is_counted,
]

if __name__ == "__main__":
    sys.exit(shops.check(CLAIMS))
