"""A `plackett serve` of its own for tests."""

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import time
import types


@contextlib.contextmanager
def running_service(*arguments, tokens=None):
    """Starts one on a free port; gives its url, process and folder. It must stop cleanly, unless the
    test killed it."""
    with tempfile.TemporaryDirectory() as folder:
        more = list(arguments)
        if tokens is not None:
            path = os.path.join(folder, "tokens")
            with open(path, "w") as file:
                file.write(tokens)
            more += ["--tokens", path]
        process = subprocess.Popen(
            [os.environ["PLACKETT_COMMAND"], "serve", "--db", os.path.join(folder, "x.db"), "--port",
             "0", *more],
            stdout=subprocess.PIPE, text=True)
        try:
            found = re.search(r"https?://\S+", process.stdout.readline())
            assert found, "the server did not start"
            yield types.SimpleNamespace(url=found.group(0), process=process, folder=folder)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                deadline = time.monotonic() + 30
                while process.poll() is None and time.monotonic() < deadline:
                    time.sleep(0.02)
                process.kill()
            process.stdout.close()
            code = process.wait()
    assert code in (0, -signal.SIGKILL), f"the server ended with {code}"
