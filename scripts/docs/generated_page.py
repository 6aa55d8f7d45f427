"""Shared by the scripts that generate pages of docs/reference/."""
import re
import sys


def escape(text):
    """Escapes text for Markdown, including table cells; `code` stays code."""
    parts = re.split(r"(`[^`]*`)", text)
    for at in range(0, len(parts), 2):
        parts[at] = re.sub(r"([\\*_<>\[\]])", r"\\\1", parts[at])
    return "".join(parts).replace("|", "\\|")


def table(heads, rows):
    """A Markdown table without the columns that are empty in every row.

    The div lets the site's style stack its rows on small screens.
    """
    kept = [at for at in range(len(heads)) if any(row[at] for row in rows)]
    lines = [[heads[at] for at in kept], ["---"] * len(kept)]
    lines += [[row[at] for at in kept] for row in rows]
    text = "".join("| " + " | ".join(line) + " |\n" for line in lines)
    return f'<div class="stacked" markdown>\n\n{text}\n</div>\n'


def write_or_check(path, text, check, script):
    """Returns the exit code: 1 if `check` and the page is not `text`."""
    if not check:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return 0
    with open(path, encoding="utf-8") as file:
        there = file.read()
    if there == text:
        return 0
    for number, (old, new) in enumerate(zip(there.split("\n"), text.split("\n")), start=1):
        if old != new:
            print(f"{path}:{number}: out of date:\n- {old}\n+ {new}")
            break
    else:
        print(f"{path}: out of date: wrong length")
    print(f"to regenerate it: {script}", file=sys.stderr)
    return 1
