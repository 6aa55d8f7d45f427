"""Runs a test against a server of its own.

  with_server.py PLACKETT TEST [ARGUMENT...]

Starts `PLACKETT serve --demo` on a free port, calls TEST, by Python or, if its name ends with .mjs,
by Node, with the address before the arguments, and ends with the test's exit code; with 1 where the
server does not stop cleanly, with 77 where there is no Node.
"""
import re
import shutil
import signal
import subprocess
import sys

STOP_SECONDS = 30


def main():
    command, test, *arguments = sys.argv[1:]
    runner = shutil.which("node") if test.endswith(".mjs") else sys.executable
    if runner is None:
        print("node is missing (Debian: nodejs)")
        sys.exit(77)
    server = subprocess.Popen([command, "serve", "--demo", "--port", "0"], stdout=subprocess.PIPE,
                              text=True)
    try:
        line = server.stdout.readline()
        address = re.search(r"http://\S+", line)
        if not address:
            sys.exit(f"the server did not start: {line}")
        code = subprocess.run([runner, test, address.group(0), *arguments]).returncode
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            stopped = server.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            sys.exit("the server did not stop")
    if stopped != 0:
        sys.exit(f"the server ended with {stopped}")
    sys.exit(code)


if __name__ == "__main__":
    main()
