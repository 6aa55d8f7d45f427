"""Nodes, database and network fail under load: nothing that was acknowledged is lost or doubled,
and all nodes end with the bits that a replay of the store gives.

PLACKETT_FAULTS: how many faults; PLACKETT_SEED: which; PLACKETT_KINDS: only these kinds, with commas
between. PLACKETT_KEEP: leaves the folder behind."""

import collections
import contextlib
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import cluster
import database
import nodes
import processes
import traffic

DISK_BYTES = 1 << 30
MANY = 100  # faults from which on some are long
BEYOND_TIMEOUTS = 25.0  # seconds; connections have a tcp_user_timeout of 20


class Faults:
    """Each method is a kind of fault: it does harm, undoes it, and gives a word about it."""

    def __init__(self, cluster_, rng, disk, long):
        self.cluster = cluster_
        self.random = rng
        self.left_out = {}  # kinds, and why they can't be had
        if disk is None:
            self.left_out["full_disk"] = "no file system of its own"
        if not long:
            self.left_out["pause_leader_beyond_timeouts"] = f"for {MANY} faults or more"
        self.disk = disk  # the databases' own

    def kinds(self):
        every = [name for name in dir(self) if not name.startswith("_") and
                 callable(getattr(self, name)) and name != "kinds"]
        wanted = os.environ.get("PLACKETT_KINDS", ",".join(every)).split(",")
        unknown = ", ".join(sorted(set(wanted) - set(every)))
        assert not unknown, f"PLACKETT_KINDS: no kind of fault is named {unknown}"
        kinds = [name for name in every if name in wanted and name not in self.left_out]
        assert kinds, f"PLACKETT_KINDS: none of them can be had here: {self.left_out}"
        return kinds

    def _node(self):
        return self.random.choice(self.cluster.nodes)

    def _model(self):
        return self.random.choice(traffic.MODELS)

    def kill_node(self):
        node = self._node()
        node.kill()
        time.sleep(self.random.uniform(0, 1))
        node.start()
        return node.name

    def _after_end(self, model, end, times):
        node = self.cluster.leader(model)
        epoch = self.cluster.lead(model)[1]
        start = time.monotonic()
        end(node)
        others = [one for one in self.cluster.nodes if one is not node]
        seconds = self.cluster.time_to_learn(model, epoch, start, others)
        times.append(seconds)
        node.start()
        return f"{node.name} leads {model}: {seconds:.2f} s until another learns"

    def kill_leader(self):
        return self._after_end(self._model(), nodes.Node.kill, self.cluster.take_overs)

    def stop_leader(self):
        return self._after_end(self._model(), nodes.Node.terminate, self.cluster.stops)

    def _pause(self, node, seconds=None):
        seconds = seconds or self.random.uniform(5, 8)
        node.pause()
        time.sleep(seconds)
        node.resume()
        return f"{node.name} for {seconds:.1f} s"

    def pause_node(self):
        return self._pause(self._node())

    def pause_leader(self):
        return self._pause(self.cluster.leader(self._model()))

    def pause_leader_beyond_timeouts(self):
        return self._pause(self.cluster.leader(self._model()), BEYOND_TIMEOUTS)

    def kill_database(self):
        pair = self.cluster.pair
        server = pair.primary
        server.kill()
        start = time.monotonic()
        node = self._node()
        time.sleep(self.random.uniform(0.2, 2))
        processes.wait_until(lambda: not node.is_ready(), 8, f"{node.name} is not ready any more")
        seconds = time.monotonic() - start
        server.start()
        return f"{node.name} was not ready {seconds:.1f} s later"

    def kill_standby(self):
        """All commits wait until it is back."""
        server = self.cluster.pair.standby
        server.kill()
        time.sleep(self.random.uniform(0.5, 3))
        server.start()
        return ""

    def fail_over(self):
        pair = self.cluster.pair
        if not pair.is_synchronous():
            pair.add_standby()
        pair.fail_over()
        start = time.monotonic()
        self.cluster.wait_until_well()
        seconds = time.monotonic() - start
        pair.add_standby()
        return f"to host {pair.servers.index(pair.primary) + 1}: {seconds:.1f} s until all learn"

    def cut(self):
        node = self._node()
        for _ in range(self.random.randint(1, 3)):
            for one in node.proxies:
                one.cut()
            time.sleep(self.random.uniform(0, 0.5))
        return node.name

    def cut_all(self):
        for node in self.cluster.nodes:
            for one in node.proxies:
                one.cut()
        return ""

    def partition(self):
        node = self._node()
        seconds = self.random.uniform(1, 6)
        for one in node.proxies:
            one.cut(refuse=True)
        time.sleep(seconds)
        for one in node.proxies:
            one.mend()
        return f"{node.name} for {seconds:.1f} s"

    def half_open(self):
        node = self._node()
        seconds = self.random.uniform(1, 8)
        for one in node.proxies:
            one.make_deaf()
        time.sleep(seconds)
        for one in node.proxies:
            one.mend()
        return f"{node.name} for {seconds:.1f} s"

    def delay(self):
        node = self._node()
        for one in node.proxies:
            one.slow_down(self.random.uniform(0.02, 0.4))
        time.sleep(self.random.uniform(1, 4))
        for one in node.proxies:
            one.mend()
        return node.name

    def full_disk(self):
        path = os.path.join(self.disk, "ballast")
        until = time.monotonic() + self.random.uniform(2, 4)
        try:
            with open(path, "wb") as file:
                while time.monotonic() < until:
                    left = os.statvfs(self.disk)
                    size = left.f_bavail * left.f_frsize
                    with contextlib.suppress(OSError):  # others write, too
                        if size > 0:
                            os.posix_fallocate(file.fileno(), os.fstat(file.fileno()).st_size, size)
                    time.sleep(0.05)
        finally:
            os.remove(path)
        self.cluster.pair.mend()
        return ""


def chosen(kinds, count, rng):
    """Every kind before any comes again."""
    faults = []
    while len(faults) < count:
        faults += rng.sample(kinds, len(kinds))
    return faults[:count]


def run(folder, disk, count, seed):
    rng = random.Random(seed)
    print(f"{count} faults, seed {seed}", flush=True)
    begun = time.monotonic()
    running = cluster.Cluster(folder)
    done = collections.Counter()
    try:
        faults = Faults(running, rng, disk, count >= MANY)
        running.wait_until_well()
        plan = chosen(faults.kinds(), count, rng)
        left_out = faults.left_out | {kind: f"{count} faults are too few" for kind in
                                      faults.kinds() if kind not in plan}
        for kind, why in sorted(left_out.items()):
            print(f"left out: {kind}: {why}", flush=True)
        for kind in plan:
            start = time.monotonic()
            word = getattr(faults, kind)()
            over = time.monotonic()
            running.wait_until_well()
            done[kind] += 1
            print(f"{start - begun:7.1f} s  {kind} {word}; well {time.monotonic() - over:.1f} s "
                  f"later, {len(running.ledger.ranks)} lists", flush=True)
            for _ in range(2):
                running.measure_spread(rng.choice(traffic.MODELS))
            assert not running.ledger.wrong, running.ledger.wrong[:5]
        running.stop_clients()
        exported, versions = running.settle()
        wrong = running.faults_of_store() + running.faults_of_models(exported)
        running.stop()
        if wrong:
            running.pair.primary.dump(os.path.join(folder, "store.sql"))
        else:
            wrong += planted(running, exported)
        report(running, done, versions, time.monotonic() - begun)
        return wrong + limits(running) + running.ledger.wrong + running.ledger.slow
    finally:
        running.kill()


def planted(running, exported):
    """Whether the checks can fail."""
    primary = running.pair.primary
    model, name = next(one for one in running.ledger.ranks if one[1].startswith("i-"))
    event = min(running.ledger.acknowledged())[1]
    for harm, word in {
        f"DELETE FROM impressions WHERE id = (SELECT (id << 40) + {name[2:]} FROM models WHERE "
        f"name = '{model}')": "acknowledged lists are lost",
        f"DELETE FROM events WHERE event_id = '{event}'": "acknowledged events are lost",
        "INSERT INTO log(seq, model, kind, argument, at) SELECT max(seq) + 1, max(model), 1, "
        "(SELECT argument FROM log WHERE kind = 1 ORDER BY seq LIMIT 1), 0 FROM log":
            "lists are in the log twice",
        "DELETE FROM log WHERE seq = (SELECT seq FROM log WHERE kind IN (1, 2) ORDER BY seq "
        "OFFSET 9 LIMIT 1)": "closed lists are not in the log",
    }.items():
        primary.sql(harm)
        found = running.faults_of_store()
        if not any(word in one for one in found):
            return [f"the checks did not find a planted fault: {word}"]
    if not running.faults_of_models(exported):
        return ["the checks did not find that the replay differs"]
    return []


def report(running, done, versions, seconds):
    ledger = running.ledger
    acknowledged = ledger.acknowledged()
    print(f"{sum(done.values())} faults in {seconds:.0f} s: "
          + ", ".join(f"{count} {kind}" for kind, count in sorted(done.items())))
    print(f"acknowledged: {len(ledger.ranks)} lists, {len(acknowledged)} events; "
          f"{len(ledger.events) - len(acknowledged)} events were never acknowledged; "
          f"refused {dict(ledger.refused)}, no answer {dict(ledger.unknown)}")
    print(f"versions {versions}")
    print(f"take-overs after a kill: {cluster.summary(running.take_overs)}")
    print(f"take-overs after a clean stop: {cluster.summary(running.stops)}")
    print(f"a version on all nodes: {cluster.summary(running.spreads)}")
    print(f"feedback: {cluster.summary(ledger.seconds)}", flush=True)


def limits(running):
    """What the run did not reach, as texts."""
    wrong = []
    if running.take_overs and max(running.take_overs) > 5:
        wrong.append(f"a take-over took {max(running.take_overs):.1f} s")
    if running.spreads and statistics.median(running.spreads) > 0.1:
        wrong.append(f"a version took {statistics.median(running.spreads):.3f} s to all nodes")
    return wrong


def with_own_mounts():
    """Runs this program again where its mounts are seen by nobody else, and end with it."""
    if os.geteuid() != 0 or "PLACKETT_OWN_MOUNTS" in os.environ or not shutil.which("unshare"):
        return
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True,
                      check=False).returncode == 0:
        os.environ["PLACKETT_OWN_MOUNTS"] = "1"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])


def mount(folder):
    """A small file system; None, with a reason, if that is not allowed."""
    if "PLACKETT_OWN_MOUNTS" not in os.environ:
        print("no full disk: a file system of its own needs root")
        return None
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES},mode=755", "tmpfs",
                           folder], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return folder
    print(f"no full disk: {done.stderr.strip()}")
    return None


def main():
    if database.PROGRAMS is None:
        processes.skip(database.MISSING)
    with_own_mounts()
    count = int(os.environ.get("PLACKETT_FAULTS", "12"))
    seed = int(os.environ.get("PLACKETT_SEED", str(random.randrange(1 << 32))))
    folder = tempfile.mkdtemp(prefix="plackett-cluster-")
    os.chmod(folder, 0o755)
    disk = os.path.join(folder, "disk")
    os.mkdir(disk)
    processes.give(disk)
    mounted = mount(disk)
    processes.give(disk)
    keep = "PLACKETT_KEEP" in os.environ
    try:
        wrong = run(disk, mounted, count, seed)
        for one in wrong:
            print(f"WRONG: {one}")
        keep = keep or bool(wrong)
        return 1 if wrong else 0
    except BaseException:
        keep = True
        raise
    finally:
        if keep:
            shutil.copytree(disk, os.path.join(folder, "kept"), dirs_exist_ok=True,
                            ignore=shutil.ignore_patterns("data", ".s.*", "ballast"))
            print(f"logs: {folder}/kept")
        if mounted:
            subprocess.run(["umount", "-l", disk], check=False)
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
