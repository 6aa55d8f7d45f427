"""The page runner must find each planted fault.

    tests/docs/run_page_test.py PREFIX
"""
import contextlib
import os
import shutil
import sys
import tempfile
import unittest

import run_page

PREFIX = None


def run(text, seconds=60, python=sys.executable):
    """The error of a page with that text, or an empty string."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.md")
        with open(path, "w") as file:
            file.write(text)
        options = run_page.parse_options(
            ["--prefix", PREFIX, "--python", python, "--seconds", str(seconds), path])
        try:
            run_page.run_page(path, options)
        except run_page.PageError as error:
            return str(error)
    return ""


def block(info, *lines):
    return "\n".join([f"```{info}", *lines, "```", ""])


class RunPage(unittest.TestCase):
    def assert_sound(self, text):
        self.assertEqual(run(text), "")

    def assert_fault(self, text, words, **options):
        self.assertIn(words, run(text, **options))

    def test_a_sound_page_passes(self):
        self.assert_sound(
            "# Title\n\n- an item\n\n    more of it\n\n"
            + block("sh", "plackett --version", "echo made >file") + block("sh", "cat file")
            + block("console", "made") + block("python", "a = 1") + block("python", "print(a + 1)")
            + block("console", "2") + block('toml title="x.toml"', "a = 1")
            + block("sh", "grep a x.toml") + block("text", "anything"))

    def test_a_failing_command_is_found(self):
        self.assert_fault(block("sh", "true") + block("sh", "false", "true"), ":5: exit code 1")

    def test_a_failing_command_in_a_pipe_is_found(self):
        self.assert_fault(block("sh", "false | cat"), "exit code 1")

    def test_an_unknown_option_is_found(self):
        self.assert_fault(block("sh", "plackett simulate --rnus 3"), "exit code")

    def test_a_command_that_does_not_end_is_ended(self):
        self.assert_fault(block("sh", "sleep 60"), "not done", seconds=1)

    def test_a_block_without_a_language_is_found(self):
        self.assert_fault(block("", "ls"), ":1: a block without a language")

    def test_an_unknown_language_is_found(self):
        self.assert_fault(block("bash", "ls"), "language bash")

    def test_an_unknown_way_is_found(self):
        self.assert_fault(block("sh later", "ls"), "sh later")

    def test_an_indented_block_is_found(self):
        self.assert_fault("Text:\n\n    ls\n", ":3: an indented code block")

    def test_an_empty_block_is_found(self):
        self.assert_fault(block("sh", "ls") + block("console", ""), ":4: an empty block")

    def test_a_block_without_an_end_is_found(self):
        self.assert_fault("```sh\nls\n", "does not end")

    def test_output_that_was_not_printed_is_found(self):
        self.assert_fault(block("sh", "echo one two") + block("console", "one three"),
                          "not printed")
        self.assert_sound(block("sh", "echo one two three") + block("console", "one ... three"))
        self.assert_fault(block("sh", "echo one two") + block("console", "two ... one"),
                          "not printed")

    def test_output_of_nothing_is_found(self):
        self.assert_fault(block("console", "x"), "output of nothing")

    def test_a_failing_script_is_found(self):
        self.assert_fault(block("python", "a = 1") + block("python", "assert a == 2"),
                          "AssertionError")

    def test_a_script_that_exits_is_found(self):
        self.assert_fault(block("python", "import sys", "sys.exit(0)"), "SystemExit")

    @unittest.skipUnless(shutil.which("pkg-config"), "pkg-config is not installed")
    def test_a_program_that_fails_is_found(self):
        with _pkg_config() as said:
            self.assert_fault(said + block("cpp", "int main() { return 3; }"), "exit code 3")
            self.assert_fault(said + block("cpp", "int main() { return x; }"), "does not compile")
            self.assert_sound(said + block("cpp", "#include <cstdio>",
                                           'int main() { std::puts("yes"); }')
                              + block("console", "yes"))

    @unittest.skipUnless(shutil.which("pkg-config"), "pkg-config is not installed")
    def test_a_page_that_does_not_say_where_the_library_is_is_found(self):
        program = block("cpp", "int main() {}")
        with _pkg_config() as said, _in_the_environment("PKG_CONFIG_PATH", _folder_of(said)):
            self.assert_fault(program, "does not compile:\nPackage plackett was not found")
            self.assert_fault(block("sh", "pkg-config --exists plackett"), "exit code 1")
            self.assert_sound(said + program)

    def test_a_page_that_does_not_tell_cmake_where_the_library_is_is_found(self):
        build = (block('cmake title="CMakeLists.txt"', "cmake_minimum_required(VERSION 3.25)",
                       "project(page LANGUAGES NONE)", "find_package(plackett REQUIRED)")
                 + block("sh", "cmake -B out ."))
        said = block("sh", "export CMAKE_PREFIX_PATH=$HOME/.local")
        with _in_the_environment("CMAKE_PREFIX_PATH", PREFIX):
            self.assert_fault(build, "plackett")
            self.assert_sound(said + build)

    def test_a_page_that_relies_on_the_loader_s_path_is_found(self):
        with _in_the_environment("LD_LIBRARY_PATH", os.path.join(PREFIX, "lib")):
            self.assert_fault(block("sh", 'test -n "${LD_LIBRARY_PATH:-}"'), "exit code 1")

    def test_what_is_installed_is_under_the_page_s_home(self):
        self.assert_sound(block("sh", "~/.local/bin/plackett --version"))

    def test_exports_hold_for_the_blocks_after_them(self):
        self.assert_sound(block("sh", "export A='b  c'", "d=e") + block("sh", 'echo "$A${d:-f}"')
                          + block("console", "b  cf")
                          + block("python", "import os", 'print(os.environ["A"])')
                          + block("console", "b  c"))

    def test_code_that_nobody_compiles_is_found(self):
        self.assert_fault(block("cpp", "void f();"), "no main()")

    def test_wrong_toml_and_json_are_found(self):
        self.assert_fault(block("toml", "a ="), ":2:")
        self.assert_fault(block("json", "{a: 1}"), ":2:")

    def test_a_file_that_nothing_uses_is_found(self):
        self.assert_fault(block('toml title="x.toml"', "a = 1"), "no other block uses")

    def test_long_commands_are_tried(self):
        self.assert_sound(block("sh long", "./start   # a comment", "scripts/fuzz 60",
                                "cmake --preset bench && cmake --build --preset bench",
                                "build/bench/bin/pdgd_bench --require",
                                "plackett compare --data synthetic \\", "  --runs 125",
                                "plackett simulate --runs 100000 | cat",
                                "plackett serve --demo"))

    def test_faults_in_long_commands_are_found(self):
        for line, words in [
                ("plackett compare --rnus 125", "exit code"),
                ("plackett compare --methods pdgd,pgdd", "exit code"),
                ("plackett compare --spec experiments/none.toml", "exit code"),
                ("plackett simulate --data nowhere", "exit code"),
                ("plackett serve --prot 80", "exit code"),
                ("plackett simulat", "exit code"),
                ("true && plackett audit --caes 3", "exit code"),
                ("scripts/fuzzy", "not there"),
                ("./README.md", "not executable"),
                ("no-such-command --help", "no such command"),
                ("cmake --preset benhc", "no such preset"),
                ("build/bench/bin/pdgd_bnech", "no CMakeLists.txt")]:
            with self.subTest(line):
                self.assert_fault(block("sh long", line), words)

    def test_a_stand_in_is_read_for_what_is_not_built(self):
        line = "plackett simulate --method skip-above"
        self.assert_fault(block("sh long", line), "exit code")
        self.assert_sound(block('sh long stand-in="skip-above=pdgd"', line))

    def test_servers_serve_the_blocks_after_them(self):
        self.assert_sound(
            block("sh server", "plackett serve --demo    # first",
                  "plackett serve --db shop.db  # http://127.0.0.1:8080/")
            + block("sh", "curl -sf localhost:8080/ready", "test -e shop.db")
            + block("python", "import urllib.request",
                    'print(urllib.request.urlopen("http://localhost:8080/health").status)')
            + block("console", "200"))

    def test_a_server_that_does_not_start_is_found(self):
        self.assert_fault(block("sh server", "plackett serve --prot 1"), "does not answer")

    def test_a_page_can_not_change_the_repository(self):
        self.assert_sound(block('cmake title="CMakeLists.txt"', "project(x)")
                          + block("sh", "echo >README.md", "echo >experiments/quick.toml"))
        for name in ("CMakeLists.txt", "README.md", "experiments/quick.toml"):
            self.assertGreater(os.path.getsize(os.path.join(run_page.ROOT, name)), 100)

    def test_data_that_the_page_names_is_there(self):
        self.assert_sound(block("sh", "plackett data info MQ2008"))
        self.assert_fault(block("sh", "plackett data info MQ2009"), "exit code")


@contextlib.contextmanager
def _pkg_config():
    """A block that makes pkg-config find a package plackett without dependencies."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "plackett.pc"), "w") as file:
            file.write("Name: plackett\nDescription: none\nVersion: 0\n")
        yield block("sh", f"export PKG_CONFIG_PATH={folder}")


def _folder_of(said):
    return said.split("=")[1].split("\n")[0]


@contextlib.contextmanager
def _in_the_environment(name, value):
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]
        if before is not None:
            os.environ[name] = before


if __name__ == "__main__":
    PREFIX = sys.argv.pop(1)
    unittest.main()
