"""pip builds a wheel from the source tree, with what Debian has and no package index, and installs it
into a new virtual environment, where the README's first Python example runs. 77, which is a skip,
where pip, venv, setuptools or wheel is missing."""

import email
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

SOURCE = Path(os.environ["PLACKETT_SOURCE_DIR"])
# Ours are inside; the others are named in docs/reference/python.md.
ALLOWED = re.compile(r"lib(stdc\+\+|m|gcc_s|c|fmt|hwy|deflate|xxhash|cairo|utf8proc|tomlplusplus|lbfgs|sqlite3|pq)\.so|ld-linux|linux-vdso")

missing = [name for name in ("pip", "venv", "ensurepip", "setuptools", "wheel") if not importlib.util.find_spec(name)]
if missing:
    print(f"{', '.join(missing)}: missing (Debian: python3-pip, python3-venv, python3-wheel)")
    sys.exit(77)


def run(*command, **options):
    return subprocess.run([str(one) for one in command], check=True, text=True, **options)


def check_contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = email.message_from_bytes(
            archive.read(next(name for name in names if name.endswith(".dist-info/METADATA")))
        )
    package = {name.split("/", 1)[1] for name in names if name.startswith("plackett/")}
    expected = {file.name for file in (SOURCE / "python" / "plackett").iterdir() if file.is_file()}
    engine = {name for name in package if name.startswith("_engine.cpython-")}
    assert package - engine == expected and len(engine) == 1, package
    assert {"py.typed", "_engine.pyi"} <= package
    assert not [name for name in names if not re.match(r"plackett(-[0-9.]+\.dist-info)?/", name)], names
    assert metadata["Name"] == "plackett" and metadata["Requires-Python"] == ">=3.9"
    required = [one for one in metadata.get_all("Requires-Dist") if "extra ==" not in one]
    assert required == ["numpy"], required
    return metadata["Version"]


def check_libraries(python):
    """The extension needs none of plackett's own libraries."""
    code = "import plackett._engine as engine; print(engine.__file__)"
    extension = run(python, "-c", code, stdout=subprocess.PIPE, cwd="/").stdout.strip()
    needed = run("ldd", extension, stdout=subprocess.PIPE).stdout
    assert "not found" not in needed and "plackett.so" not in needed, needed
    dynamic = run("readelf", "-d", extension, stdout=subprocess.PIPE).stdout
    direct = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
    assert direct and all(ALLOWED.match(one) for one in direct), direct


def main():
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    example = re.search(r"```python\n(.*?)```", (SOURCE / "README.md").read_text(), re.S)[1]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        run(sys.executable, "-m", "venv", "--system-site-packages", folder / "venv", env=environment)
        python = folder / "venv" / "bin" / "python"
        pip = (python, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir")
        run(*pip, "wheel", "--no-index", "--no-build-isolation", "--no-deps", "--wheel-dir", folder / "wheels",
            SOURCE, env=environment)  # fmt: skip
        (wheel,) = (folder / "wheels").iterdir()
        tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
        assert f"-{tag}-{tag}-" in wheel.name, wheel.name
        version = check_contents(wheel)
        run(*pip, "install", "--no-index", wheel, env=environment)  # numpy is there already
        found = run(python, "-c", "import plackett; print(plackett.__version__, plackett.__file__)",
                    stdout=subprocess.PIPE, env=environment, cwd=folder).stdout.split()  # fmt: skip
        assert found[0] == version and found[1].startswith(str(folder)), found
        said = run(python, "-c", example, stdout=subprocess.PIPE, env=environment, cwd=folder).stdout
        assert 0.4 < float(said) < 0.8, said
        check_libraries(python)
    return 0


sys.exit(main())
