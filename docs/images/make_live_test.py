#!/usr/bin/env python3
"""Takes the picture of the dashboard in docs/tutorials/better.md.

    docs/images/make_live_test.py [--command PLACKETT]

Serves the tutorial's shop, runs its first blocks and photographs the panel of the live test. Needs
the Python module, Debian's chromium and chromium-driver. Numbers differ a little each time.
"""
import argparse
import base64
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "web"))
from webdriver import Browser  # noqa: E402

MARGIN = 8
RECTANGLE = """
const rectangle = document.getElementById("experiments").getBoundingClientRect();
return [rectangle.x + scrollX, rectangle.y + scrollY, rectangle.width, rectangle.height];
"""


def play(base):
    """The shop, and the first test, in ten parts so that the chart has some seconds to show."""
    with open(os.path.join(ROOT, "docs", "tutorials", "better.md")) as page:
        blocks = re.findall(r"```python\n(.*?)```", page.read(), re.S)
    shop = {}
    for block in blocks[:2]:
        block = block.replace("http://127.0.0.1:8080", base)
        exec(re.sub(r"clicks = visits\([\d_]+\)", "", block), shop)
    for _ in range(10):
        shop["visits"](500)
        time.sleep(2)


def photograph(base, path):
    with Browser() as browser:
        browser.show_as(1180, 900)
        browser.open(base + "/#model=shop")
        time.sleep(5)
        x, y, width, height = browser.script(RECTANGLE)
        shot = browser.devtools(
            "Page.captureScreenshot", format="png", captureBeyondViewport=True,
            clip={"x": x - MARGIN, "y": y - MARGIN, "width": width + 2 * MARGIN,
                  "height": height + 2 * MARGIN, "scale": 1})
    with open(path, "wb") as file:
        file.write(base64.b64decode(shot["data"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--command", default="plackett")
    command = parser.parse_args().command
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [command, "serve", "--db", os.path.join(folder, "shop.db"), "--port", "0"],
            stdout=subprocess.PIPE, text=True)
        try:
            base = server.stdout.readline().split()[-1]
            play(base)
            photograph(base, os.path.join(ROOT, "docs", "images", "live_test.png"))
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
