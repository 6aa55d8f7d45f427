"""A browser driven over the WebDriver protocol, with the standard library alone.

Needs Debian's chromium and chromium-driver.
"""

import base64
import json
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT_KEY = "element-6066-11e4-a52e-4f735466cecf"
CHROMIUM_FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars",
]


# A proxy in the environment is for other machines than this one.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class BrowserError(Exception):
    pass


class Browser:
    """One headless browser; a context manager that ends it and removes its profile."""

    def __init__(self, start_timeout_s=20):
        self._profile = tempfile.mkdtemp(prefix="plackett-browser-")
        self._driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True)
        self._session = None
        try:
            self._address = f"http://127.0.0.1:{self._port(start_timeout_s)}"
            self._session = self._send("POST", "/session", {"capabilities": {"alwaysMatch": {
                "browserName": "chrome",
                "goog:loggingPrefs": {"browser": "ALL"},
                "goog:chromeOptions": {
                    "args": CHROMIUM_FLAGS + [f"--user-data-dir={self._profile}"]},
            }}})["sessionId"]
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self._session is not None:
            try:
                self._send("DELETE", f"/session/{self._session}")
            except BrowserError:
                pass
            self._session = None
        self._driver.terminate()
        try:
            self._driver.wait(5)
        except subprocess.TimeoutExpired:
            self._driver.kill()
            self._driver.wait()
        self._driver.stdout.close()
        shutil.rmtree(self._profile, ignore_errors=True)

    def _port(self, timeout_s):
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            line = self._driver.stdout.readline()
            found = re.search(r"successfully on port (\d+)", line)
            if found:
                return int(found.group(1))
            if not line and self._driver.poll() is not None:
                break
        raise BrowserError("chromedriver did not start")

    def _send(self, method, path, body=None):
        request = urllib.request.Request(
            self._address + path, method=method,
            data=None if method in ("GET", "DELETE") else json.dumps(body or {}).encode(),
            headers={"Content-Type": "application/json"})
        try:
            with DIRECT.open(request, timeout=40) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            try:
                message = json.load(error)["value"]["message"].splitlines()[0]
            except (ValueError, KeyError, IndexError):
                message = str(error)
            raise BrowserError(f"{method} {path}: {message}") from None
        except OSError as error:
            raise BrowserError(f"{method} {path}: {error}") from None

    def _do(self, method, path, body=None):
        return self._send(method, f"/session/{self._session}{path}", body)

    def open(self, url):
        self._do("POST", "/url", {"url": url})

    def script(self, code, *arguments):
        """Runs `code` as a function's body in the page; gives what it returns."""
        return self._do("POST", "/execute/sync", {"script": code, "args": list(arguments)})

    def _find(self, selector):
        return self._do("POST", "/element",
                        {"using": "css selector", "value": selector})[ELEMENT_KEY]

    def click(self, selector):
        """A real click, where a pointer would land: fails where something covers the place.

        Pages draw lists anew as answers come; an element that went meanwhile is looked for again.
        """
        for last in (False, False, True):
            self.script("document.querySelector(arguments[0])?.scrollIntoView({block: 'center'})",
                        selector)
            try:
                self._do("POST", f"/element/{self._find(selector)}/click")
                return
            except BrowserError as error:
                if last or "stale element" not in str(error):
                    raise

    def type(self, selector, text):
        found = self._find(selector)
        self._do("POST", f"/element/{found}/clear")
        self._do("POST", f"/element/{found}/value", {"text": text})

    def devtools(self, command, **parameters):
        return self._do("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def show_as(self, width, height, scheme="light", reduced_motion=False):
        """The size of the page's area, and what media queries answer."""
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height,
                      deviceScaleFactor=1, mobile=False)
        self.devtools("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion",
             "value": "reduce" if reduced_motion else "no-preference"}])

    def picture(self, path, whole_page=True):
        shot = self.devtools("Page.captureScreenshot", format="png",
                             captureBeyondViewport=whole_page)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def errors(self):
        """Console errors since the last call."""
        return [entry["message"] for entry in self._do("POST", "/se/log", {"type": "browser"})
                if entry["level"] == "SEVERE"]
