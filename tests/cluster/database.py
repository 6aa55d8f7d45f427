"""PostgreSQL in a folder: a primary, and a standby that must have what is acknowledged."""

import glob
import os
import shutil
import signal
import subprocess
import time

import processes

_FOUND = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"),
                key=lambda path: int(path.split("/")[4]))
PROGRAMS = os.path.dirname(_FOUND[-1]) if _FOUND else None
MISSING = "PostgreSQL is not installed (package postgresql)"
DATABASE = "shop"

# Processes are killed, the machine is not: what the system has in memory stays.
SETTINGS = {
    "listen_addresses": "127.0.0.1", "fsync": "off", "max_connections": "60",
    "shared_buffers": "16MB", "max_wal_size": "96MB", "min_wal_size": "32MB",
    "wal_keep_size": "32MB", "wal_retrieve_retry_interval": "200ms", "autovacuum_naptime": "60s",
    "hot_standby": "on", "max_wal_senders": "8",
}


def run_as_owner(arguments):
    done = subprocess.run([str(one) for one in arguments], capture_output=True, text=True, cwd="/",
                          check=False, **processes.unprivileged())
    if done.returncode != 0:
        raise AssertionError(f"{arguments[0]}: {done.stdout}{done.stderr}")


class Server:
    """One server. Its port stays the same, whatever happens to it."""

    def __init__(self, folder):
        self.folder = folder
        self.port = processes.free_port()
        self.process = None
        os.makedirs(folder)
        processes.give(folder)
        self.data = os.path.join(folder, "data")
        self.log = os.path.join(folder, "log")

    def create(self):
        run_as_owner([f"{PROGRAMS}/initdb", "--pgdata", self.data, "--username", "plackett",
                      "--auth", "trust", "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync"])

    def copy(self, primary):
        """Becomes the standby of another server."""
        shutil.rmtree(self.data, ignore_errors=True)
        run_as_owner([f"{PROGRAMS}/pg_basebackup", "--pgdata", self.data, "--write-recovery-conf",
                      "--wal-method", "stream", "--checkpoint", "fast", "--no-sync", "--dbname",
                      f"postgresql://plackett@127.0.0.1:{primary.port}/?application_name=standby"])

    def back_up(self):
        """A copy of all that there is, in a folder of its own."""
        folder = f"{self.data}-copy"
        shutil.rmtree(folder, ignore_errors=True)
        run_as_owner([f"{PROGRAMS}/pg_basebackup", "--pgdata", folder, "--wal-method", "stream",
                      "--checkpoint", "fast", "--no-sync", "--dbname",
                      f"postgresql://plackett@127.0.0.1:{self.port}/"])
        return folder

    def restore(self, folder):
        """Puts what back_up() gave in place of its data."""
        self.kill()
        shutil.rmtree(self.data)
        os.rename(folder, self.data)
        self.start()

    def start(self, seconds=30):
        arguments = [f"{PROGRAMS}/postgres", "-D", self.data, "-k", self.folder, "-p", self.port]
        for name, value in SETTINGS.items():
            arguments += ["-c", f"{name}={value}"]
        self.process = processes.start(arguments, self.log, signal.SIGQUIT,
                                       **processes.unprivileged())
        processes.wait_until(lambda: not self.runs() or self.answers(), seconds,
                             "the start of PostgreSQL")
        if not self.runs():
            raise AssertionError(f"PostgreSQL does not start: {self.last_words()}")

    def last_words(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return "".join(file.readlines()[-12:])

    def runs(self):
        return self.process is not None and self.process.poll() is None

    def answers(self):
        asked = subprocess.run([f"{PROGRAMS}/pg_isready", "-q", "-U", "plackett", "-d", "postgres",
                                "-h", "127.0.0.1", "-p", str(self.port)], check=False)
        return asked.returncode == 0

    def kill(self):
        if self.runs():
            processes.kill_all(self.process)
        self.process = None

    def promote(self):
        run_as_owner([f"{PROGRAMS}/pg_ctl", "promote", "-w", "-D", self.data])

    def sql(self, text, database=DATABASE):
        """Rows as lists of texts."""
        done = subprocess.run(
            [f"{PROGRAMS}/psql", "-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1",
             f"postgresql://plackett@127.0.0.1:{self.port}/{database}?connect_timeout=5"],
            input=text, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{text}: {done.stderr}")
        return [line.split("\t") for line in done.stdout.splitlines()]

    def dump(self, path):
        with open(path, "wb") as file:
            subprocess.run([f"{PROGRAMS}/pg_dump", "-h", "127.0.0.1", "-p", str(self.port), "-U",
                            "plackett", DATABASE], stdout=file, check=False)

    def value(self, text):
        rows = self.sql(text)
        return rows[0][0] if rows else None


class Pair:
    """A primary and its synchronous standby, which may change places."""

    def __init__(self, folder):
        self.servers = [Server(os.path.join(folder, "a")), Server(os.path.join(folder, "b"))]
        self.primary, self.standby = self.servers
        self.primary.create()
        self.primary.start()
        self.primary.sql(f"CREATE DATABASE {DATABASE}", "postgres")
        self.add_standby()

    def add_standby(self):
        self.standby.kill()
        self.standby.copy(self.primary)
        self.standby.start()
        self.primary.sql("ALTER SYSTEM SET synchronous_standby_names = 'standby'", "postgres")
        self.primary.sql("SELECT pg_reload_conf()", "postgres")
        self.wait_for_standby()

    def wait_for_standby(self):
        processes.wait_until(self.is_synchronous, 30, "the synchronous standby", 0.1)

    def is_synchronous(self):
        return self.primary.sql("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync' AND "
                                "state = 'streaming'", "postgres") != []

    def fail_over(self):
        """The primary is gone for good, and the standby takes its place."""
        self.wait_for_standby()
        self.primary.kill()
        # Nobody is asked to confirm until there is another standby.
        path = os.path.join(self.standby.data, "postgresql.auto.conf")
        with open(path, "a", encoding="ascii") as file:
            file.write("synchronous_standby_names = ''\n")
        # It may be a copy of a primary that asked for one.
        self.standby.sql("SELECT pg_reload_conf()", "postgres")
        self.standby.promote()
        self.primary, self.standby = self.standby, self.primary

    def mend(self):
        """Whatever was killed runs again."""
        end = time.monotonic() + 60
        for server in (self.primary, self.standby):
            while not (server.runs() and server.answers()):
                if not server.runs():
                    try:
                        server.start()
                    except AssertionError:
                        if time.monotonic() > end:
                            raise
                time.sleep(0.1)
                assert time.monotonic() < end, server.last_words()

    def kill(self):
        for server in self.servers:
            server.kill()
