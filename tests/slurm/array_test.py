#!/usr/bin/env python3
"""scripts/slurm/compare.sbatch under a real Slurm.

    tests/slurm/array_test.py PLACKETT SECONDS [SLURM]

Of an array of eight tasks two are killed and one is requeued half way. The killed ones are
submitted again, and then the folder holds the bytes that one process makes. It fails after
SECONDS. SLURM is where unpack_slurm put it; by default an installed one is used. Exit code 77 if
there is none.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from private_slurm import Installation, PrivateSlurm

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPT = os.path.join(ROOT, "scripts", "slurm", "compare.sbatch")
SHARDS = 8
KILLED = [3, 7]
REQUEUED = 5
SECONDS = float(sys.argv[2])  # for everything
SKIPPED = 77
SPEC = """\
datasets = ["synthetic"]
methods = ["pdgd", "dbgd"]
click-models = ["perfect", "informational"]
runs = 24
impressions = 10_000
"""
# They hold times, or nothing.
NOT_COMPARED = {"timings.jsonl", ".lock"}


def differences(one, other):
    """Names of files that are not the same in two results folders."""
    def contents(folder):
        found = {}
        for where, _, names in os.walk(folder):
            for name in set(names) - NOT_COMPARED:
                path = os.path.join(where, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, folder)] = file.read()
        return found
    left, right = contents(one), contents(other)
    return sorted(name for name in left.keys() | right.keys() if left.get(name) != right.get(name))


def wait_until(what, is_so, deadline):
    while not is_so():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {SECONDS} s: {what}")
        time.sleep(0.02)


class Array:
    """Submits tasks of one comparison."""

    def __init__(self, slurm, plackett, spec, out, deadline):
        self.slurm, self.plackett, self.spec, self.out = slurm, plackett, spec, out
        self.deadline = deadline

    def submit(self, tasks, **environment):
        return self.slurm.submit(f"--array={tasks}", "--cpus-per-task=1", SCRIPT, self.spec,
                                 self.out, PLACKETT=self.plackett, **environment)

    def runs_of(self, task):
        """How many runs a task has stored."""
        try:
            with open(os.path.join(self.out, "parts", f"{task}-of-{SHARDS}.jsonl")) as file:
                return max(0, len(file.readlines()) - 1)
        except FileNotFoundError:
            return 0

    def when_half_way(self, actions):
        """Calls each action as soon as its task has stored two runs, whichever is first."""
        left = dict(actions)
        def act():
            for task in [task for task in left if self.runs_of(task) >= 2]:
                left.pop(task)()
            return not left
        wait_until("the tasks store two runs", act, self.deadline)

    def kill(self, task):
        """Kills the plackett of a task, as running out of memory does."""
        name = os.path.basename(self.plackett)
        for process in self.slurm.processes(SLURM_ARRAY_TASK_ID=task):
            with open(f"/proc/{process}/comm") as file:
                if file.read().strip() == name:
                    os.kill(process, signal.SIGKILL)
                    return
        raise AssertionError(f"task {task} has no process {name}")

    def exit_codes(self, job, count):
        """Task -> exit code, when all `count` tasks have ended."""
        def ended():
            return [state for state, _ in self.slurm.tasks(job).values()
                    if state in ("COMPLETED", "FAILED")]
        wait_until(f"job {job} ends", lambda: len(ended()) == count, self.deadline)
        return {task: code for task, (_, code) in self.slurm.tasks(job).items()}

    def log(self, job, task):
        with open(os.path.join(self.slurm.folder, f"plackett-{job}_{task}.log")) as file:
            return file.read()


def expect(what, got, wanted):
    if got != wanted:
        raise AssertionError(f"{what}: {got}, expected {wanted}")


def run_with_failures(array):
    job = array.submit(f"1-{SHARDS}")
    array.when_half_way({
        **{task: lambda task=task: array.kill(task) for task in KILLED},
        REQUEUED: lambda: array.slurm.command("scontrol", "requeue", f"{job}_{REQUEUED}"),
    })
    expect("exit codes", array.exit_codes(job, SHARDS),
           {task: 137 if task in KILLED else 0 for task in range(1, SHARDS + 1)})
    expect("a stopped task's message", "the same command continues" in array.log(job, REQUEUED),
           True)
    if os.path.exists(os.path.join(array.out, "report.html")):
        raise AssertionError("a report of all runs, but two tasks were killed")


def submit_again(array):
    tasks = ",".join(map(str, KILLED))
    job = array.submit(tasks)
    expect("without SHARDS", array.exit_codes(job, len(KILLED)), {task: 2 for task in KILLED})
    expect("its message", "say of how many shards" in array.log(job, KILLED[0]), True)
    job = array.submit(tasks, SHARDS=str(SHARDS))
    expect("exit codes", array.exit_codes(job, len(KILLED)), {task: 0 for task in KILLED})


def check_differences_are_found(folder, scratch):
    """The comparison of two folders fails on a run that is missing or changed."""
    def changed(name, change):
        copy = os.path.join(scratch, name)
        shutil.copytree(folder, copy)
        path = os.path.join(copy, "runs.jsonl")
        with open(path) as file:
            lines = file.readlines()
        with open(path, "w") as file:
            file.writelines(change(lines))
        return differences(folder, copy)
    expect("differences after a missing run", changed("missing", lambda lines: lines[:-1]),
           ["runs.jsonl"])
    expect("differences after a changed run", changed("changed", lambda lines: [
        *lines[:-1], lines[-1].replace("1", "2", 1)]), ["runs.jsonl"])


def main():
    plackett = os.path.abspath(sys.argv[1])
    installation = Installation(sys.argv[3] if len(sys.argv) > 3 else "/")
    if installation.missing:
        print(f"slurm_array: skipped: there is no {installation.missing[0]}; scripts/setup --tests "
              "fetches Slurm")
        return SKIPPED
    # The clean-up below also happens when something ends this process.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("slurm_array: ended by SIGTERM"))
    deadline = time.monotonic() + SECONDS
    with tempfile.TemporaryDirectory(prefix="plackett_slurm_") as scratch:
        spec, alone, out, place = (os.path.join(scratch, name)
                                   for name in ("spec.toml", "alone", "out", "slurm"))
        os.chmod(scratch, 0o711)
        with open(spec, "w") as file:
            file.write(SPEC)
        subprocess.run([plackett, "compare", "--spec", spec, "--out", alone], check=True,
                       stdout=subprocess.DEVNULL, timeout=SECONDS)
        with PrivateSlurm(installation, place, cpus=SHARDS) as slurm:
            array = Array(slurm, plackett, spec, out, deadline)
            try:
                run_with_failures(array)
                submit_again(array)
            except Exception:
                print(slurm.logs())
                raise
        expect("differences from one process", differences(alone, out), [])
        check_differences_are_found(alone, scratch)
    return 0


if __name__ == "__main__":
    sys.exit(main())
