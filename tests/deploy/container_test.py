"""deploy/container: what the Containerfile starts exists, and its health check tells."""

import json
import os
import re
import subprocess
import sys
import tempfile

from claims import COMMAND, DEPLOY, ROOT, check_arguments, run_claims
from service import running_service

FILE = DEPLOY / "container" / "Containerfile"


def instructions():
    """[(instruction, rest)], with lines joined."""
    text = re.sub(r"(?m)^\s*#.*\n", "", FILE.read_text())
    text = text.replace("\\\n", " ")
    return [tuple(line.split(None, 1)) for line in text.splitlines() if line.strip()]


def only(name):
    (found,) = [rest for instruction, rest in instructions() if instruction == name]
    return found


def test_it_starts_a_command_that_exists():
    program, subcommand, *arguments = json.loads(only("ENTRYPOINT"))
    assert (program, subcommand) == ("plackett", "serve")
    check_arguments("serve", arguments + json.loads(only("CMD")))
    assert arguments[arguments.index("--port") + 1] == only("EXPOSE").strip()
    assert arguments[arguments.index("--db") + 1].startswith(only("VOLUME").strip() + "/")


def test_it_is_not_open_by_mistake():
    """Without the file of tokens it does not start."""
    arguments = json.loads(only("CMD"))
    assert arguments[0] == "--tokens"
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([COMMAND, "serve", "--db", f"{folder}/x.db", "--port", "0", "--tokens",
                               f"{folder}/none"], capture_output=True, text=True)
        assert done.returncode == 2 and "none: can't open" in done.stderr


def test_tokens_are_made_and_those_of_the_example_refused():
    made = subprocess.run([DEPLOY / "make_tokens"], capture_output=True, text=True, check=True).stdout
    roles = [line.split()[:-1] for line in made.splitlines() if line and not line.startswith("#")]
    assert roles == [["admin"], ["feedback", "shop"], ["read"]]
    with running_service(tokens=made):
        pass
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([COMMAND, "serve", "--db", f"{folder}/x.db", "--port", "0", "--tokens",
                               DEPLOY / "tokens.example"], capture_output=True, text=True)
        assert done.returncode == 2 and "make your own: deploy/make_tokens" in done.stderr, done.stderr


def test_it_runs_as_nobody_in_particular():
    user, group = only("USER").split(":")
    assert int(user) > 1000 and int(group) > 1000
    assert f"install -d -o {user} -g {group} -m 0700 {only('VOLUME').strip()}" in FILE.read_text()


def test_the_health_check_tells():
    check = json.loads(only("HEALTHCHECK").split("CMD", 1)[1])
    with running_service("--host", "0.0.0.0", tokens="admin secret\n") as service:
        port = service.url.rsplit(":", 1)[1]
        here = [word.replace("8080", port) for word in check]
        assert subprocess.run(here, timeout=10).returncode == 0
        service.process.terminate()
        service.process.wait()
        assert subprocess.run(here, timeout=10, stderr=subprocess.DEVNULL).returncode != 0


def test_what_it_copies_is_there():
    ignored = (DEPLOY / "container" / "Containerfile.dockerignore").read_text().split()
    for instruction, rest in instructions():
        if instruction != "COPY" or rest.startswith("--from"):
            continue
        for source in rest.split()[:-1]:
            assert (ROOT / source).exists(), source
            assert source.split("/")[0] not in ignored
    # The build reads these.
    for needed in ("docs/openapi.json", "web", "src", "include", "cmake", "CMakePresets.json"):
        assert not any(needed == one or needed.startswith(one + "/") for one in ignored), needed


def test_runtime_packages_are_named():
    done = subprocess.run([DEPLOY / "runtime_packages", COMMAND], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    packages = done.stdout.split()
    for wanted in ("libc6", "libstdc++6", "libsqlite3-0", "libssl3"):
        assert wanted in packages, packages
    assert not [one for one in packages if one.endswith("-dev")]


if __name__ == "__main__":
    assert os.access(DEPLOY / "runtime_packages", os.X_OK)
    sys.exit(run_claims(sys.modules[__name__]))
