"""A page's Python blocks, run one after another in one interpreter, as one script would be."""
import json
import os
import select
import subprocess

# Reads one block per line from stdin, runs it, and writes 0 (success) or 1 to the given descriptor.
DRIVER = """
import json, os, sys, traceback
commands, status = os.fdopen(0, "r"), int(sys.argv[1])
names = {"__name__": "__main__"}
for command in iter(commands.readline, ""):
    block = json.loads(command)
    code = b"0"
    try:
        exec(compile("\\n" * (block["line"] - 1) + block["text"], block["page"], "exec"), names)
    except BaseException:
        traceback.print_exc()
        code = b"1"
    sys.stdout.flush()
    sys.stderr.flush()
    os.write(status, code)
"""


class PythonBlocks:
    def __init__(self, python, folder, environment):
        self._status, theirs = os.pipe()
        log = os.path.join(folder, ".python.log")
        with open(log, "wb") as theirs_to_write:
            self._process = subprocess.Popen(
                [python, "-c", DRIVER, str(theirs)], cwd=folder, env=environment,
                stdin=subprocess.PIPE, stdout=theirs_to_write, stderr=theirs_to_write,
                pass_fds=[theirs])
        self._log = open(log, "rb", buffering=0)
        os.close(theirs)

    def run(self, page, block_line, text, seconds):
        """(success, output)."""
        command = json.dumps({"page": page, "line": block_line, "text": text}) + "\n"
        self._process.stdin.write(command.encode())
        self._process.stdin.flush()
        ready, _, _ = select.select([self._status], [], [], seconds)
        code = os.read(self._status, 1) if ready else b""
        printed = self._log.read().decode(errors="replace")
        if not ready:
            return False, printed + f"\nnot done after {seconds:.0f} s"
        return code == b"0", printed

    def end(self):
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._log.close()
        os.close(self._status)
