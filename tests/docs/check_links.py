#!/usr/bin/env python3
"""Checks the links of the built site and of the repository's Markdown.

    tests/docs/check_links.py --site FOLDER [--root ROOT]

In the built pages every href and src to the same host must lead to a file of the site, and its
#anchor to an id or name there; nothing may be loaded from a network. In README.md, CHANGELOG.md and
docs/ every relative link must lead to a file of the repository, and its #anchor to a heading there;
links from docs/ must stay in docs/, since the site holds nothing else. Exit code 1 if a link is
broken.
"""
import argparse
import html.parser
import os
import re
import sys
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Elements whose target a browser fetches by itself.
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src",
          "audio": "src", "embed": "src", "object": "data"}
NOT_LOADED_LINKS = {"canonical", "next", "prev"}
CSS_URL = re.compile(r"""(?:url\(\s*['"]?|@import\s+['"])((?:https?:)?//[^'")]+)""")
# Pages whose links the theme makes relative to the host's root.
PAGES_FOR_ANY_PLACE = {"404.html"}


class HtmlPage(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links = []  # (line, target, whether a browser loads it by itself)
        self.ids = set()
        self.styles = []
        self._in_style = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        line = self.getpos()[0]
        self.ids.update(values[key] for key in ("id", "name") if values.get(key))
        self._in_style = tag == "style"
        if values.get("style"):
            self.styles.append((line, values["style"]))
        if tag == "link" and values.get("href"):
            loaded = not NOT_LOADED_LINKS & set((values.get("rel") or "").split())
            self.links.append((line, values["href"], loaded))
        elif values.get("href") and tag != "base":
            self.links.append((line, values["href"], False))
        if values.get(LOADED.get(tag)):
            self.links.append((line, values[LOADED[tag]], True))
        for candidate in (values.get("srcset") or "").split(","):
            if candidate.strip():
                self.links.append((line, candidate.split()[0], True))

    def handle_data(self, data):
        if self._in_style:
            self.styles.append((self.getpos()[0], data))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def files_under(folder, ending):
    return sorted(os.path.join(place, name) for place, _, names in os.walk(folder)
                  for name in names if name.endswith(ending))


def is_elsewhere(target):
    return bool(re.match(r"^(?:[a-z][a-z0-9+.-]*:|//)", target, re.IGNORECASE))


def site_errors(site):
    pages = {path: HtmlPage(read(path)) for path in files_under(site, ".html")}
    errors = [] if pages else [f"{site}: no page there"]
    for path, page in pages.items():
        short = os.path.relpath(path, site)
        for line, target, loaded in page.links:
            if loaded and re.match(r"^(?:https?:)?//", target):
                errors.append(f"{short}:{line}: loaded from a network: {target}")
            elif not is_elsewhere(target) and short not in PAGES_FOR_ANY_PLACE:
                wrong = _site_error(site, path, target, pages)
                errors += [f"{short}:{line}: {target}: {wrong}"] if wrong else []
        for line, text in page.styles:
            errors += [f"{short}:{line}: loaded from a network: {url}"
                       for url in CSS_URL.findall(text)]
    for path in files_under(site, ".css"):
        errors += [f"{os.path.relpath(path, site)}: loaded from a network: {url}"
                   for url in CSS_URL.findall(read(path))]
    return errors


def _site_error(site, path, target, pages):
    place, _, anchor = target.partition("#")
    place = urllib.parse.unquote(place.split("?")[0])
    start = site if place.startswith("/") else os.path.dirname(path)
    found = os.path.normpath(os.path.join(start, place.lstrip("/"))) if place else path
    if os.path.isdir(found):
        found = os.path.join(found, "index.html")
    if not os.path.isfile(found):
        return "no such file"
    anchor = urllib.parse.unquote(anchor)
    if anchor and found in pages and anchor not in pages[found].ids:
        return "no such anchor"
    return None


def without_code(markdown):
    """The text with code blanked, line by line."""
    text = re.sub(r"^( *)(`{3,}|~{3,}).*?^\s*\2`*\s*$",
                  lambda block: "\n" * block.group(0).count("\n"), markdown,
                  flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", lambda code: re.sub(r"[^\n]", " ", code.group(0)),
                  text, flags=re.DOTALL)


def anchors_of(markdown):
    """The anchors of the headings, as GitHub makes them."""
    anchors = set()
    outside_blocks = re.sub(r"^( *)(`{3,}|~{3,}).*?^\s*\2`*\s*$", "", markdown,
                            flags=re.MULTILINE | re.DOTALL)
    for heading in re.findall(r"^#{1,6} +(.*?)#*$", outside_blocks, re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip()).lower()
        base = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        name, count = base, 0
        while name in anchors:
            count += 1
            name = f"{base}-{count}"
        anchors.add(name)
    return anchors | set(re.findall(r'\bid="([^"]+)"', markdown))


def markdown_errors(root):
    pages = [os.path.join(root, name) for name in ("README.md", "CHANGELOG.md")]
    docs = os.path.join(root, "docs")
    errors = []
    for path in [page for page in pages if os.path.exists(page)] + files_under(docs, ".md"):
        text = without_code(read(path))
        short = os.path.relpath(path, root)
        for link in re.finditer(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)"
                                r"|\b(?:href|src)=\"([^\"]+)\"", text):
            target = link.group(1) or link.group(2)
            if is_elsewhere(target):
                continue
            line = text.count("\n", 0, link.start()) + 1
            wrong = _markdown_error(docs, path, target, in_html=bool(link.group(2)))
            errors += [f"{short}:{line}: {target}: {wrong}"] if wrong else []
    return errors


def _markdown_error(docs, path, target, in_html):
    place, _, anchor = target.partition("#")
    found = os.path.normpath(os.path.join(os.path.dirname(path), place)) if place else path
    if in_html and found.endswith(".html"):
        found = found.removesuffix(".html") + ".md"  # the site's name of a page
    if not os.path.exists(found):
        return "no such file"
    if path.startswith(docs + os.sep) and not found.startswith(docs + os.sep):
        return "leads out of docs/"
    if anchor and found.endswith(".md") and anchor not in anchors_of(read(found)):
        return "no such heading"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", help="the folder that mkdocs built")
    parser.add_argument("--root", default=ROOT)
    options = parser.parse_args()
    errors = markdown_errors(os.path.abspath(options.root))
    if options.site:
        errors += site_errors(os.path.abspath(options.site))
    print("\n".join(errors) or "every link leads somewhere")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
