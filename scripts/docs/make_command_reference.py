#!/usr/bin/env python3
"""Writes docs/reference/command.md from what plackett --help prints, for every subcommand.

    scripts/docs/make_command_reference.py [--command PLACKETT] [--check]

--check: writes nothing; exit code 1 if the page is out of date.
"""
import argparse
import os
import re
import subprocess
import sys

from generated_page import escape, table, write_or_check

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "docs", "reference", "command.md")
COLUMN = 34  # where descriptions start
INTRODUCTION = """# The command

This page is generated from `plackett SUBCOMMAND --help`. A wrong option exits with code 2 and a
message that says what is allowed. Long commands show progress on a terminal and none in a pipe;
`--json` prints one JSON object for other programs.

"""


def help_of(command, words):
    return subprocess.run([command, *words, "--help"], check=True, capture_output=True,
                          text=True).stdout


def read_help(text):
    """(description, usage, {section: [(label, [lines of description])]})."""
    head, _, rest = text.partition("\nUsage: ")
    usage, _, rest = rest.partition("\n")
    sections, rows = {}, None
    for line in rest.split("\n"):
        if line.endswith(":") and not line.startswith(" "):
            rows = sections.setdefault(line[:-1], [])
        elif line.startswith(" " * COLUMN):
            rows[-1][1].append(line[COLUMN:])
        elif line.startswith("  "):
            label, description = line[2:COLUMN].rstrip(), line[COLUMN:]
            if len(line) > COLUMN and line[COLUMN - 1] != " ":
                label, description = line[2:].rstrip(), ""
            rows.append((label, [description] if description else []))
    return " ".join(head.split("\n")), usage, sections


def split_label(label):
    """`--max N:N in [1 - 9]=2` -> (name, type, default or "required", limits)."""
    name, _, rest = label.partition(" ")
    default, limits = "", []
    if excludes := re.search(r"\s*Excludes: (\S+)", rest):
        limits.append(f"not with `{excludes[1]}`")
        rest = rest.replace(excludes[0], "")
    if rest.endswith(" REQUIRED"):
        rest, default = rest.removesuffix(" REQUIRED"), "required"
    rest = rest.removesuffix(" ...")
    kind, equals, value = rest.partition("=")
    if equals and not default:
        default = f"`{value}`"
    kind, _, rule = kind.partition(":")
    if found := re.search(r"\[(.+) - (.+)\]", rule):
        limits.append(f"{found[1]} to {found[2]}")
    elif rule.startswith("{"):
        limits += [f"one of {choice}" for choice in rule.strip("{}").split(",")]
    return name.replace(",", ", "), kind, default, limits


def description_cell(lines, limits):
    """One line per line, indented as before; then the limits that the text does not mention."""
    shown = []
    for line in lines:
        indent = "&emsp;" if line.startswith("    ") else ""
        shown.append(indent + escape(line.strip()))
    text = "<br>".join(shown)
    unsaid = [limit for limit in limits if limit.removeprefix("one of ") not in text]
    return text + (f" ({', '.join(unsaid)})" if unsaid else "")


def options_table(rows, head):
    cells = []
    for label, lines in rows:
        name, kind, default, limits = split_label(label)
        shown = f"`{name} {kind}`" if kind else f"`{name}`"
        cells.append((shown, default.replace(",", ", ") if len(default) > 20 else default,
                      description_cell(lines, limits)))
    return table((head, "default", ""), cells)


def subcommand_text(command, words, level):
    description, usage, sections = read_help(help_of(command, words))
    text = f"{'#' * level} plackett {' '.join(words)}\n\n{escape(description)}.\n\n"
    text += f"`{usage}`\n\n"
    if "Positionals" in sections:
        text += options_table(sections["Positionals"], "argument") + "\n"
    rows = [row for row in sections["Options"] if not row[0].startswith("-h,")]
    if rows:
        text += options_table(rows, "option") + "\n"
    for name, _ in sections.get("Subcommands", []):
        text += subcommand_text(command, [*words, name], level + 1)
    return text


def page_text(command):
    _, _, sections = read_help(help_of(command, []))
    rows = [(f"[`{name}`](#plackett-{name})", escape(" ".join(lines)))
            for name, lines in sections["Subcommands"]]
    text = INTRODUCTION + table(("subcommand", ""), rows) + "\n"
    for name, _ in sections["Subcommands"]:
        text += subcommand_text(command, [name], 2)
    return text.rstrip("\n") + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default=os.path.join(ROOT, "build/release/bin/plackett"))
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    return write_or_check(PAGE, page_text(options.command), options.check,
                          f"scripts/docs/make_command_reference.py --command {options.command}")


if __name__ == "__main__":
    sys.exit(main())
