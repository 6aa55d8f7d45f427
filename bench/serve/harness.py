"""What the benchmarks of `plackett serve` share: a server, a model with stored items, and wrk."""
import json
import os
import random
import re
import signal
import subprocess
import sys
import urllib.request

ITEMS, FEATURES, MODEL = 100, 136, "load"
CONNECTIONS, WRK_THREADS = 32, 1


def call(base, method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(base + path, data=data, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        text = answer.read()
    return json.loads(text) if text else None


class Server:
    def __init__(self, command, folder, *options, db=None):
        self.db = db or os.path.join(folder, "load.db")
        self.process = subprocess.Popen(
            [command, "serve", "--db", self.db, "--port", "0", *options],
            stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        found = re.search(r"http://\S+", line)
        if not found:
            sys.exit("the server did not start: " + line)
        self.base = found.group(0)

    def resident_mb(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) / 1024

    def store_bytes(self):
        return os.path.getsize(self.db)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=120)
        if code != 0:
            sys.exit(f"the server ended with {code}")


def wrk(base, path, seconds, script, *arguments, connections=CONNECTIONS):
    os.sync()  # what earlier loads left for the disk is not this one's
    here = os.path.dirname(os.path.abspath(__file__))
    run = subprocess.run(
        ["wrk", "-t", str(WRK_THREADS), "-c", str(connections), "-d", f"{seconds}s",
         "-s", script, base + path, "--", *arguments],
        cwd=here, capture_output=True, text=True, check=True)
    sys.stderr.write(run.stderr)
    return json.loads(re.search(r"RESULT (.*)", run.stdout).group(1))


def made_up_rows():
    rng = random.Random(1)
    return [[round(rng.random(), 6) for _ in range(FEATURES)] for _ in range(ITEMS)]


def make_model(server, rows, **spec):
    """A model with the rows stored as items, and the body that ranks them all by id."""
    call(server.base, "PUT", f"/models/{MODEL}", {"features": FEATURES, **spec})
    call(server.base, "PUT", f"/models/{MODEL}/items",
         {"items": [{"id": f"item-{at}", "features": row} for at, row in enumerate(rows)]})
    return {"items": [f"item-{at}" for at in range(ITEMS)]}


def write_json(folder, name, document):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        json.dump(document, file)
    return path


def pause_ms(ranks_per_second):
    """How long each connection rests for so many ranks a second, feedback on top."""
    return str(CONNECTIONS * 1000 / (ranks_per_second * 1.1))
