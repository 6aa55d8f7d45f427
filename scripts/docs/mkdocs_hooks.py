"""Changes to the pages when the site is built (mkdocs.yml).

- The first line of a code block may say after its language how tests/docs/run_page.py treats it
  (```sh long). Readers don't need that, and the renderer does not know it.
- The search index is also written as a script, for pages opened as files.
"""
import os
import re

FENCE = re.compile(r"^(\s*```)sh (?:long|server)\b.*$", re.MULTILINE)


def on_page_markdown(markdown, **_):
    return FENCE.sub(r"\1sh", markdown)


def on_post_build(config, **_):
    index = os.path.join(config["site_dir"], "search", "search_index.js")
    with open(index.removesuffix(".js") + ".json", encoding="utf-8") as file:
        text = file.read()
    with open(index, "w", encoding="utf-8") as file:  # for theme/main.html
        file.write(f"var __search = {{index: Promise.resolve({text})}};\n")


def on_files(files, **_):
    """Leaves out the scripts that draw the pictures."""
    for file in [file for file in files if file.src_path.endswith(".py")]:
        files.remove(file)
    return files
