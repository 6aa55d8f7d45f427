"""The code blocks of a Markdown page, and what each of them is for.

| first line of the block | what the tests do with it |
|---|---|
| ```sh | run by bash |
| ```sh server | each line starts a server for the blocks after it |
| ```sh long | takes too long for a test: its programs must exist, its options are tried |
| ```python | run; all blocks of a page share one namespace |
| ```cpp | a program, compiled and run; without a main(), the text of a file under tests/ |
| ```console | must be what the block before it printed, with `...` for omissions |
| ```json, ```toml | must parse |
| ```text, ```bibtex, ```js | nothing |

title="NAME" after the language writes any block but sh and console to a file of that name, which
other blocks use. `sh long stand-in="OTHER=KNOWN"` makes the test replace OTHER by KNOWN. Everything
else is an error: no block is ignored silently.
"""
import dataclasses
import re

LANGUAGES = {"sh", "python", "cpp", "console", "json", "toml", "text", "bibtex", "cmake", "js"}
ONLY_AS_FILES = {"cmake"}
WAYS = {"", "long", "server"}
FENCE = re.compile(r"^(?P<indent> *)(?P<marks>`{3,}|~{3,})(?P<info>.*)$")
INFO = re.compile(r'^(?P<language>[\w+-]+)?(?: (?P<way>[a-z]+))?(?P<keys>(?: [a-z-]+="[^"]*")*)$')
CONTAINER = re.compile(r'^(?:!!!|\?\?\?\+?|===) ')
LIST_ITEM = re.compile(r"^ *(?:[-*+]|\d+[.)]) ")


@dataclasses.dataclass
class Block:
    line: int  # of its first line of content, from 1
    language: str
    way: str
    keys: dict
    text: str

    @property
    def title(self):
        return self.keys.get("title")

    @property
    def is_run(self):
        return self.language in ("sh", "python", "cpp") and self.title is None


def read_blocks(markdown):
    """(blocks, errors); an error is "LINE: what is wrong"."""
    blocks, errors = [], []
    lines = markdown.split("\n")
    at, in_container, in_list = 0, False, False
    while at < len(lines):
        line = lines[at]
        if in_container and line.startswith("    "):
            line = line[4:]
        elif line.strip():
            in_container = bool(CONTAINER.match(line))
        fence = FENCE.match(line)
        if fence:
            body, end = _body(lines, at, fence["marks"])
            if end is None:
                errors.append(f"{at + 1}: this block does not end")
                break
            block, error = _make_block(fence["info"].strip(), body, at + 2)
            (blocks.append(block) if block else errors.append(f"{at + 1}: {error}"))
            at = end + 1
            continue
        blank_before = at == 0 or not lines[at - 1].strip()
        if LIST_ITEM.match(line):
            in_list = True
        elif line.strip() and not line.startswith(" "):
            in_list = False
        if blank_before and not in_list and re.match(r"^(?: {4}|\t)\s*\S", line):
            errors.append(f"{at + 1}: an indented code block; write ```LANGUAGE around it")
        at += 1
    return blocks, errors + _file_errors(blocks)


def _body(lines, begin, marks):
    for end in range(begin + 1, len(lines)):
        if re.match(rf"^\s*{marks[0]}{{{len(marks)},}}\s*$", lines[end]):
            body = lines[begin + 1:end]
            filled = [line for line in body if line.strip()]
            indent = min((len(line) - len(line.lstrip(" ")) for line in filled), default=0)
            fence_indent = len(lines[begin]) - len(lines[begin].lstrip(" "))
            cut = min(indent, fence_indent)
            return "".join(line[cut:] + "\n" for line in body), end
    return None, None


def _make_block(info, text, line):
    match = INFO.match(info)
    if not match:
        return None, f"can't read the block's first line: {info}"
    language, way = match["language"], match["way"] or ""
    keys = dict(re.findall(r'([a-z-]+)="([^"]*)"', match["keys"]))
    if language is None:
        return None, "a block without a language"
    if language not in LANGUAGES:
        return None, f"language {language}; it must be one of {', '.join(sorted(LANGUAGES))}"
    if way not in WAYS or (way and language != "sh"):
        return None, f"{language} {way}; only sh may be long or server"
    allowed = {"stand-in"} if way == "long" else set()
    if language not in ("sh", "console"):
        allowed.add("title")
    if unknown := set(keys) - allowed:
        return None, f"{sorted(unknown)[0]} has no meaning here"
    if language in ONLY_AS_FILES and "title" not in keys:
        return None, f"{language} without a title"
    if not text.strip():
        return None, "an empty block"
    if "/" in keys.get("title", ""):
        return None, f"title {keys['title']}; a file's name has no folder"
    return Block(line, language, way, keys, text), None


def _file_errors(blocks):
    errors = []
    for block in blocks:
        if block.title is None or block.title == "CMakeLists.txt":
            continue
        if not any(block.title in other.text for other in blocks if other is not block):
            errors.append(f"{block.line}: no other block uses the file {block.title}")
    return errors
