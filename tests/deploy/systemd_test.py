"""deploy/systemd: the units are what systemd takes, are closed up, and let the server work."""

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

from claims import COMMAND, DEPLOY, check_arguments, free_port, listens, run_claims, skip, wait_until

UNITS = DEPLOY / "systemd"
# `systemd-analyze security`, from 0, closed, to 100.
MOST_EXPOSED = {"plackett.service": 15, "plackett-backup.service": 15}
INSTALLED = "/usr/local/bin/plackett"


def analyze(*arguments):
    done = subprocess.run(["systemd-analyze", *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def settings(name):
    """{key: [values]} of all sections."""
    found = {}
    for line in (UNITS / name).read_text().splitlines():
        if match := re.match(r"^(\w+)=(.*)$", line):
            found.setdefault(match[1], []).append(match[2])
    return found


def test_systemd_takes_the_units():
    with tempfile.TemporaryDirectory() as folder:
        for unit in [*UNITS.glob("*.service"), *UNITS.glob("*.timer")]:
            text = unit.read_text().replace(INSTALLED, COMMAND)
            (Path(folder) / unit.name).write_text(text)
        for unit in sorted(Path(folder).iterdir()):
            code, said = analyze("verify", unit)
            assert code == 0 and unit.name not in said, said
        # That it would find a mistake.
        broken = Path(folder) / "broken.service"
        broken.write_text("[Service]\nExecStart=/bin/true\nProtectSystm=strict\n")
        assert "ProtectSystm" in analyze("verify", broken)[1]


def test_units_are_closed_up():
    for name, most in MOST_EXPOSED.items():
        code, said = analyze("security", "--offline=true", f"--threshold={most}", UNITS / name)
        assert code == 0, said.strip().splitlines()[-1]


def test_the_command_lines_are_commands():
    for name in MOST_EXPOSED:
        (line,) = settings(name)["ExecStart"]
        program, subcommand, *arguments = shlex.split(line)
        assert program == INSTALLED
        check_arguments(subcommand, arguments)
    options = re.search(r"(?m)^PLACKETT_OPTIONS=(.*)$", (UNITS / "plackett.env").read_text())[1]
    check_arguments("serve", shlex.split(options))
    commented = re.findall(r"--[a-z-]+", (UNITS / "plackett.env").read_text())
    check_arguments("serve", [one for one in commented if one != "--help"])


def test_what_it_writes_may_be_written():
    """ProtectSystem=strict leaves only its own folders."""
    unit = settings("plackett.service")
    (line,) = unit["ExecStart"]
    assert f"--db /var/lib/{unit['StateDirectory'][0]}/" in line
    options = (UNITS / "plackett.env").read_text()
    assert f"/var/log/{unit['LogsDirectory'][0]}/requests.log" in options
    backup = settings("plackett-backup.service")
    assert f"--to {backup['ReadWritePaths'][0]}/" in backup["ExecStart"][0]
    user = (UNITS / "plackett.sysusers").read_text()
    assert re.search(rf"(?m)^u {unit['User'][0]} ", user)
    assert unit["User"] == backup["User"]


def filter_of(name):
    """The system calls that the unit's SystemCallFilter= allows."""
    def members(group):
        code, said = analyze("syscall-filter", group)
        assert code == 0, said
        found = set()
        for word in re.findall(r"(?m)^    ([@\w-]+)$", said):
            found |= members(word) if word.startswith("@") else {word}
        return found

    allowed = set()
    for value in settings(name)["SystemCallFilter"]:
        named = set().union(*(members(word) for word in value.lstrip("~").split()))
        allowed = allowed - named if value.startswith("~") else allowed | named
    return allowed


def traced(arguments, folder, meanwhile=None):
    """The system calls of a command, by strace."""
    out = Path(folder) / "trace"
    process = subprocess.Popen(["strace", "-f", "-qq", "-o", out, COMMAND, *arguments],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if meanwhile:
        meanwhile(process)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    return set(re.findall(r"(?m)^\d+ +(?:<\.\.\. )?(\w+)[(\s]", out.read_text())) - {"exit_group"}


def test_system_calls_are_allowed():
    if shutil.which("strace") is None:
        print("  without strace (Debian: strace)")
        return
    # Asked for and refused: the limit of open files, which LimitNOFILE= sets, and the start of the
    # program, which systemd does itself.
    harmless = {"prlimit64", "setrlimit", "execve"}
    if os.getuid() == 0:
        harmless |= {"fchown"}  # SQLite's, as root only
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        db, log = f"{folder}/x.db", f"{folder}/log"
        Path(folder, "tokens").write_text("admin secret\n")

        def call(method, path, body=None):
            request = urllib.request.Request(
                f"http://127.0.0.1:{port}{path}", method=method,
                data=None if body is None else json.dumps(body).encode(),
                headers={"Authorization": "Bearer secret"})
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
                return json.loads(answer.read() or b"null")

        used = set()

        def use(process):
            wait_until(lambda: listens(port))
            call("PUT", "/models/shop", {"features": 2})
            for _ in range(20):
                ranking = call("POST", "/models/shop/rank", {
                    "items": [{"id": "a", "features": [1, 2]}, {"id": "b", "features": [2, 1]}]})
                call("POST", "/models/shop/feedback", [
                    {"impression": ranking["impression"], "event": "click", "item": "a"},
                    {"impression": ranking["impression"], "event": "close"}])
            call("POST", "/models/shop/snapshots")
            used.update(traced(["backup", "--db", db, "--to", f"{folder}/copy.db"],
                               tempfile.mkdtemp(dir=folder)))
            server = int(subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True,
                                        text=True, check=True).stdout)
            subprocess.run(["kill", "-HUP", str(server)], check=True)
            wait_until(lambda: call("GET", "/models"))
            call("DELETE", "/models/shop")
            subprocess.run(["kill", "-TERM", str(server)], check=True)

        used |= traced(["serve", "--db", db, "--port", str(port), "--tokens", f"{folder}/tokens",
                        "--request-log", log], folder, use)
        refused = used - filter_of("plackett.service") - harmless
        assert not refused, f"refused by SystemCallFilter=: {sorted(refused)}"
        assert {"fsync", "accept"} & used or "accept4" in used, sorted(used)
        # That the filter is one.
        assert "mount" not in filter_of("plackett.service")


def test_reload_and_stop_are_what_the_server_knows():
    unit = settings("plackett.service")
    assert unit["ExecReload"] == ["/bin/kill -HUP $MAINPID"]
    assert unit["KillSignal"] == ["SIGTERM"] and signal.SIGTERM
    assert "systemctl reload plackett" in (UNITS / "plackett.logrotate").read_text()


def test_the_server_says_when_it_answers():
    assert settings("plackett.service")["Type"] == ["notify"]
    with tempfile.TemporaryDirectory() as folder:
        for name in (f"{folder}/notify", f"@plackett-test-{os.getpid()}"):
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor:
                supervisor.bind(name if name[0] == "/" else "\0" + name[1:])
                supervisor.settimeout(20)
                port = free_port()
                process = subprocess.Popen(
                    [COMMAND, "serve", "--db", f"{folder}/x.db", "--port", str(port)],
                    env={**os.environ, "NOTIFY_SOCKET": name}, stdout=subprocess.DEVNULL)
                assert supervisor.recv(100) == b"READY=1"
                assert listens(port)
                process.terminate()
                assert supervisor.recv(100) == b"STOPPING=1"
                assert process.wait(20) == 0
        # A supervisor that is gone is no reason to fail.
        with subprocess.Popen([COMMAND, "serve", "--db", f"{folder}/x.db", "--port", str(port)],
                              env={**os.environ, "NOTIFY_SOCKET": f"{folder}/none"},
                              stdout=subprocess.DEVNULL) as process:
            wait_until(lambda: listens(port))
            process.terminate()
            assert process.wait(20) == 0


def test_logrotate_takes_its_file():
    if shutil.which("logrotate") is None:
        print("  without logrotate (Debian: logrotate)")
        return
    with tempfile.TemporaryDirectory() as folder:
        text = (UNITS / "plackett.logrotate").read_text().replace("/var/log/plackett", folder)
        text = re.sub(r"(?m)^ *su .*$", "", text)
        path = Path(folder) / "rotate"
        path.write_text(text)
        path.chmod(0o644)
        done = subprocess.run(["logrotate", "-d", path], capture_output=True, text=True)
        assert done.returncode == 0 and "error" not in done.stderr, done.stderr


if __name__ == "__main__":
    if shutil.which("systemd-analyze") is None:
        skip("systemd-analyze is missing (Debian: systemd)")
    sys.exit(run_claims(sys.modules[__name__]))
