"""Commands that take too long for a test: tried for a second or two.

plackett commands are run in a short form: compare with --dry-run, simulate with one run of ten
impressions, audit with five cases, serve until it listens; the others as they are. So unknown
options, methods and datasets and wrong spec files are found. Of any other command, the program and
the CMake preset that it names must exist.
"""
import dataclasses
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import threading

SHORTER = {
    "simulate": {"--runs": "1", "--impressions": "10"},
    "audit": {"--cases": "5"},
}
SEPARATORS = {"&&", "||", ";", "|"}
REDIRECTIONS = {"<", ">", ">>"}


class WrongCommand(Exception):
    """What is wrong with a command, for a person."""


def logical_lines(text):
    """(offset of the first line, line with its continuations), without comments and blank lines."""
    begin, parts = 0, []
    for offset, line in enumerate(text.split("\n")):
        if not parts:
            begin = offset
        if line.endswith("\\"):
            parts.append(line[:-1])
            continue
        parts.append(line)
        whole = " ".join(parts)
        parts = []
        if whole.strip() and not whole.lstrip().startswith("#"):
            yield begin, whole


@dataclasses.dataclass
class Place:
    root: str  # the repository
    folder: str  # where commands are run
    environment: dict
    tried: set = dataclasses.field(default_factory=set)  # successful commands, not tried again


def check_line(line, place, seconds):
    for words in _commands(line):
        while words and re.match(r"^\w+=", words[0]):
            words = words[1:]
        if not words:
            raise WrongCommand(f"no command in: {line}")
        if words[0] == "plackett":
            _try_plackett(words[1:], place, seconds)
        else:
            _look_up(words, place)


def _commands(line):
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    command = []
    for word in lexer:
        if word in SEPARATORS:
            yield command
            command = []
        else:
            command.append(word)
    yield command


def _look_up(words, place):
    program = words[0]
    built = re.match(r"^build/([\w-]+)/bin/([\w-]+)$", program)
    if built:
        _check_preset(built[1], place.root)
        if not _is_target(built[2], place.root):
            raise WrongCommand(f"{program}: no CMakeLists.txt has a target {built[2]}")
    elif "/" in program:
        if not os.access(os.path.join(place.folder, program), os.X_OK):
            raise WrongCommand(f"{program}: not there, or not executable")
    elif not shutil.which(program, path=place.environment["PATH"]):
        raise WrongCommand(f"{program}: no such command")
    if "--preset" in words[:-1]:
        _check_preset(words[words.index("--preset") + 1], place.root)


def _check_preset(name, root):
    with open(os.path.join(root, "CMakePresets.json")) as file:
        presets = json.load(file)["configurePresets"]
    if name not in [preset["name"] for preset in presets if not preset.get("hidden")]:
        raise WrongCommand(f"{name}: CMakePresets.json has no such preset")


def _is_target(name, root):
    for room in ("apps", "bench", "tests", "fuzz"):
        for where, _, files in os.walk(os.path.join(root, room)):
            if "CMakeLists.txt" in files:
                with open(os.path.join(where, "CMakeLists.txt")) as file:
                    if re.search(rf"\(\s*{re.escape(name)}\b", file.read()):
                        return True
    return False


def _try_plackett(words, place, seconds):
    command = words[0] if words else ""
    if command == "serve":
        _try_server(words, place, seconds)
        return
    if command == "compare" and "--dry-run" not in words:
        words = [*words, "--dry-run"]
    for option, value in SHORTER.get(command, {}).items():
        words = _with_option(words, option, value)
    shell = " ".join(word if word in REDIRECTIONS else shlex.quote(word)
                     for word in ["plackett", *words])
    if shell in place.tried:
        return
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", shell], cwd=place.folder,
                          env=place.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=seconds)
    if done.returncode != 0:
        raise WrongCommand(f"{shell}: exit code {done.returncode}\n{done.stdout}")
    place.tried.add(shell)


def _with_option(words, option, value):
    if option not in words:
        return [*words, option, value]
    at = words.index(option)
    return [*words[:at + 1], value, *words[at + 2:]]


def _try_server(words, place, seconds):
    words = _with_option(words, "--port", "0")
    with subprocess.Popen(["plackett", *words], cwd=place.folder, env=place.environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        late = threading.Timer(seconds, server.kill)
        late.start()
        line = server.stdout.readline()
        server.send_signal(signal.SIGTERM)
        code = server.wait()
        late.cancel()
    if code != 0 or "serves" not in line:
        raise WrongCommand(f"plackett {shlex.join(words)}: exit code {code}\n{line}")
