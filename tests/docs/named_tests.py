"""Checks that every test that a page names exists.

    named_tests.py PAGE BUILD_FOLDER
"""
import fnmatch
import re
import subprocess
import sys

page, build = sys.argv[1:]
listed = subprocess.run(["ctest", "--test-dir", build, "-N"], capture_output=True, text=True,
                        check=True).stdout
tests = re.findall(r"Test +#\d+: (\S+)", listed)
with open(page, encoding="utf-8") as file:
    names = re.findall(r"`([A-Z]\w+\.(?:[A-Z]\w+|\*)|fuzz_\w+)`", file.read())
missing = [name for name in names if not fnmatch.filter(tests, name)]
if missing or len(names) < 20:
    sys.exit(f"{page}: {len(names)} tests named; missing: {', '.join(missing) or 'none'}")
