"""The part of pyproject.toml that needs code: the engine is built by CMake, and the version is
CMake's too."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent.resolve()


class BuildPackage(build_py):
    """Without what an earlier build left: files that are no longer in the source."""

    def run(self):
        shutil.rmtree(Path(self.build_lib) / "plackett", ignore_errors=True)
        super().run()


class BuildEngine(build_ext):
    """Builds the module only, for this interpreter, and puts the extension where setuptools wants
    it."""

    def build_extension(self, ext):
        if shutil.which("cmake") is None:
            sys.exit("plackett: cmake is missing; scripts/setup --python installs what it needs")
        folder = Path(self.build_temp).resolve()
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        options = {
            "CMAKE_BUILD_TYPE": "Release",
            "PLACKETT_COMMAND": "OFF",
            "PLACKETT_INSTALL": "OFF",
            "PLACKETT_PYTHON_MODULE": "ON",
            "PLACKETT_PYTHON": sys.executable,
        }
        given = [f"-D{name}={value}" for name, value in options.items()]
        for arguments in (
            ["-S", ROOT, "-B", folder, *generator, *given],
            ["--build", folder, "--target", "_engine", "--parallel"],
        ):
            subprocess.run(["cmake", *arguments], check=True)
        made = Path(self.get_ext_fullpath(ext.name))
        made.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(folder / "python" / "plackett" / made.name, made)


version = re.search(r"project\(plackett VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
setup(
    version=version[1],
    ext_modules=[Extension("plackett._engine", sources=[])],
    cmdclass={"build_py": BuildPackage, "build_ext": BuildEngine},
)
