"""deploy/container: the image is built, runs as docs/deploy.md says, and answers. Compiles the whole
project in it."""

import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

from claims import DEPLOY, ROOT, free_port, run_claims, skip, wait_until

BUILDER = shutil.which("podman") or shutil.which("buildah")
IMAGE = f"plackett-test-{os.getpid()}"


def run(*arguments, check=True):
    done = subprocess.run([BUILDER, *arguments], stdout=subprocess.PIPE, text=True)
    assert not check or done.returncode == 0, f"{arguments[0]}: {done.returncode}"
    return done.stdout.strip()


def is_ready(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False


def check_with_podman(port, secrets):
    container = run("run", "-d", "-p", f"127.0.0.1:{port}:8080", "--read-only", "--cap-drop", "ALL",
                    "-v", f"{secrets}:/run/secrets/plackett:ro,Z", IMAGE)
    try:
        wait_until(lambda: is_ready(port), seconds=60)
    finally:
        print(run("logs", container, check=False))
        run("rm", "--force", "--volumes", container, check=False)


def check_with_buildah(port, secrets):
    """The image alone: buildah runs no entry point."""
    container = run("from", IMAGE)
    try:
        with subprocess.Popen(
                [BUILDER, "run", "--network", "host", "--cap-drop", "ALL",
                 "-v", f"{secrets}:/run/secrets/plackett:ro,Z", container, "--",
                 "plackett", "serve", "--port", str(port), "--db", "/var/lib/plackett/plackett.db",
                 "--tokens", "/run/secrets/plackett/tokens"]) as server:
            try:
                wait_until(lambda: is_ready(port), seconds=60)
            finally:
                server.terminate()
    finally:
        run("rm", container, check=False)


def test_the_image_is_built_and_answers():
    try:
        run("build", "--format", "docker", "-t", IMAGE, "-f",
            str(DEPLOY / "container" / "Containerfile"), str(ROOT))
        with tempfile.TemporaryDirectory() as folder:  # which others can't enter
            secrets = Path(folder, "plackett")
            secrets.mkdir(mode=0o755)
            made = subprocess.run([DEPLOY / "make_tokens"], capture_output=True, text=True, check=True)
            (secrets / "tokens").write_text(made.stdout)
            (secrets / "tokens").chmod(0o644)
            check = check_with_podman if BUILDER.endswith("podman") else check_with_buildah
            check(free_port(), secrets)
    finally:
        run("rmi", "--force", IMAGE, check=False)


if __name__ == "__main__":
    if BUILDER is None:
        skip("neither podman nor buildah is installed; no image is built and run")
    sys.exit(run_claims(sys.modules[__name__]))
