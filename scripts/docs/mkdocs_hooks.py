"""What the site's build changes of pages and pictures (mkdocs.yml).

- The first line of a code block may say after its language how tests/docs/run_page.py treats it
  (```sh long). Readers need not see that, and the renderer does not know these words.
- The index of the search is written as a script too, for pages that are opened as files.
- A picture that follows the reader's light or dark scheme by itself would not follow the site's own
  switch. So it becomes two, one for each, and the theme shows the right one.
"""
import glob
import os
import re

FENCE = re.compile(r"^(\s*```)sh (?:long|server)\b.*$", re.MULTILINE)
PICTURE = re.compile(r'<img\b[^>]*\bsrc="(?P<path>[^"]+)\.svg"[^>]*>')
DARK = "@media (prefers-color-scheme:dark){"


def on_page_markdown(markdown, **_):
    return FENCE.sub(r"\1sh", markdown)


def on_page_content(html, page, config, **_):
    def both(image):
        folder = os.path.dirname(os.path.join(config["docs_dir"], page.file.src_path))
        if split_schemes(os.path.join(folder, image["path"] + ".svg")) is None:
            return image[0]
        return "".join(image[0].replace(".svg", f"_{scheme}.svg#only-{scheme}")
                       for scheme in ("light", "dark"))
    return PICTURE.sub(both, html)


def on_post_build(config, **_):
    index = os.path.join(config["site_dir"], "search", "search_index.js")
    with open(index.removesuffix(".js") + ".json", encoding="utf-8") as file:
        text = file.read()
    with open(index, "w", encoding="utf-8") as file:  # for theme/main.html
        file.write(f"var __search = {{index: Promise.resolve({text})}};\n")
    for path in glob.glob(os.path.join(config["site_dir"], "images", "*.svg")):
        for scheme, text in (split_schemes(path) or {}).items():
            with open(path.removesuffix(".svg") + f"_{scheme}.svg", "w", encoding="utf-8") as file:
                file.write(text)


def split_schemes(path):
    """{"light": picture, "dark": picture}; None where the picture knows one scheme alone."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    before, rule, rest = text.partition(DARK)
    if not rule:
        return None
    depth, end = 1, 0
    while depth > 0:
        depth += {"{": 1, "}": -1}.get(rest[end], 0)
        end += 1
    before = before.replace("color-scheme:light dark", "color-scheme:normal")
    return {"light": before + rest[end:], "dark": before + rest[:end - 1] + rest[end:]}


def on_files(files, **_):
    """Scripts beside the pictures that they draw are no part of the site."""
    for file in [file for file in files if file.src_path.endswith(".py")]:
        files.remove(file)
    return files
