"""Checks that every installed header compiles alone.

    headers.py PREFIX/include COMPILER...

Each header of include/plackett must compile by itself, without a warning, with each compiler, and
include only the standard library and plackett's headers. Prints what is wrong; exit code 1 if
anything is.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]

STANDARD = set("""
algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono
cinttypes climits clocale cmath codecvt compare complex concepts condition_variable coroutine csetjmp
csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception
execution filesystem format forward_list fstream functional future initializer_list iomanip ios iosfwd
iostream istream iterator latch limits list locale map memory memory_resource mutex new numbers numeric
optional ostream queue random ranges ratio regex scoped_allocator semaphore set shared_mutex
source_location span sstream stack stdexcept stop_token streambuf string string_view syncstream
system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray
variant vector version
""".split())


def foreign_includes(header, folder):
    for line in header.read_text().splitlines():
        found = re.match(r'\s*#\s*include\s*([<"])([^>"]*)', line)
        if not found:
            continue
        own = found[2].startswith("plackett/") and (folder / found[2]).is_file()
        if not own and (found[1] == '"' or found[2] not in STANDARD):
            yield found[2]


def main():
    folder, compilers = pathlib.Path(sys.argv[1]), sys.argv[2:]
    headers = sorted((folder / "plackett").glob("*.h"))
    wrong = [] if headers else [f"{folder}/plackett: no headers"]
    with tempfile.TemporaryDirectory() as scratch:
        source = pathlib.Path(scratch) / "alone.cc"
        for header in headers:
            for include in foreign_includes(header, folder):
                wrong.append(f"{header.name} includes {include}")
            line = f"#include <plackett/{header.name}>\n"
            source.write_text(line + line + "int main() {}\n")
            for compiler in compilers:
                done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", *WARNINGS, f"-I{folder}",
                                       source], capture_output=True, text=True)
                if done.returncode != 0:
                    wrong.append(f"{header.name} alone, {compiler}:\n{done.stderr}")
    print("\n".join(wrong) or f"{len(headers)} headers stand alone for {' and '.join(compilers)}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
