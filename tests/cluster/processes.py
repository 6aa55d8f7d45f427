"""Processes that end with the test, and what tests ask of the machine."""

import ctypes
import os
import pwd
import signal
import socket
import subprocess
import sys
import time

_LIBC = ctypes.CDLL(None)
_SET_DEATH_SIGNAL = 1  # prctl's PR_SET_PDEATHSIG


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def wait_until(holds, seconds=30.0, what="it", pause=0.02):
    """What `holds` gives, once that is true."""
    end = time.monotonic() + seconds
    while True:
        found = holds()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(pause)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def unprivileged():
    """Arguments of Popen: PostgreSQL does not run as root."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    skip("there is no user to run PostgreSQL as")


def give(path):
    """To the user that PostgreSQL runs as."""
    who = unprivileged()
    if who:
        os.chown(path, who["user"], who["group"])


def start(arguments, log, death=signal.SIGKILL, **more):
    """A process that ends with this one's main thread, which must be the one that calls."""
    with open(log, "ab") as output:
        return subprocess.Popen(
            [str(one) for one in arguments], stdin=subprocess.DEVNULL, stdout=output,
            stderr=subprocess.STDOUT, cwd="/",
            preexec_fn=lambda: _LIBC.prctl(_SET_DEATH_SIGNAL, death), **more)


def descendants(pid):
    found = []
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            children = [int(one) for one in file.read().split()]
    except OSError:
        return found
    for child in children:
        found += [child, *descendants(child)]
    return found


def kill_all(process):
    """kill -9 of a process and of all that it has started."""
    os.kill(process.pid, signal.SIGSTOP)  # it starts no other meanwhile
    children = descendants(process.pid)
    for pid in [process.pid, *children]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.wait()
    wait_until(lambda: not any(_runs(pid) for pid in children), 10, "the end of a killed process")


def _runs(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False
