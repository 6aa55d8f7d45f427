"""Runs a test against a server of its own.

  with_server.py PLACKETT TEST.py [ARGUMENT...]

Starts `PLACKETT serve --demo` on a free port, calls TEST.py with its address before the arguments,
and ends with the test's exit code; with 1 where the server does not stop cleanly.
"""
import re
import signal
import subprocess
import sys

STOP_SECONDS = 30


def main():
    command, test, *arguments = sys.argv[1:]
    server = subprocess.Popen([command, "serve", "--demo", "--port", "0"], stdout=subprocess.PIPE,
                              text=True)
    try:
        line = server.stdout.readline()
        address = re.search(r"http://\S+", line)
        if not address:
            sys.exit(f"the server did not start: {line}")
        code = subprocess.run([sys.executable, test, address.group(0), *arguments]).returncode
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
