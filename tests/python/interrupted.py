"""A script that is interrupted while it works."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from typing import NamedTuple


class Interrupted(NamedTuple):
    said: list  # the words of its first line after the signal
    took: float  # seconds until then
    rest: list  # the words after it
    errors: str
    code: int


def run_script(script):
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        # A shell's background job ignores Ctrl-C, and so would its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def interrupt(script, after_s):
    """Sends Ctrl-C so long after the script has said "ready"."""
    process = run_script(script)
    assert process.stdout.readline() == "ready\n"
    time.sleep(after_s)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    said = process.stdout.readline().split()
    took = time.monotonic() - sent
    rest, errors = process.communicate(timeout=60)
    return Interrupted(said, took, rest.split(), errors, process.returncode)
