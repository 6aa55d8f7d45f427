"""What one node over PostgreSQL does when the database makes trouble, or is asked for it."""

import collections
import concurrent.futures
import contextlib
import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import database
import nodes
import processes

MODEL = {"features": ["a", "b"], "ranker": "linear", "k": 2, "candidates": "none", "seed": 3}
ITEMS = [{"id": str(at), "features": [at, 1]} for at in range(4)]

FOLDER = tempfile.mkdtemp(prefix="plackett-node-")
SERVER = database.Server(os.path.join(FOLDER, "postgres"))


def setUpModule():
    os.chmod(FOLDER, 0o755)
    SERVER.create()
    SERVER.start()


def tearDownModule():
    SERVER.kill()
    shutil.rmtree(FOLDER, ignore_errors=True)


class Node:
    """A process of `plackett serve` over a database of its own, with the model m."""

    def __init__(self, name, *options):
        self.database = name
        self.log = os.path.join(FOLDER, f"{name}.log")
        SERVER.sql(f"CREATE DATABASE {name}", "postgres")
        self.port = processes.free_port()
        self.process = processes.start(
            [nodes.COMMAND, "serve", "--db", self.url(), "--port", self.port, *options], self.log)
        processes.wait_until(self.is_ready, 60, name)
        self.expect(201, "PUT", "/models/m", MODEL)

    def url(self):
        return f"postgresql://plackett@127.0.0.1:{SERVER.port}/{self.database}"

    def is_ready(self):
        assert self.process.poll() is None, open(self.log, encoding="utf-8").read()
        try:
            return nodes.ask(self.port, "GET", "/ready", seconds=3)[0] == 200
        except OSError:
            return False

    def ask(self, method, path, body=None, seconds=20.0):
        """Status, body and seconds."""
        start = time.monotonic()
        status, _, text = nodes.ask(self.port, method, path, body, seconds)
        return status, text, time.monotonic() - start

    def expect(self, wanted, method, path, body=None):
        status, text, _ = self.ask(method, path, body)
        assert status == wanted, f"{method} {path}: {status} {text!r}"
        return json.loads(text) if text else None

    def rank(self, **more):
        return self.expect(200, "POST", "/models/m/rank", {"items": ITEMS, **more})

    def sql(self, text):
        return SERVER.sql(text, self.database)

    @contextlib.contextmanager
    def locked(self, table):
        """Another session keeps everybody from the table."""
        with subprocess.Popen(
                [f"{database.PROGRAMS}/psql", "-X", "-q", "-A", "-t", self.url()],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as session:
            session.stdin.write(f"BEGIN; LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE;"
                                "SELECT 'locked';\n")
            session.stdin.flush()
            assert session.stdout.readline().strip() == "locked"
            try:
                yield
            finally:
                session.stdin.close()  # its transaction ends with it

    def stop(self):
        self.process.terminate()
        assert self.process.wait(60) == 0


@contextlib.contextmanager
def node(name, *options):
    made = Node(name, *options)
    try:
        yield made
        made.stop()
    finally:
        if made.process.poll() is None:
            made.process.kill()
            made.process.wait()


def statuses_of_burst(port, path, body, connections, requests):
    """Of so many requests on each connection, all of which are sent at once."""
    text = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    one = head.encode() + f"Content-Length: {len(text)}\r\n\r\n".encode() + text
    sockets = [socket.create_connection(("127.0.0.1", port), 20) for _ in range(connections)]
    for each in sockets:
        each.sendall(one * requests)
    statuses = []
    for each in sockets:
        with each, each.makefile("rb") as answers:
            for _ in range(requests):
                statuses.append(int(answers.readline().split()[1]))
                fields = http.client.parse_headers(answers)
                answers.read(int(fields["Content-Length"]))
    return statuses


class Bursts(unittest.TestCase):
    def test_all_of_a_burst_after_a_rest_are_answered(self):
        with node("bursts", "--threads", "2") as one:
            for _ in range(12):
                statuses = statuses_of_burst(one.port, "/models/m/rank", {"items": ITEMS}, 32, 20)
                self.assertEqual(collections.Counter(statuses), {200: 32 * 20})
                time.sleep(1.5)  # numbers that are left are given up


class Marks(unittest.TestCase):
    def test_a_node_ends_if_its_mark_is_another_ones(self):
        """As after a restore of the tables alone."""
        one = Node("marks")
        try:
            one.rank()
            one.sql("UPDATE store_nodes SET committed = committed + 1")
            status, _, _ = one.ask("POST", "/models/m/rank", {"items": ITEMS})
            self.assertEqual(status, 503)
            self.assertEqual(one.process.wait(20), 2)
            with open(one.log, encoding="utf-8") as log:
                self.assertIn("restart the service", log.read())
        finally:
            if one.process.poll() is None:
                one.process.kill()
                one.process.wait()


class Deletions(unittest.TestCase):
    def test_a_model_is_deleted_in_one_transaction_with_requests_about_it(self):
        def ask(one, model, path, body):
            return model, path, one.ask("POST", f"/models/{model}/{path}", body)[0]

        with node("deletions") as one, concurrent.futures.ThreadPoolExecutor(20) as pool:
            for _ in range(4):
                one.expect(201, "PUT", "/models/gone", MODEL)
                lists = [one.expect(200, "POST", "/models/gone/rank", {"items": ITEMS})
                         for _ in range(3)]
                one.rank()
                with one.locked("impressions"):  # the first of them waits, and then the others do
                    answers = [pool.submit(ask, one, "gone", "rank", {"items": ITEMS})]
                    time.sleep(0.2)
                    for shown in lists:
                        answers.append(pool.submit(ask, one, "gone", "feedback", {
                            "impression": shown["impression"], "event": "close"}))
                    time.sleep(0.1)
                    deleted = pool.submit(one.ask, "DELETE", "/models/gone")
                    time.sleep(0.1)
                    for model in 4 * ("gone", "m"):
                        answers.append(pool.submit(ask, one, model, "rank", {"items": ITEMS}))
                    time.sleep(0.2)
                self.assertEqual(deleted.result()[0], 204)
                for model, path, status in [each.result() for each in answers]:
                    wanted = (200,) if model == "m" else (200, 404)
                    self.assertIn(status, wanted, f"{path} of {model}")
                self.assertEqual(one.ask("GET", "/models/gone")[0], 404)


class ReadsThatHang(unittest.TestCase):
    def test_nothing_else_waits_for_a_read_that_hangs(self):
        with node("reads", "--threads", "1") as one:
            one.rank()
            # The heartbeat reads `models`, and ranks write `impressions` and `series_parts`: of what
            # /experiments reads, only its own tables are locked.
            with one.locked("experiments"), concurrent.futures.ThreadPoolExecutor() as threads:
                hanging = threads.submit(one.ask, "GET", "/models/m/experiments")
                time.sleep(0.3)
                for path in ("/health", "/ready", "/metrics"):
                    status, _, seconds = one.ask("GET", path)
                    self.assertEqual(status, 200, path)
                    self.assertLess(seconds, 1, path)
                start = time.monotonic()
                one.rank()
                self.assertLess(time.monotonic() - start, 1)
                self.assertFalse(hanging.done())
                status, text, seconds = hanging.result()
                self.assertEqual(status, 503, text)
                self.assertLess(seconds, 5)
            one.expect(200, "GET", "/models/m/experiments")

    def test_reads_behind_one_that_hangs_are_refused_in_time(self):
        with node("queue", "--threads", "1") as one:
            with one.locked("series_parts"), concurrent.futures.ThreadPoolExecutor(8) as threads:
                asked = [threads.submit(one.ask, "GET", "/models/m/stats") for _ in range(8)]
                time.sleep(0.5)
                status, _, seconds = one.ask("GET", "/health")
                self.assertEqual(status, 200)
                self.assertLess(seconds, 1)
                for answer in asked:
                    status, text, seconds = answer.result()
                    self.assertEqual(status, 503, text)
                    self.assertLess(seconds, 11)
            one.expect(200, "GET", "/models/m/stats")


class TextsThatSqlCantRead(unittest.TestCase):
    def test_a_nul_is_the_requests_own_fault(self):
        with node("nul") as one:
            ranked = one.rank()
            refused = [
                ("POST", "/models/m/snapshots", {"note": "a\0b"}),
                ("POST", "/models/m/rank", {"items": ITEMS, "context": {"page": "a\0b"}}),
                ("POST", "/models/m/rank", {"items": ITEMS, "context": {"\0": 1}}),
                ("POST", "/models/m/rank", {"items": ITEMS, "unit": "a\0b"}),
                ("POST", "/models/m/feedback",
                 {"impression": ranked["impression"], "item": "0", "event": "a\0b"}),
                ("PUT", "/models/n", {**MODEL, "features": ["a\0b"]}),
                ("PUT", "/models/n", {**MODEL, "events": {"a\0b": 1}}),
                ("GET", "/models/m/impressions/a%00b", None),
                ("DELETE", "/models/m/units/a%00b", None),
                ("DELETE", "/models/m/items/a%00b", None),
            ]
            for method, path, body in refused:
                status, text, _ = one.ask(method, path, body)
                self.assertEqual(status, 400, f"{method} {path} {body}: {text}")
            # What only looks like one.
            one.rank(context={"page": "\\u0000", "other": "\\\\u0000\u0001"})
            one.expect(201, "POST", "/models/m/snapshots", {"note": "\\u0000"})


class DeletionOfAUnit(unittest.TestCase):
    def test_neither_statistics_nor_tables_have_the_unit(self):
        with node("unit") as one:
            for at in range(40):
                one.rank(unit="marie-curie" if at % 2 else f"other-{at}", id=f"marie-curie-{at}",
                         context={"of": f"marie-curie-{at}"})
            one.sql("ANALYZE")
            one.expect(200, "DELETE", "/models/m/units/marie-curie?impressions=drop")
            for at in range(0, 40, 2):
                one.expect(200, "DELETE", f"/models/m/units/other-{at}?impressions=drop")
            one.expect(200, "POST", "/vacuum")
            found = one.sql("SELECT tablename, attname FROM pg_stats WHERE schemaname = 'public' AND "
                            "concat(most_common_vals, histogram_bounds, most_common_elems) LIKE "
                            "'%marie-curie%'")
            self.assertEqual(found, [])

    def test_the_answer_has_the_size_after_it(self):
        with node("size") as one:
            for _ in range(3):
                one.rank()
            one.sql("INSERT INTO events(impression, kind, at, name) SELECT 1, 3, 1, repeat('x', 500) "
                    "FROM generate_series(1, 20000)")
            before = one.expect(200, "POST", "/vacuum")["store_bytes"]
            one.sql("DELETE FROM events")
            after = one.expect(200, "POST", "/vacuum")["store_bytes"]
            self.assertLess(after, before - 5_000_000)

    def test_requests_do_not_wait_for_locks_any_longer_after_it(self):
        with node("patience") as one:
            one.rank()
            one.expect(200, "POST", "/vacuum")
            with one.locked("impressions"):
                status, text, seconds = one.ask("POST", "/models/m/rank", {"items": ITEMS})
            self.assertEqual(status, 503)
            self.assertIn("lock timeout", text.decode())
            self.assertLess(seconds, 4.8)


class Counts(unittest.TestCase):
    def test_no_node_counts_open_lists_alone(self):
        with node("counts") as one:
            one.rank()
            self.assertIsNone(one.expect(200, "GET", "/models/m")["open"])
            metrics = one.ask("GET", "/metrics")[1].decode()
            self.assertNotIn("plackett_impressions_open{", metrics)
            self.assertIn("plackett_impressions_total{", metrics)


def refused(*options):
    """What `plackett serve` says when it does not start."""
    done = subprocess.run([nodes.COMMAND, "serve", "--port", "0", *options], capture_output=True,
                          cwd=FOLDER, timeout=30, check=False)
    assert done.returncode != 0, options
    return done.stderr.decode(errors="replace")


class Refusals(unittest.TestCase):
    def database(self, name, sql=""):
        SERVER.sql(f"CREATE DATABASE {name}", "postgres")
        if sql:
            SERVER.sql(sql, name)
        return f"postgresql://plackett@127.0.0.1:{SERVER.port}/{name}"

    def assert_is_line(self, said, *parts):
        self.assertEqual(said.count("\n"), 1, said)
        self.assertNotIn("\t", said)
        for part in parts:
            self.assertIn(part, said)

    def test_names_of_nodes_are_printable(self):
        url = self.database("names")
        for name in ("a\nb", "a\tb", "\x1b[31m", "a\u2028b", "a\u202eb", b"a\xffb", "a" * 65):
            said = refused("--db", url, "--node-name", name)
            self.assertIn("1 to 64 printable characters", said)
            self.assertIn("--node-name", said)
            self.assertNotIn("\x1b", said)
        for number, name in enumerate(("a" * 64, "\u00fc" * 64, "web 1 (k\u00f6ln)")):
            with node(f"named{number}", "--node-name", name) as one:
                self.assertEqual(one.expect(200, "GET", "/nodes")["nodes"][0]["name"], name)

    def test_a_store_is_a_file_or_a_url_of_postgresql(self):
        for db in ("host=127.0.0.1 password=hush dbname=x", "dbname = x password = hush",
                   "mysql://u:hush@h/x", "POSTGRESQL:u:hush@h/x", "jdbc:postgresql://u:hush@h/x"):
            said = refused("--db", db)
            self.assert_is_line(said, "--db", "postgresql://USER@HOST:PORT/DATABASE")
            self.assertNotIn("hush", said)
        said = refused("--db", "POSTGRESQL://u:hush@127.0.0.1:1/x")
        self.assert_is_line(said, "can't connect")
        self.assertNotIn("hush", said)
        self.assertEqual([name for name in os.listdir(FOLDER) if "hush" in name], [])
        # The same place everywhere.
        for words in (("replay", "--db"), ("export", "--out", "o", "--db"), ("fit", "--db"),
                      ("evaluate", "--policy", "current", "--log"), ("backup", "--to", "b", "--db"),
                      ("migrate", "--from", "no.db", "--to")):
            done = subprocess.run([nodes.COMMAND, *words, "host=h password=hush"], cwd=FOLDER,
                                  capture_output=True, text=True, timeout=30, check=False)
            said = done.stdout + done.stderr
            self.assertNotEqual(done.returncode, 0, words)
            self.assertNotIn("hush", said, words)

    def test_a_database_of_another_program_is_told_in_one_line(self):
        for number, sql in enumerate(("CREATE TABLE models(a int)", "CREATE VIEW series AS SELECT 1",
                                      "CREATE TABLE store_format(a int)")):
            url = self.database(f"other{number}", sql)
            self.assert_is_line(refused("--db", url), url, "tables of another program")

    def test_an_empty_format_is_told_in_one_line(self):
        url = self.database("empty", "CREATE TABLE store_format(version bigint)")
        self.assert_is_line(refused("--db", url), url, "store_format is empty")

    def test_a_server_that_takes_no_changes_is_told_in_one_line(self):
        url = self.database("read_only")
        SERVER.sql("ALTER DATABASE read_only SET default_transaction_read_only = on", "postgres")
        self.assert_is_line(refused("--db", url), "target_session_attrs=read-write")

    def test_a_server_that_is_not_there_is_told_in_one_line(self):
        self.assert_is_line(refused("--db", "postgresql://plackett@127.0.0.1:1/x"), "can't connect")
        self.assert_is_line(refused("--db", "postgresql://plackett@/x?host=/nowhere"), "/nowhere")


def main():
    if database.PROGRAMS is None:
        processes.skip(database.MISSING)
    unittest.main(verbosity=2)


if __name__ == "__main__":
    sys.exit(main())
