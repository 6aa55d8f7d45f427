"""What mkdocs.yml changes of a page before it is rendered.

The first line of a code block may say after its language how tests/docs/run_page.py treats it
(```sh long). Readers need not see that, and the renderer does not know these words.
"""
import re

FENCE = re.compile(r"^(\s*```)sh (?:long|server)\b.*$", re.MULTILINE)


def on_page_markdown(markdown, **_):
    return FENCE.sub(r"\1sh", markdown)
