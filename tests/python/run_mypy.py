"""Types: the package and a typed sample under mypy --strict, the stubs against the module itself,
and a sample whose every line must be refused. 77, which is a skip, where mypy is missing."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
CONFIG = HERE / "mypy.ini"
PACKAGE = Path(os.environ["PLACKETT_SOURCE_DIR"]) / "python" / "plackett"

try:
    import mypy.api
    import plackett
except ImportError as error:
    if error.name != "mypy":
        raise
    print("mypy is missing (Debian: mypy)")
    sys.exit(77)


def check(cache, *arguments):
    out, err, status = mypy.api.run(["--strict", "--config-file", str(CONFIG), "--cache-dir", cache, *map(str, arguments)])
    return status, out + err


def main():
    failures = []
    os.environ["MYPYPATH"] = str(PACKAGE.parent)
    with tempfile.TemporaryDirectory() as cache:
        for what, arguments in {
            "package": ("-p", "plackett"),
            "sample": (HERE / "typed_sample.py",),
        }.items():
            status, said = check(cache, *arguments)
            print(f"{what}: {said.strip()}")
            if status != 0:
                failures.append(what)
        wrong = HERE / "typed_wrong.py"
        lines = enumerate(wrong.read_text().splitlines(), start=1)
        expected = {number for number, line in lines if "# wrong" in line}
        status, said = check(cache, wrong)
        refused = {int(line.split(":")[1]) for line in said.splitlines() if ": error:" in line}
        print(f"wrong sample: {len(refused & expected)} of {len(expected)} lines refused")
        if refused != expected:
            print(said)
            failures.append("wrong sample")
    stubtest = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy.stubtest",
            "plackett._engine",  # the modules with stubs; the others' types are their own
            "plackett._methods",
            "--allowlist",
            str(HERE / "stubtest_allowed.txt"),
            "--mypy-config-file",
            str(CONFIG),
            "--ignore-missing-stub",
            "--ignore-unused-allowlist",
        ],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=tempfile.gettempdir(),
    )
    print("stubtest:", stubtest.stdout.strip()[-4000:])
    if stubtest.returncode != 0:
        failures.append("stubtest")
    for method in plackett.methods():
        stub = (PACKAGE / "_methods.pyi").read_text()
        declared = stub.split(f"class {method['title']}(")[1].split("class ")[0]
        for setting in method["settings"]:
            if f" {setting['name'].replace('-', '_')}: " not in declared:
                failures.append(f"_methods.pyi: {method['title']} {setting['name']}")
    if failures:
        print("failed:", ", ".join(failures))
    return 1 if failures else 0


sys.exit(main())
