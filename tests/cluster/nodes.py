"""Processes of `plackett serve` over one database, each through proxies of its own."""

import http.client
import json
import os
import signal
import time

import database
import processes
import proxy

COMMAND = os.environ.get("PLACKETT_COMMAND", os.path.join(
    os.path.dirname(__file__), "..", "..", "build", "dev", "bin", "plackett"))


def ask(port, method, path, body=None, seconds=20.0):
    """Status, headers, and the body as bytes. A body that is not bytes is sent as JSON."""
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request(method, path, body)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


class Node:
    def __init__(self, name, folder, loop, servers):
        self.name = name
        self.port = processes.free_port()
        self.log = os.path.join(folder, f"{name}.log")
        self.proxies = [proxy.Proxy(loop, server.port) for server in servers]
        self.process = None
        self.options = []  # of `plackett serve`, besides the usual
        self.pauses = []  # spans in which it did not run, or was not there

    def url(self):
        hosts = ",".join(f"127.0.0.1:{one.port}" for one in self.proxies)
        return (f"postgresql://plackett@{hosts}/{database.DATABASE}"
                "?target_session_attrs=read-write")

    def start(self):
        assert not self.runs()
        self.process = processes.start(
            [COMMAND, "serve", "--db", self.url(), "--port", self.port, "--snapshot-every", "500",
             "--node-name", self.name, *self.options],
            self.log)

    def runs(self):
        return self.process is not None and self.process.poll() is None

    def is_ready(self):
        try:
            return ask(self.port, "GET", "/ready", seconds=3)[0] == 200
        except OSError:
            return False

    def start_and_wait(self, seconds=40):
        """Starts it, again if the database was not there."""
        end = time.monotonic() + seconds
        while not self.is_ready():
            if not self.runs():
                self.start()
            assert time.monotonic() < end, f"{self.name} does not get ready; see {self.log}"
            time.sleep(0.05)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def terminate(self, seconds=30):
        """A clean stop; how long that took."""
        start = time.monotonic()
        self.process.terminate()
        code = self.process.wait(seconds)
        assert code == 0, f"{self.name} ended with {code}"
        return time.monotonic() - start

    def pause(self):
        os.kill(self.process.pid, signal.SIGSTOP)
        self.pauses.append([time.monotonic(), float("inf")])

    def resume(self):
        os.kill(self.process.pid, signal.SIGCONT)
        self.pauses[-1][1] = time.monotonic()

    def was_paused(self, start, end):
        return any(start < until and since < end for since, until in self.pauses)

    def get(self, path, seconds=20.0):
        status, _, body = ask(self.port, "GET", path, seconds=seconds)
        assert status == 200, f"{path}: {status} {body!r}"
        return body

    def version(self, model, seconds=20.0):
        return json.loads(self.get(f"/models/{model}", seconds))["version"]

    def owns(self, local_port):
        """Whether a connection that the server sees from this port is this node's."""
        return any(local_port in one.upstream for one in self.proxies)
