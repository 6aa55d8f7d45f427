"""Three nodes over a primary and a synchronous standby, with clients, and what must hold."""

import json
import os
import shutil
import statistics
import subprocess
import threading
import time

import database
import nodes
import processes
import proxy
import traffic


class Cluster:
    def __init__(self, folder, clients=8, pause=0.01):
        self.folder = folder
        self.pair = database.Pair(folder)
        self.loop = proxy.Loop()
        self.nodes = [nodes.Node(name, folder, self.loop, self.pair.servers)
                      for name in ("north", "east", "west")]
        self.ledger = traffic.Ledger()
        self.take_overs = []  # seconds from a kill to the next version
        self.stops = []  # seconds from a clean stop to another leader
        self.spreads = []  # seconds until a version is on all nodes
        for node in self.nodes:
            node.start_and_wait()
        for model in traffic.MODELS:
            status, _, body = nodes.ask(
                self.nodes[0].port, "PUT", f"/models/{model}",
                {"features": ["price", "age"], "ranker": "linear", "k": 4, "candidates": "none",
                 "open_seconds": traffic.OPEN_SECONDS, "seed": 7})
            assert status in (200, 201), body
        self.wait_for_models()
        self.clients = [traffic.Client(f"c{at}", self.nodes, self.ledger, pause)
                        for at in range(clients)]
        for client in self.clients:
            client.start()

    def wait_for_models(self):
        def all_there():
            return all(nodes.ask(node.port, "GET", f"/models/{model}")[0] == 200
                       for node in self.nodes for model in traffic.MODELS)
        processes.wait_until(all_there, 20, "the models on all nodes")

    # Who leads.

    def lead(self, model):
        """The node that leads the model, or None, and how often that has changed."""
        rows = self.pair.primary.sql(
            "SELECT coalesce(a.client_port, 0), l.epoch FROM models AS m JOIN leads AS l ON "
            "l.model = m.id LEFT JOIN pg_locks AS k ON k.locktype = 'advisory' AND k.objsubid = 2 "
            "AND k.granted AND k.objid::bigint = m.id LEFT JOIN pg_stat_activity AS a USING(pid) "
            f"WHERE m.name = '{model}'")
        if not rows:
            return None, 0
        owner = [node for node in self.nodes if node.owns(int(rows[0][0]))]
        return owner[0] if owner else None, int(rows[0][1])

    def leader(self, model):
        return processes.wait_until(lambda: self.lead(model)[0], 20, f"a leader of {model}", 0.1)

    def time_to_learn(self, model, epoch, start, others):
        """Seconds from `start` until one of the others leads and has learned something."""
        processes.wait_until(lambda: self.lead(model)[1] > epoch, 30, f"the take-over of {model}")
        before = max(node.version(model) for node in others)
        processes.wait_until(lambda: max(node.version(model) for node in others) > before, 30,
                             f"the next version of {model}")
        return time.monotonic() - start

    # Afterwards.

    def wait_until_well(self, seconds=60):
        """All nodes are ready, and every model learns, on every node."""
        for node in self.nodes:
            node.start_and_wait(seconds)
        for model in traffic.MODELS:
            before = self.highest(model, seconds)
            for node in self.nodes:
                try:
                    processes.wait_until(lambda one=node: self.version(one, model) > before,
                                         seconds, f"a version of {model} above {before} on "
                                         f"{node.name}")
                except AssertionError:
                    self.describe()
                    raise

    def describe(self):
        """Prints what tells why nobody learns."""
        ledger = self.ledger
        print(f"refused {dict(ledger.refused)}, no answer {dict(ledger.unknown)}, "
              f"wrong {ledger.wrong[:3]}, clients "
              f"{[(one.label, one.is_alive(), one.count) for one in self.clients]}")
        for node in self.nodes:
            for path in ("/ready", "/nodes", *(f"/models/{model}" for model in traffic.MODELS)):
                try:
                    print(f"{node.name} {path}: {nodes.ask(node.port, 'GET', path)}")
                except OSError as error:
                    print(f"{node.name} {path}: {error!r}")
        for query in ("SELECT * FROM leads", "SELECT * FROM nodes",
                      "SELECT pid, objid, granted FROM pg_locks WHERE locktype = 'advisory'",
                      "SELECT model, count(*), max(seq) FROM log GROUP BY model",
                      "SELECT model, count(*) FROM queued_log GROUP BY model",
                      "SELECT model, log, version FROM published",
                      "SELECT pid, state, wait_event, left(query, 80) FROM pg_stat_activity"):
            print(f"{query}: {self.pair.primary.sql(query)}")
        for node in self.nodes:
            threads = subprocess.run(["gdb", "-p", str(node.process.pid), "-batch", "-ex",
                                      "thread apply all bt 12"], capture_output=True, text=True,
                                     check=False).stdout if shutil.which("gdb") else "no gdb"
            print(f"{node.name}: {threads}", flush=True)

    @staticmethod
    def version(node, model):
        try:
            return node.version(model)
        except (OSError, AssertionError):
            return -1

    def highest(self, model, seconds):
        return processes.wait_until(
            lambda: max(self.version(node, model) for node in self.nodes) + 1, seconds,
            f"a version of {model}") - 1

    def measure_spread(self, model):
        """How long the others take to show what the leader has just learned."""
        leader = self.lead(model)[0]
        if leader is None or not leader.runs():
            return
        try:
            _, _, body = nodes.ask(leader.port, "POST", f"/models/{model}/rank", {
                "items": [{"id": str(at), "features": [at, 1]} for at in range(4)]})
            impression = json.loads(body)["impression"]
            status, _, body = nodes.ask(leader.port, "POST", f"/models/{model}/feedback", [
                {"impression": impression, "event": "click", "item": "1"},
                {"impression": impression, "event": "close"}])
            version = json.loads(body).get("model_version") if status == 200 else None
        except (OSError, KeyError):
            return
        if version is None:
            return
        start = time.monotonic()
        for node in self.nodes:
            while self.version(node, model) < version:
                if time.monotonic() - start > 10:
                    break
        self.spreads.append(time.monotonic() - start)

    def stop_clients(self):
        for client in self.clients:
            client.stopping.set()
        for client in self.clients:
            client.join(90)
            assert not client.is_alive(), "a client still waits for an answer"
            if client.failure:
                raise client.failure

    def settle(self):
        """All lists are closed, by their users or by time, and all nodes show the same."""
        def is_settled():
            if self.pair.primary.value("SELECT (SELECT count(*) FROM queued_log) + "
                                       "(SELECT count(*) FROM responses WHERE closed = 0)") != "0":
                return False
            return all(len({self.version(node, model) for node in self.nodes}) == 1
                       for model in traffic.MODELS)
        processes.wait_until(is_settled, traffic.OPEN_SECONDS + 30,
                             "nothing open or queued, and the same version on all nodes", 0.2)
        versions = {model: self.nodes[0].version(model) for model in traffic.MODELS}
        exported = {model: [node.get(f"/models/{model}/export") for node in self.nodes]
                    for model in traffic.MODELS}
        return exported, versions

    # What must hold.

    def faults_of_store(self):
        """Contradictions between the ledger and the store."""
        primary = self.pair.primary
        wrong = []
        ids = {name: int(number) for name, number in primary.sql("SELECT name, id FROM models")}
        lists = {(int(number) >> 40, name) for number, name in primary.sql(
            "SELECT id, coalesce(given, 'i-' || (id & 1099511627775)) FROM impressions")}
        lost = [one for one in self.ledger.ranks if (ids[one[0]], one[1]) not in lists]
        if lost:
            wrong.append(f"{len(lost)} acknowledged lists are lost: {lost[:5]}")
        stored = {}
        for model, event, count in primary.sql(
                "SELECT impression >> 40, event_id, count(*) FROM events "
                "WHERE event_id IS NOT NULL GROUP BY 1, 2"):
            stored[int(model), event] = int(count)
        doubled = [one for one, count in stored.items() if count > 1]
        if doubled:
            wrong.append(f"{len(doubled)} events are there twice: {doubled[:5]}")
        lost = [one for one in self.ledger.acknowledged() if (ids[one[0]], one[1]) not in stored]
        if lost:
            wrong.append(f"{len(lost)} acknowledged events are lost: "
                         f"{[(one, self.ledger.events[one]) for one in lost[:5]]}")
        late = [one for one, history in self.ledger.events.items()
                if history[-1] == "late" and (ids[one[0]], one[1]) in stored]
        if late:
            wrong.append(f"{len(late)} events that were called late are there: {late[:5]}")
        for what, query in {
            "lists are in the log twice": "SELECT argument FROM log WHERE kind IN (1, 2) GROUP BY "
                                          "argument HAVING count(*) > 1",
            "closed lists are not in the log": "SELECT impression FROM responses WHERE closed <> 0 "
                                               "AND impression NOT IN (SELECT argument FROM log "
                                               "WHERE kind IN (1, 2))",
            "logged lists are not closed": "SELECT argument FROM log WHERE kind IN (1, 2) AND "
                                           "argument NOT IN (SELECT impression FROM responses "
                                           "WHERE closed <> 0)",
            "clicks differ from what lists hold":
                "SELECT r.impression FROM responses AS r LEFT JOIN events AS e ON e.impression = "
                "r.impression AND e.kind = 0 GROUP BY r.impression, r.clicked HAVING count(e.id) "
                "<> length(replace(encode(r.clicked, 'hex'), '00', '')) / 2",
            "closings are queued": "SELECT argument FROM queued_log",
        }.items():
            rows = primary.sql(query)
            if rows:
                wrong.append(f"{len(rows)} {what}: {rows[:5]}")
        return wrong

    def faults_of_models(self, exported):
        """Nodes and the replay of the store must give the same bytes."""
        wrong = []
        url = f"postgresql://plackett@127.0.0.1:{self.pair.primary.port}/{database.DATABASE}"
        for model, files in exported.items():
            if len(set(files)) != 1:
                wrong.append(f"{model}: the nodes export {len(set(files))} different models")
            path = os.path.join(self.folder, f"{model}.replayed")
            done = subprocess.run(
                [nodes.COMMAND, "replay", "--db", url, "--model", model, "--save-model", path],
                capture_output=True, text=True, check=False)
            if done.returncode != 0:
                wrong.append(f"replay of {model}: {done.stdout}{done.stderr}")
                continue
            with open(path, "rb") as file:
                if file.read() != files[0]:
                    wrong.append(f"{model}: the replay differs from what the nodes export")
        return wrong

    def stop(self):
        for node in self.nodes:
            if node.runs():
                node.terminate()

    def kill(self):
        for client in getattr(self, "clients", []):
            client.stopping.set()
        for node in self.nodes:
            if node.runs():
                node.kill()
        self.pair.kill()


def summary(seconds):
    if not seconds:
        return "none"
    return (f"{len(seconds)}, median {statistics.median(seconds) * 1000:.0f} ms, "
            f"most {max(seconds) * 1000:.0f} ms")


def in_background(work):
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread
