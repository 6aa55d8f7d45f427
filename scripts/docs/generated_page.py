"""What the scripts that write pages of docs/reference/ share."""
import re
import sys


def escape(text):
    """Text that Markdown shows as it stands, in a table's cell too; `code` stays code."""
    parts = re.split(r"(`[^`]*`)", text)
    for at in range(0, len(parts), 2):
        parts[at] = re.sub(r"([\\*_<>\[\]])", r"\\\1", parts[at])
    return "".join(parts).replace("|", "\\|")


def table(heads, rows):
    """A Markdown table without the columns in which no row has anything.

    In a div, by which the site's style knows that its rows may be stacked on small screens.
    """
    kept = [at for at in range(len(heads)) if any(row[at] for row in rows)]
    lines = [[heads[at] for at in kept], ["---"] * len(kept)]
    lines += [[row[at] for at in kept] for row in rows]
    text = "".join("| " + " | ".join(line) + " |\n" for line in lines)
    return f'<div class="stacked" markdown>\n\n{text}\n</div>\n'


def write_or_check(path, text, check, script):
    """The exit code: 1 where `check` finds that the page is not `text`."""
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
            print(f"{path}:{number}: not as it would be written today:\n- {old}\n+ {new}")
            break
    else:
        print(f"{path}: not as it would be written today; it ends too early or too late")
    print(f"write it again: {script}", file=sys.stderr)
    return 1
