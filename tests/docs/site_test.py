"""The documentation site builds without warnings or broken links.

Skipped, with exit code 77, if mkdocs or its theme is not installed.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import check_links

SKIPPED = 77
# The input of a build.
SOURCES = ("mkdocs.yml", "docs", "scripts/docs")


def build(root, site):
    return subprocess.run(
        ["mkdocs", "build", "--quiet", "--strict", "--config-file",
         os.path.join(root, "mkdocs.yml"), "--site-dir", site],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


class Site(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = os.path.join(folder.name, "root")
        self.site = os.path.join(folder.name, "site")
        for name in SOURCES:
            there = os.path.join(check_links.ROOT, name)
            copy = shutil.copytree if os.path.isdir(there) else shutil.copy
            os.makedirs(os.path.dirname(os.path.join(self.root, name)), exist_ok=True)
            copy(there, os.path.join(self.root, name))

    def append(self, page, text):
        with open(os.path.join(self.root, "docs", page), "a") as file:
            file.write(text)

    def test_it_builds_and_its_links_lead_somewhere(self):
        done = build(self.root, self.site)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(check_links.site_errors(self.site), [])
        self.assertEqual(check_links.markdown_errors(check_links.ROOT), [])

    def test_every_page_is_in_its_navigation(self):
        with open(os.path.join(self.root, "mkdocs.yml")) as file:
            navigation = file.read()
        docs = os.path.join(self.root, "docs")
        for path in check_links.files_under(docs, ".md"):
            self.assertIn(f" {os.path.relpath(path, docs)}\n", navigation)

    def test_a_broken_link_is_found(self):
        self.append("cite.md", "\n[x](none.md)\n")
        self.assertNotEqual(build(self.root, self.site).returncode, 0)
        self.assertNotEqual(check_links.markdown_errors(self.root), [])

    def test_a_broken_anchor_is_found(self):
        self.append("cite.md", "\n[x](experiments.md#nowhere)\n")
        self.assertEqual(build(self.root, self.site).returncode, 0)
        self.assertEqual(len(check_links.site_errors(self.site)), 1)

    def test_a_block_that_is_not_rendered_as_code_is_found(self):
        build(self.root, self.site)
        for path in check_links.files_under(self.site, ".html"):
            self.assertNotIn("```", check_links.read(path), path)


def missing():
    if not shutil.which("mkdocs"):
        return "mkdocs"
    themes = subprocess.run(
        ["mkdocs", "build", "--help"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return None if "material" in themes.stdout else "mkdocs-material"


if __name__ == "__main__":
    if lacking := missing():
        print(f"skipped: {lacking} is not installed (scripts/setup --tests installs it)")
        sys.exit(SKIPPED)
    unittest.main()
