"""The same requests, and the same log, give the same model over SQLite and over PostgreSQL."""

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import database
import nodes
import processes

LISTS = 300
MODEL = {"features": ["price", "age", "stock"], "ranker": "linear", "k": 4, "candidates": "none",
         "seed": 11}


class Service:
    """One process of `plackett serve`."""

    def __init__(self, store, folder, name):
        self.store = store
        self.port = processes.free_port()
        self.process = processes.start(
            [nodes.COMMAND, "serve", "--db", store, "--port", self.port],
            os.path.join(folder, f"{name}.log"))
        processes.wait_until(self.is_ready, 30, f"the service over {name}")

    def is_ready(self):
        try:
            return nodes.ask(self.port, "GET", "/ready")[0] == 200
        except OSError:
            return False

    def ask(self, method, path, body=None):
        status, _, text = nodes.ask(self.port, method, path, body)
        assert status in (200, 201), f"{path}: {status} {text!r}"
        return text

    def stop(self):
        self.process.terminate()
        assert self.process.wait(30) == 0


def learn(service):
    """The same visits for every service; the names of the lists, and the model."""
    rng = random.Random(5)
    service.ask("PUT", "/models/m", MODEL)
    names = []
    for _ in range(LISTS):
        ranked = json.loads(service.ask("POST", "/models/m/rank", {
            "items": [{"id": str(at), "features": [rng.random() for _ in range(3)]}
                      for at in range(6)]}))
        names.append(ranked["impression"])
        of = {"impression": ranked["impression"]}
        service.ask("POST", "/models/m/feedback",
                    [of | {"event": "click", "item": ranked["items"][rng.randrange(4)]["id"]},
                     of | {"event": "close"}])
    return names, service.ask("GET", "/models/m/export")


def replayed(store, folder):
    path = os.path.join(folder, "replayed")
    subprocess.run([nodes.COMMAND, "replay", "--db", store, "--model", "m", "--save-model", path],
                   check=True, capture_output=True)
    with open(path, "rb") as file:
        return file.read()


def value(text, kind):
    if text == "\\N":
        return None
    if kind == "bytea":
        return bytes.fromhex(text[2:])
    return int(text) if kind == "bigint" else float(text) if kind == "double precision" else text


def copy_log(server, path):
    """Lists, responses and log of a PostgreSQL store take the place of a SQLite store's."""
    with sqlite3.connect(path) as file:
        file.execute("DELETE FROM snapshots")
        for table in ("impressions", "responses", "log"):
            kinds = dict(server.sql("SELECT column_name, data_type FROM information_schema.columns "
                                    f"WHERE table_name = '{table}'"))
            there = [row[1] for row in file.execute(f"PRAGMA table_info({table})")]
            columns = [one for one in there if one in kinds]
            file.execute(f"DELETE FROM {table}")
            rows = server.sql(
                "SELECT " + ", ".join(f"coalesce({one}::text, '\\N')" for one in columns)
                + f" FROM {table}")
            marks = ", ".join("?" * len(columns))
            file.executemany(
                f"INSERT INTO {table}({', '.join(columns)}) VALUES({marks})",
                [[value(text, kinds[name]) for name, text in zip(columns, row)] for row in rows])
        return file.execute("SELECT count(*) FROM log").fetchone()[0]


def compare(folder):
    server = database.Server(os.path.join(folder, "postgres"))
    server.create()
    server.start()
    try:
        server.sql(f"CREATE DATABASE {database.DATABASE}", "postgres")
        path = os.path.join(folder, "shop.db")
        url = f"postgresql://plackett@127.0.0.1:{server.port}/{database.DATABASE}"
        one, other = Service(path, folder, "sqlite"), Service(url, folder, "postgresql")
        (names, exported), (their_names, theirs) = learn(one), learn(other)
        one.stop()
        other.stop()
        if names == their_names:
            assert exported == theirs, "the same requests gave other bits over PostgreSQL"
            print(f"{LISTS} requests: the same {len(exported)} bytes over both")
        else:
            # A node gives up numbers that it has not used for a second: other lists are drawn.
            print("a pause changed the numbers of the lists; only the log is compared")
        assert replayed(path, folder) == exported
        assert replayed(url, folder) == theirs
        count = copy_log(server, path)
        assert count == LISTS, count
        assert replayed(path, folder) == theirs, "the same log gave other bits over SQLite"
        print(f"{count} entries of PostgreSQL's log: the same bytes over SQLite")
    finally:
        server.kill()


def main():
    if database.PROGRAMS is None:
        processes.skip(database.MISSING)
    folder = tempfile.mkdtemp(prefix="plackett-bits-")
    os.chmod(folder, 0o755)
    try:
        compare(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
