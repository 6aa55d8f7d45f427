"""deploy/compose/database.sh with real servers of PostgreSQL: two of them, in folders, over loopback."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile

from claims import DEPLOY, ROOT, free_port, run_claims, skip, wait_until

sys.path.insert(0, str(ROOT / "tests" / "cluster"))
import database
import processes

SCRIPT = DEPLOY / "compose" / "database.sh"
FOLDER = tempfile.mkdtemp(prefix="plackett-compose-")

# The image's entrypoint, as far as it matters here: it makes the database, and runs the server.
ENTRYPOINT = """#!/bin/bash
set -e
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb -U plackett --auth trust --encoding UTF8 --locale C.UTF-8 --no-sync > /dev/null
fi
exec "$@" -p "$PORT" -k "$PGDATA/.." -c listen_addresses=127.0.0.1 -c fsync=off
"""


class Server:
    def __init__(self, name, folder):
        self.name = name
        self.port = free_port()
        self.folder = os.path.join(folder, name)
        self.data = os.path.join(self.folder, "server")
        self.log = os.path.join(folder, f"{name}.log")
        self.process = None
        os.makedirs(self.folder)
        processes.give(self.folder)

    def environment(self, other, **more):
        return {"NAME": self.name, "OTHER": f"host=127.0.0.1 port={other.port}", "PORT": str(self.port),
                "PGDATA": self.data, "HBA_FILE": os.path.join(FOLDER, "pg_hba.conf"),
                "PASSWORD_FILE": os.path.join(FOLDER, "password"), "TMPDIR": self.folder,
                "PATH": f"{FOLDER}:{database.PROGRAMS}:{os.environ['PATH']}", **more}

    def start(self, other, **more):
        self.process = processes.start(["bash", SCRIPT], self.log, signal.SIGQUIT,
                                       env=self.environment(other, **more),
                                       **processes.unprivileged())

    def promote(self, other):
        return subprocess.run(["bash", SCRIPT, "promote"], env=self.environment(other), cwd="/",
                              capture_output=True, text=True, check=False,
                              **processes.unprivileged())

    def said(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()

    def sql(self, text):
        done = subprocess.run([f"{database.PROGRAMS}/psql", "-X", "-q", "-A", "-t",
                               f"postgresql://plackett@127.0.0.1:{self.port}/postgres", "-c", text],
                              capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else None

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            processes.kill_all(self.process)
        self.process = None


def is_synchronous(primary):
    return primary.sql("SELECT sync_state FROM pg_stat_replication") == "sync"


class Pair:
    """The primary and its standby, as `CREATE=1 podman-compose up` starts them."""

    def __init__(self, name):
        folder = os.path.join(FOLDER, name)
        os.makedirs(folder)
        self.one, self.other = Server("primary", folder), Server("standby", folder)

    def __enter__(self):
        self.other.start(self.one)  # the order does not matter
        self.one.start(self.other, CREATE="1")
        try:
            wait_until(lambda: is_synchronous(self.one), 60)
        except AssertionError as error:
            raise AssertionError(self.one.said() + self.other.said()) from error
        self.one.sql("CREATE TABLE t AS SELECT 1 AS kept")
        return self.one, self.other

    def __exit__(self, *_):
        self.one.kill()
        self.other.kill()


def test_a_replaced_primary_does_not_take_writes_again():
    with Pair("replaced") as (one, other):
        assert "stop it first" in other.promote(one).stderr
        one.kill()
        promoted = other.promote(one)
        assert promoted.returncode == 0, promoted.stderr
        # The promoted one waits for nobody, after a restart too.
        assert other.sql("INSERT INTO t VALUES(2) RETURNING kept") == "2"
        other.kill()
        one.start(other)  # first, as after a restart of the machine
        wait_until(lambda: "a primary starts when its standby" in one.said(), 20)
        other.start(one)
        wait_until(lambda: other.sql("INSERT INTO t VALUES(3) RETURNING kept") == "3", 20)
        assert one.process.wait(20) == 1
        assert "has become the primary" in one.said()
        # Without its data it is the new standby, and the promoted one waits for it.
        shutil.rmtree(one.data)
        one.start(other)
        wait_until(lambda: is_synchronous(other), 30)
        assert one.sql("SELECT sum(kept) FROM t") == "6"
        assert "primary" in other.sql("SHOW synchronous_standby_names")


def test_a_primary_starts_again_once_its_standby_is_there():
    with Pair("again") as (one, other):
        one.kill()
        other.kill()
        one.start(other)
        wait_until(lambda: "a primary starts when its standby" in one.said(), 20)
        assert one.sql("SELECT 1") is None
        other.start(one)
        wait_until(lambda: is_synchronous(one), 30)


def test_the_standby_sets_its_name_at_every_start():
    with Pair("name") as (one, other):
        other.kill()
        one.sql("ALTER SYSTEM RESET synchronous_standby_names")
        one.sql("SELECT pg_reload_conf()")
        wait_until(lambda: one.sql("SHOW synchronous_standby_names") == "", 20)
        other.start(one)
        wait_until(lambda: is_synchronous(one), 30)


def test_half_a_copy_is_no_standby():
    with Pair("half") as (one, other):
        other.kill()
        os.rename(other.data, other.data + ".new")  # as if it had been cut off
        os.remove(os.path.join(other.data + ".new", "global", "pg_control"))
        other.start(one)
        wait_until(lambda: is_synchronous(one), 30)
        assert not os.path.exists(other.data + ".new")


def test_no_server_makes_a_database_unasked():
    folder = os.path.join(FOLDER, "unasked")
    os.makedirs(folder)
    one, other = Server("primary", folder), Server("standby", folder)
    one.start(other)
    try:
        wait_until(lambda: "CREATE=1" in one.said(), 20)
        assert not os.path.exists(one.data)
    finally:
        one.kill()


def main():
    if database.PROGRAMS is None:
        skip(database.MISSING)
    os.chmod(FOLDER, 0o755)
    for name, text in {"password": "secret", "docker-entrypoint.sh": ENTRYPOINT,
                       "pg_hba.conf": "local all all trust\nhost all all 127.0.0.1/32 trust\n"
                                      "host replication all 127.0.0.1/32 trust\n"}.items():
        path = os.path.join(FOLDER, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)
    try:
        return run_claims(sys.modules[__name__])
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
