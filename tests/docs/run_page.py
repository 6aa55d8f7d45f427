#!/usr/bin/env python3
"""Runs every command, script and program that a page shows.

    tests/docs/run_page.py --prefix PREFIX [--python PYTHON] PAGE...

PREFIX is where plackett is installed; pages see it as ~/.local. They find the command and the
Python module there, as on Debian; for the C++ library they must export its location, and exports
hold for the blocks after them. Each page is run in its own temporary folder, which is also its
home, with copies of the files and folders of the repository's root that it names and with the data
that it names (given_data.py). page_blocks.py says what is done with a block. Port 8080 in a page is
replaced by a free one, so that pages can run in parallel. Exit code 1 if anything fails, 77 if a
page needs a program that is not installed.
"""
import argparse
import glob
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.error
import urllib.request

import given_data
import long_block
from page_blocks import read_blocks
from python_blocks import PythonBlocks

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PORT = ":8080"
START_SECONDS = 60
STOP_SECONDS = 15
SKIPPED = 77
# Ignores a proxy that the environment sets: requests go to this machine.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
LOCAL = "localhost,127.0.0.1"
NOT_COPIED = {"build", "results", "site"}
TOOLS = ".tools"  # in a page's folder
# Removed from the environment: readers have only what the page tells them to set.
FOR_THE_PAGE_TO_SAY = ("LD_LIBRARY_PATH", "PKG_CONFIG_PATH", "CMAKE_PREFIX_PATH")
# Runs $1, then writes the environment to the file $2.
BLOCK = 'eval "$1"; env -0 >"$2"'
# Variables that a shell sets by itself.
OF_THE_SHELL = {"_", "PWD", "OLDPWD", "SHLVL"}


class PageError(Exception):
    pass


class PageSkipped(Exception):
    pass


class Page:
    """One page being run. All its processes have ended when `end` returns."""

    def __init__(self, path, options, folder):
        self.path, self.options, self.folder = path, options, folder
        self.deadline = time.monotonic() + options.seconds
        self.environment = _environment(options, folder)
        self.port = _free_port()
        self.server = self.python = None
        self.printed = None  # by the previous block
        self.fused = None  # whether plackett's arithmetic here is the pages' (AVX)
        self.long_place = long_block.Place(options.root, folder, self.environment)

    def run(self, blocks):
        for block in blocks:
            for line in self._errors_of(block):
                raise PageError(f"{self.path}:{line}")

    def end(self):
        if self.python:
            self.python.end()
        self._stop_server()

    def _comparable(self, expected, printed):
        """Both texts; without digits if this machine has neither AVX2 nor AVX-512, with which the
        pages' numbers were made, and so rounds differently."""
        if self.fused is None:
            shown = subprocess.run(["plackett", "--version"], env=self.environment,
                                   capture_output=True, text=True, check=False).stdout
            self.fused = "avx" in shown
        if self.fused:
            return expected, printed
        return re.sub(r"\d+", "#", expected), re.sub(r"\d+", "#", printed)

    def _errors_of(self, block):
        where = block.line
        text = block.text.replace(PORT, f":{self.port}")
        if block.language == "console":
            if self.printed is None:
                yield f"{where}: output of nothing; a console block follows one that is run"
            elif wrong := _first_not_in(*self._comparable(text, self.printed)):
                yield f"{where}: not printed: {wrong}\n--- printed was\n{self.printed}"
            return
        if block.language == "toml":
            try:
                tomllib.loads(text)
            except tomllib.TOMLDecodeError as error:
                yield f"{where}: {error}"
        if block.language == "json":
            try:
                json.loads(text)
            except json.JSONDecodeError as error:
                yield f"{where}: {error}"
        if block.title is not None:
            with open(os.path.join(self.folder, block.title), "w") as file:
                file.write(text)
        elif block.language == "python":
            self.python = self.python or PythonBlocks(self.options.python, self.folder,
                                                      self.environment)
            good, self.printed = self.python.run(self.path, where, text, self._seconds_left())
            if not good:
                yield f"{where}: this script failed:\n{text}\n{self.printed}"
        elif block.language == "cpp":
            yield from self._cpp(where, text)
        elif block.language == "sh" and block.way == "server":
            for offset, line in long_block.logical_lines(text):
                self._stop_server()
                self._start_server(line, where + offset)
            self.printed = None
        elif block.language == "sh" and block.way == "long":
            yield from self._long(block, text)
            self.printed = None
        elif block.language == "sh":
            yield from self._bash(where, text)

    def _bash(self, where, text):
        left = os.path.join(self.folder, TOOLS, "environment")
        code, self.printed = self._run(["bash", "-euo", "pipefail", "-c", BLOCK, "bash", text, left])
        if code != 0:
            yield f"{where}: exit code {code}:\n{text}\n{self.printed}"
            return
        with open(left) as file:
            after = dict(entry.split("=", 1) for entry in file.read().split("\0") if entry)
        self.environment.update({name: value for name, value in after.items()
                                 if name not in OF_THE_SHELL})

    def _long(self, block, text):
        if stand_in := block.keys.get("stand-in"):
            other, known = stand_in.split("=", 1)
            text = text.replace(other, known)
        for offset, line in long_block.logical_lines(text):
            try:
                long_block.check_line(line, self.long_place, self._seconds_left())
            except long_block.WrongCommand as error:
                yield f"{block.line + offset}: {error}"

    def _cpp(self, where, text):
        if not re.search(r"\bmain\s*\(", text):
            if not _is_a_test_file(text):
                yield f"{where}: no main(), and not the text of a .cc file under tests/"
            return
        program = os.path.join(self.folder, f"block_{where}")
        with open(program + ".cc", "w") as file:
            file.write(text)
        compile_it = ("flags=$(pkg-config --cflags --libs plackett)\n"
                      f'g++ "{program}.cc" -o "{program}" $flags')
        code, printed = self._run(["bash", "-euo", "pipefail", "-c", compile_it])
        if code != 0:
            yield f"{where}: does not compile:\n{printed}"
            return
        code, self.printed = self._run([program])
        if code != 0:
            yield f"{where}: exit code {code}:\n{self.printed}"

    def _run(self, command):
        """(exit code, output). Kills the command and its children when the page's time is up."""
        process = subprocess.Popen(command, cwd=self.folder, env=self.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            printed, _ = process.communicate(timeout=self._seconds_left())
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            printed, _ = process.communicate()
            printed += f"\nnot done after {self.options.seconds} s".encode()
        return process.returncode, printed.decode(errors="replace")

    def _start_server(self, line, where):
        if not line.startswith("plackett serve"):
            raise PageError(f"{self.path}:{where}: a server's line starts with plackett serve")
        self.server = subprocess.Popen(
            ["bash", "-c", f"exec {_without_comment(line)} --port {self.port}"], cwd=self.folder,
            env=self.environment, stdin=subprocess.DEVNULL)
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until and self.server.poll() is None:
            try:
                DIRECT.open(f"http://127.0.0.1:{self.port}/health", timeout=1).close()
                return
            except (urllib.error.URLError, OSError):
                time.sleep(0.02)
        if self.server.poll() is not None:
            self.server = None  # it exited
        raise PageError(f"{self.path}:{where}: the server does not answer: {line}")

    def _stop_server(self):
        server, self.server = self.server, None
        if server is None:
            return
        server.send_signal(signal.SIGTERM)
        try:
            code = server.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
            raise PageError(f"{self.path}: the server did not stop") from None
        if code != 0:
            raise PageError(f"{self.path}: the server ended with {code}")

    def _seconds_left(self):
        return max(0.1, self.deadline - time.monotonic())


def _environment(options, folder):
    prefix = os.path.abspath(options.prefix)
    os.symlink(prefix, os.path.join(folder, ".local"))
    # The command is linked, so that CMake can't find the library beside a bin/ in PATH.
    tools = os.path.join(folder, TOOLS)
    os.mkdir(tools)
    os.symlink(options.python, os.path.join(tools, "python3"))
    os.symlink(os.path.join(prefix, "bin", "plackett"), os.path.join(tools, "plackett"))
    modules = glob.glob(os.path.join(prefix, "lib", "python3*", "*-packages"))
    before = {
        "PATH": [tools],
        "PYTHONPATH": modules or [os.path.join(prefix, "lib", "python3.11", "site-packages")],
    }
    environment = dict(os.environ, HOME=folder, LC_ALL="C.UTF-8", PYTHONDONTWRITEBYTECODE="1",
                       no_proxy=LOCAL, NO_PROXY=LOCAL)
    for name in FOR_THE_PAGE_TO_SAY:
        environment.pop(name, None)
    for name, places in before.items():
        there = [environment[name]] if environment.get(name) else []
        environment[name] = ":".join(places + there)
    return environment


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _without_comment(line):
    return re.sub(r"\s#.*$", "", line)


def _first_not_in(expected, printed):
    """The first piece of `expected`, cut at `...`, that is not in `printed` after the one before.

    Whitespace is ignored. None if all pieces are found.
    """
    rest = "".join(printed.split())
    for piece in expected.split("..."):
        packed = "".join(piece.split())
        at = rest.find(packed)
        if at < 0:
            return _first_missing_line(piece, rest)
        rest = rest[at + len(packed):]
    return None


def _first_missing_line(piece, rest):
    for line in piece.split("\n"):
        if "".join(line.split()) not in rest:
            return line
    return piece


def _is_a_test_file(text):
    for path in glob.glob(os.path.join(ROOT, "tests", "**", "*.cc"), recursive=True):
        with open(path) as file:
            if file.read() == text:
                return True
    return False


def _copy_root(root, folder, text):
    """Copies what `text` names in the root, so that no page can change the repository."""
    for name in os.listdir(root):
        if name in NOT_COPIED or not re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text):
            continue
        there, here = os.path.join(root, name), os.path.join(folder, name)
        if os.path.isdir(there):
            shutil.copytree(there, here, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(there, here)


def _missing_tools(blocks):
    """Programs that the blocks need and that are not installed."""
    commands = "".join(block.text for block in blocks if block.language == "sh")
    needed = [tool for tool in ("curl", "pkg-config") if re.search(rf"\b{tool} ", commands)]
    if any(block.language == "cpp" and block.title is None and "main" in block.text
           for block in blocks):
        needed.append("pkg-config")
    return [tool for tool in needed if not shutil.which(tool)]


def run_page(path, options):
    """Raises PageError with all errors in the page's blocks, or else its first failure."""
    with open(path) as file:
        blocks, errors = read_blocks(file.read())
    if errors:
        raise PageError("\n".join(f"{path}:{error}" for error in errors))
    if missing := _missing_tools(blocks):
        raise PageSkipped(f"{path}: skipped: {missing[0]} is not installed")
    with tempfile.TemporaryDirectory(prefix="plackett_page_") as folder:
        page = Page(path, options, folder)
        used = "".join(block.text for block in blocks if block.is_run or block.title)
        _copy_root(options.root, folder, used)
        given_data.give(folder, used, page.environment)
        try:
            page.run(blocks)
        finally:
            page.end()
    return len(blocks)


def parse_options(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", required=True)
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--root", default=ROOT, help="the repository")
    parser.add_argument("--seconds", type=float, default=120, help="time limit per page")
    parser.add_argument("pages", nargs="+", metavar="PAGE")
    return parser.parse_args(arguments)


def main():
    options = parse_options(sys.argv[1:])
    if not shutil.which(os.path.join(options.prefix, "bin", "plackett")):
        sys.exit(f"{options.prefix}: no bin/plackett there")
    failed = skipped = 0
    for path in options.pages:
        begin = time.monotonic()
        try:
            count = run_page(path, options)
            print(f"{path}: {count} blocks, {time.monotonic() - begin:.1f} s", flush=True)
        except PageError as error:
            print(error, flush=True)
            failed += 1
        except PageSkipped as skip:
            print(skip, flush=True)
            skipped += 1
    return 1 if failed else SKIPPED if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
