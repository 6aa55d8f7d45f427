#!/usr/bin/env python3
"""Gives Doxygen the headers with their plain comments marked as documentation.

    filter.py HEADER

Line numbers stay the same. A comment before a declaration gets a third slash, one after code
becomes ///<, and the one at the top documents the file. Comments for linters are removed, and so
are defaulted and deleted members, which need no documentation.
"""

import re
import sys


def filtered(lines):
    at_top, after_code = True, None
    for line in lines:
        line = re.sub(r"\s*// (NOLINT|IWYU|clang-format).*", "", line)
        if re.search(r"\) (const )?= (default|delete);", line):  # needs no documentation
            line = ""
        if line.startswith("#pragma once"):
            at_top = False
            yield "/// \\file"
            continue
        comment = re.match(r"(\s*)//(?!/)(.*)", line)
        if comment:
            if at_top or after_code is None or len(comment[1]) != after_code:
                after_code = None
                yield f"{comment[1]}///{comment[2]}"
            else:  # continues the line above
                yield f"{comment[1]}///<{comment[2]}"
            continue
        if line.lstrip().startswith("}"):  # the end of a namespace
            after_code = None
            yield re.sub(r"\s*//.*", "", line)
            continue
        trailing = re.match(r'((?:[^"/]|"(?:[^"\\]|\\.)*"|/(?!/))*\S\s+)//(?!/) ?(.*)', line)
        if trailing:
            after_code = len(trailing[1])
            yield f"{trailing[1]}///< {trailing[2]}"
            continue
        after_code = None
        yield line


def main():
    with open(sys.argv[1], encoding="utf-8") as header:
        for line in filtered(header.read().splitlines()):
            print(line)


if __name__ == "__main__":
    main()
