"""The link checker must find each planted fault."""
import os
import tempfile
import unittest

import check_links


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)


class Site(Folder):
    def setUp(self):
        super().setUp()
        self.write("index.html", '<a href="a/b.html#there">x</a><img src="i.png">'
                                 '<a href="https://example.org/x">y</a><h1 id="top"></h1>'
                                 '<a href="#top">z</a><a href="a/">folder</a>')
        self.write("a/index.html", '<link rel="stylesheet" href="../s.css">')
        self.write("a/b.html", '<h2 id="there">h</h2><a href="../index.html">up</a>')
        self.write("i.png", "")
        self.write("s.css", "a { background: url(i.png) }")

    def errors(self):
        return check_links.site_errors(self.folder)

    def test_a_sound_site_passes(self):
        self.assertEqual(self.errors(), [])

    def test_a_broken_link_is_found(self):
        self.write("c.html", '<a href="a/none.html">x</a>')
        self.assertEqual(self.errors(), ["c.html:1: a/none.html: no such file"])

    def test_a_broken_anchor_is_found(self):
        self.write("c.html", '\n<a href="a/b.html#elsewhere">x</a><a href="#me">y</a>')
        self.assertEqual(self.errors(), ["c.html:2: a/b.html#elsewhere: no such anchor",
                                         "c.html:2: #me: no such anchor"])

    def test_a_missing_picture_is_found(self):
        self.write("c.html", '<img src="none.png">')
        self.assertEqual(len(self.errors()), 1)

    def test_what_is_loaded_from_a_network_is_found(self):
        self.write("c.html", '<script src="https://example.org/x.js"></script>'
                             '<link rel="stylesheet" href="//example.org/x.css">'
                             '<style>@import "https://example.org/f.css";</style>')
        self.write("t.css", "a { src: url('https://example.org/f.woff') }")
        self.assertEqual(len(self.errors()), 4)

    def test_an_empty_site_is_found(self):
        self.assertEqual(len(check_links.site_errors(os.path.join(self.folder, "none"))), 1)


class Markdown(Folder):
    def setUp(self):
        super().setUp()
        self.write("README.md", "[a](docs/a.md) [code](src/x.cc) `[no](link)`\n\n"
                                "```text\n[no](link)\n```\n")
        self.write("src/x.cc", "")
        self.write("docs/a.md", "# The *paper's* numbers, 2\n\n[b](b/c.md#two-words)\n")
        self.write("docs/b/c.md", "## Two words\n[up](../a.md#the-papers-numbers-2)\n")

    def errors(self):
        return check_links.markdown_errors(self.folder)

    def test_sound_pages_pass(self):
        self.assertEqual(self.errors(), [])

    def test_a_broken_link_is_found(self):
        self.write("docs/d.md", "text\n[x](none.md)\n")
        self.assertEqual(self.errors(), ["docs/d.md:2: none.md: no such file"])

    def test_a_broken_anchor_is_found(self):
        self.write("docs/d.md", "[x](b/c.md#three-words)\n")
        self.assertEqual(self.errors(), ["docs/d.md:1: b/c.md#three-words: no such heading"])

    def test_a_link_out_of_the_site_is_found(self):
        self.write("docs/d.md", "[x](../README.md)\n")
        self.assertEqual(self.errors(), ["docs/d.md:1: ../README.md: leads out of docs/"])


if __name__ == "__main__":
    unittest.main()
