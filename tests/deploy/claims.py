"""What the tests of deploy/ share: a test is a function whose name is a claim."""

import contextlib
import os
import re
import socket
import subprocess
import sys
import time
import traceback
from pathlib import Path

ROOT = Path(os.environ["PLACKETT_SOURCE_DIR"])
COMMAND = os.environ["PLACKETT_COMMAND"]
DEPLOY = ROOT / "deploy"


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def run_claims(module):
    """Calls every function of the module whose name starts with test_; the exit code."""
    failed = 0
    claims = [name for name in vars(module) if name.startswith("test_")]
    for name in claims:
        try:
            getattr(module, name)()
        except Exception:
            failed += 1
            print(f"failed: {name}")
            traceback.print_exc(file=sys.stdout)
    print(f"{len(claims) - failed} of {len(claims)} passed")
    return 1 if failed else 0


def known_options(subcommand):
    """The options that --help lists."""
    shown = subprocess.run([COMMAND, subcommand, "--help"], capture_output=True, text=True, check=True)
    return set(re.findall(r"(?m)^  (--[a-z-]+)", shown.stdout))


def check_arguments(subcommand, arguments):
    """That these are options of the subcommand."""
    unknown = {word for word in arguments if word.startswith("--")} - known_options(subcommand)
    assert not unknown, f"unknown options: {unknown}"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(holds, seconds=20):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def listens(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False
