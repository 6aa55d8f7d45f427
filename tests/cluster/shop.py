"""Two nodes, `west` and `east`, over one PostgreSQL, and claims about them."""

import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import database
import nodes
import processes
import proxy

SOON = 1.0  # seconds until a change through one node holds on the other
MODEL = {"features": ["price", "age"], "ranker": "linear", "k": 3, "candidates": "none",
         "scaling": "none", "open_seconds": 600, "seed": 3}
ITEMS = [{"id": str(at), "features": [at, 1]} for at in range(4)]


class Shop:
    """`pair`: a primary with a synchronous standby, instead of one server."""

    def __init__(self, folder, pair=False):
        os.makedirs(folder)
        processes.give(folder)
        self.folder = folder
        self.pair = database.Pair(folder) if pair else None
        self.server = self.pair.primary if pair else self._one_server()
        self.loop = proxy.Loop()
        self.nodes = []
        self.west, self.east = self.add("west"), self.add("east")
        for node in self.nodes:
            node.start_and_wait()

    def _one_server(self):
        server = database.Server(os.path.join(self.folder, "postgres"))
        server.create()
        server.start()
        server.sql(f"CREATE DATABASE {database.DATABASE}", "postgres")
        return server

    def add(self, name):
        servers = self.pair.servers if self.pair else [self.server]
        node = nodes.Node(name, self.folder, self.loop, servers)
        self.nodes.append(node)
        return node

    def url(self):
        return f"postgresql://plackett@127.0.0.1:{self.server.port}/{database.DATABASE}"

    def other(self, node):
        return self.east if node is self.west else self.west

    def both(self):
        return self.west, self.east

    def mend(self):
        """Both nodes and the database run and are ready, whatever a claim left behind."""
        if not (self.server.runs() and self.server.answers()):
            self.server.kill()
            self.server.start()
        for node in self.nodes:
            for one in node.proxies:
                one.mend()
        for node in self.both():
            node.start_and_wait()

    def kill(self):
        for node in self.nodes:
            if node.runs():
                node.kill()
        if self.pair:
            self.pair.kill()
        self.server.kill()

    # Models.

    def make(self, name, **changes):
        """A model that both nodes serve."""
        body = MODEL | changes
        expect(201, self.west, "PUT", f"/models/{name}", body)
        until(lambda: is_served(self.east, name), f"{name} on east", 5)
        return name

    def leader(self, model):
        """As the database has it: the node that holds the lead's lock, or None."""
        rows = self.server.sql(
            "SELECT a.client_port FROM models AS m JOIN pg_locks AS k ON k.locktype = 'advisory' "
            "AND k.objsubid = 2 AND k.granted AND k.objid::bigint = m.id JOIN pg_stat_activity "
            f"AS a USING(pid) WHERE m.name = '{model}'")
        owners = [node for node in self.nodes for row in rows if node.owns(int(row[0]))]
        return owners[0] if owners else None

    def describe(self, model):
        """For messages: who leads the model, and what the nodes and the store have of it."""
        leader = self.leader(model)
        row = self.server.sql(
            "SELECT l.*, p.log, p.version, (SELECT count(*) FROM log WHERE model = m.id), (SELECT "
            "count(*) FROM queued_log WHERE model = m.id) FROM models AS m LEFT JOIN leads AS l ON "
            f"l.model = m.id LEFT JOIN published AS p ON p.model = m.id WHERE m.name = '{model}'")
        seen = {node.name: [model_of(node, model)[key] for key in
                            ("version", "learned", "learning", "frozen_because")]
                for node in self.both()}
        return (f"{model}: led by {leader.name if leader else 'nobody'}; lead, published, entries, "
                f"queued: {row}; version, learned, learning: {seen}")

    def lead(self, model, node):
        """A node that had to ask for the lead, for a change of the log, keeps it for a while."""
        change(200, self.other(node), "POST", f"/models/{model}/freeze")
        change(200, node, "POST", f"/models/{model}/resume")
        assert self.leader(model) is node, f"{node.name} does not lead {model}"

    def settle(self, model):
        """All that was closed is learned, and both nodes have the same."""
        def is_settled():
            queued = self.server.value("SELECT count(*) FROM queued_log")
            return queued == "0" and len({export(node, model) for node in self.both()}) == 1
        until(is_settled, f"both nodes have the same {model}", 10, 0.1)
        return export(self.west, model)

    def make_old(self, milliseconds, condition="true"):
        """Those lists were shown so much earlier."""
        for table, key in (("impressions", "id"), ("responses", "impression")):
            self.server.sql(f"UPDATE {table} SET shown_at = shown_at - {milliseconds} WHERE {key} "
                            f"IN (SELECT id FROM impressions WHERE {condition})")

    def check_replay(self, model):
        """The log gives the parameters that both nodes serve."""
        served = self.settle(model)
        path = os.path.join(self.folder, f"{model}.replayed")
        done = subprocess.run([nodes.COMMAND, "replay", "--db", self.url(), "--model", model,
                               "--save-model", path], capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"replay of {model}: {done.stdout}{done.stderr}"
        with open(path, "rb") as file:
            assert file.read() == served, f"{model}: the replay differs from what nodes serve"

    def locked(self, statement):
        return Session(self.url(), statement)


class Session:
    """A transaction of somebody else's, which ends with the block."""

    def __init__(self, url, statement):
        self.process = subprocess.Popen(
            [f"{database.PROGRAMS}/psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", url],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.ask("BEGIN")
        self.ask(statement)

    def send(self, statement):
        self.process.stdin.write(f"{statement};\n\\echo done\n")
        self.process.stdin.flush()

    def wait(self):
        """False if there was an error."""
        for line in self.process.stdout:
            if line.strip() == "done":
                return True
        return False

    def ask(self, statement):
        self.send(statement)
        assert self.wait(), statement

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(20)


# Requests.

def ask(node, method, path, body=None, seconds=20.0):
    """Status and answer; status 0 if there is none."""
    try:
        status, _, text = nodes.ask(node.port, method, path, body, seconds)
    except (OSError, http.client.HTTPException) as error:
        return 0, repr(error)
    try:
        return status, json.loads(text)
    except ValueError:
        return status, text


def expect(wanted, node, method, path, body=None):
    status, answer = ask(node, method, path, body)
    assert status == wanted, f"{node.name}: {method} {path}: {status} {answer!r}"
    return answer


def change(wanted, node, method, path, body=None):
    """As expect(), for what needs the lead: tried again as long as the node asks for that."""
    def answered():
        status, answer = ask(node, method, path, body)
        return status not in (429, 503) and (status, answer)
    status, answer = until(answered, f"{method} {path} on {node.name}", 5, 0.1)
    assert status == wanted, f"{node.name}: {method} {path}: {status} {answer!r}"
    return answer


def rank(node, model, **more):
    """Numbers for lists may run out in a burst, for milliseconds."""
    for _ in range(50):
        status, answer = ask(node, "POST", f"/models/{model}/rank", {"items": ITEMS, **more})
        if status != 429:
            break
        time.sleep(0.02)
    assert status == 200, f"{node.name}: rank of {model}: {status} {answer!r}"
    return answer


def feedback(node, model, events):
    return expect(200, node, "POST", f"/models/{model}/feedback", events)


def click_and_close(node, model, ranked, at=1):
    """The answer to feedback that the model learns from."""
    of = {"impression": ranked["impression"]}
    return feedback(node, model, [of | {"event": "click", "item": ranked["items"][at]["id"]},
                                  of | {"event": "close"}])


def learn(node, model, **more):
    """A visit; the version that has learned from it."""
    answer = click_and_close(node, model, rank(node, model, **more))
    assert answer["accepted"] == 2 and "model_version" in answer, answer
    return answer["model_version"]


def model_of(node, name):
    return expect(200, node, "GET", f"/models/{name}")


def weights(node, model):
    answer = expect(200, node, "GET", f"/models/{model}/weights")
    return [one["weight"] for one in answer["weights"]]


def export(node, model):
    status, _, file = nodes.ask(node.port, "GET", f"/models/{model}/export")
    assert status == 200, f"{node.name}: export of {model}: {status} {file!r}"
    return file


def is_served(node, model):
    return ask(node, "GET", f"/models/{model}")[0] == 200


def until(holds, what, seconds=SOON, pause=0.01):
    return processes.wait_until(holds, seconds, what, pause)


class Connections:
    """One client's connections to the nodes, which stay open."""

    def __init__(self, seconds=20.0):
        self.seconds = seconds
        self.open = {}

    def ask(self, node, method, path, body=None):
        """Status and the answer's bytes; status 0 if there is none."""
        connection = self.open.pop(node.port, None) or http.client.HTTPConnection(
            "127.0.0.1", node.port, timeout=self.seconds)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            return 0, repr(error)
        self.open[node.port] = connection
        return answer.status, text

    def close(self):
        for connection in self.open.values():
            connection.close()


def in_background(work, *arguments):
    thread = threading.Thread(target=work, args=arguments, daemon=True)
    thread.start()
    return thread


def together(works):
    """Runs each in a thread of its own, at the same moment; what they gave, in order."""
    start = threading.Barrier(len(works))
    given = [None] * len(works)
    errors = []

    def run(at, work):
        try:
            start.wait(20)
            given[at] = work()
        except BaseException as error:  # pylint: disable=broad-except
            errors.append(error)

    threads = [threading.Thread(target=run, args=one, daemon=True) for one in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive(), "a client still waits for an answer"
    if errors:
        raise errors[0]
    return given


class Visitors:
    """Threads that do `visit(number of the thread)` again and again while the block runs."""

    def __init__(self, count, visit):
        self.stopping = threading.Event()
        self.errors = []
        self.threads = [threading.Thread(target=self._run, args=(at, visit), daemon=True)
                        for at in range(count)]

    def _run(self, at, visit):
        try:
            while not self.stopping.is_set():
                visit(at)
        except BaseException as error:  # pylint: disable=broad-except
            self.errors.append(error)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join(60)
            assert not thread.is_alive(), "a visitor still waits for an answer"

    def __exit__(self, kind, *_):
        self.stop()
        if kind is None and self.errors:
            raise self.errors[0]


# Claims.

def check(claims, pair=False):
    """Runs all claims, those with a word of the command line in their name if there are any.
    PLACKETT_KEEP: leaves the folder behind."""
    if database.PROGRAMS is None:
        processes.skip(database.MISSING)
    chosen = [claim for claim in claims
              if not sys.argv[1:] or any(word in claim.__name__ for word in sys.argv[1:])]
    folder = tempfile.mkdtemp(prefix="plackett-together-")
    os.chmod(folder, 0o755)
    failed = []
    shop = Shop(os.path.join(folder, "shop"), pair)
    try:
        for claim in chosen:
            start = time.monotonic()
            try:
                shop.mend()
                claim(shop)
                word = "holds"
            except Exception:  # pylint: disable=broad-except
                failed.append(claim.__name__)
                word = f"DOES NOT HOLD\n{traceback.format_exc()}"
            print(f"{time.monotonic() - start:6.1f} s  {claim.__name__}: {word}", flush=True)
    finally:
        shop.kill()
        if failed or "PLACKETT_KEEP" in os.environ:
            shutil.rmtree(os.path.join(folder, "shop", "postgres", "data"), ignore_errors=True)
            print(f"logs: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(chosen) - len(failed)} of {len(chosen)} claims hold")
    return 1 if failed else 0
