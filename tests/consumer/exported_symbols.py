"""Checks that a shared library exports exactly what its headers declare as exported.

    exported_symbols.py LIBRARY HEADERS

Prints every symbol without a declaration and every declaration without a symbol; exit code 1 if
there is one.
"""

import pathlib
import re
import subprocess
import sys


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def block(text, opening):
    """The text between the brace at `opening` and the one that closes it."""
    depth = 0
    for at in range(opening, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return text[opening + 1 : at]
    raise ValueError("a brace is not closed")


def declared(folder):
    """The exported free functions, and the exported classes with the names of their functions."""
    functions, classes = set(), {}
    for header in sorted(folder.glob("*.h")):
        text = without_comments(header.read_text())
        text = re.sub(r"#define PLACKETT_EXPORT.*", "", text)
        for found in re.finditer(r"(?:class|struct) PLACKETT_EXPORT (\w+)[^{;]*\{", text):
            body = block(text, found.end() - 1)
            classes[found[1]] = set(re.findall(r"(~?\w+)\s*\(", body))
        for found in re.finditer(r"(?<!class )(?<!struct )PLACKETT_EXPORT\s[^;{]*?(\w+)\s*\(", text):
            functions.add(found[1])
    return functions, classes


def namespaces(folder):
    """The namespaces inside plackett."""
    return {name for header in folder.glob("*.h")
            for name in re.findall(r"^namespace plackett::(\w+) \{", header.read_text(), re.M)}


def forgotten(folder):
    """Functions that a header declares without a definition or an export mark."""
    found = []
    for header in sorted(folder.glob("*.h")):
        text = without_comments(header.read_text())
        for line in re.findall(r"^(?!PLACKETT_EXPORT|inline|constexpr|template|using|namespace|extern"
                               r"|class|struct|enum|friend)(\w[^;{}()=]*\([^;{}]*\)[^;{}]*;)", text, re.M):
            found.append(f"{header.name}: not marked PLACKETT_EXPORT: {' '.join(line.split())}")
    return found


def exported(library):
    lines = subprocess.run(["nm", "-DC", "--defined-only", library], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    return sorted({re.sub(r"^\S+ \S ", "", line) for line in lines})


def main():
    library, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    functions, classes = declared(folder)
    symbols, inner = exported(library), namespaces(folder)
    if not functions or not classes or not symbols:
        sys.exit(f"nothing to compare: {len(functions)} functions and {len(classes)} classes in "
                 f"{folder}, {len(symbols)} symbols in {library}")
    wrong, answered = forgotten(folder), set()
    for symbol in symbols:
        plain = re.sub(r"^(vtable|VTT|typeinfo|typeinfo name) for ", "", symbol)
        of_class = plain != symbol
        name = plain.replace("[abi:cxx11]", "").split("(")[0].split("::")
        if len(name) > 2 and name[1] in inner:
            del name[1]
        if name[0] == "plackett" and len(name) == 2:
            good = name[1] in classes if of_class else name[1] in functions
        elif name[0] == "plackett" and len(name) == 3:
            good = name[2] in classes.get(name[1], ())
        else:
            good = False
        if good:
            answered.add(name[1])
        else:
            wrong.append(f"exported, but in no header: {symbol}")
    for name in sorted((functions | classes.keys()) - answered):
        wrong.append(f"in a header, but not exported: plackett::{name}")
    print("\n".join(wrong) or f"{len(symbols)} symbols, all declared")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
