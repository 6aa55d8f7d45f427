#!/usr/bin/env python3
"""Uses the dashboard and the demo of a running service as a visitor would.

    browser_test.py BASE_URL [--pictures DIR]

The service must have the demo and ask for no token; its model "demo" is replaced. Exits 1 with
the claim that failed, 77 where there is no browser.
"""

import argparse
import json
import pathlib
import shutil
import sys
import time
import urllib.error
import urllib.request

from webdriver import DIRECT, Browser, BrowserError

DEADLINE_S = 160
WIDTHS = (320, 390, 1280)
NO_BROWSER = 77


class Failed(Exception):
    pass


def claim(holds, what):
    if not holds:
        raise Failed(what)


class Service:
    """The API, asked directly: what the pages show is compared with it."""

    def __init__(self, base):
        self.base = base.rstrip("/")

    def call(self, method, path, body=None):
        request = urllib.request.Request(
            self.base + path, method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"})
        with DIRECT.open(request, timeout=10) as response:
            text = response.read()
        return json.loads(text) if text else None

    def weights(self):
        return [each["weight"] for each in self.call("GET", "/models/demo/weights")["weights"]]

    def knows_nothing(self):
        """Whether there is a model and all its weights are 0; while it is replaced, there is none."""
        try:
            return set(self.weights()) == {0}
        except urllib.error.HTTPError:
            return False

    def version(self):
        return self.call("GET", "/models/demo")["version"]

    def teach(self):
        """One impression with a click at its second place."""
        count = self.call("GET", "/models/demo")["features"]
        items = [{"id": f"t{doc}", "features": [(doc * (7 + feature)) % 11
                                                for feature in range(count)]}
                 for doc in range(12)]
        shown = self.call("POST", "/models/demo/rank", {"items": items})
        self.call("POST", "/models/demo/feedback", {"events": [
            {"impression": shown["impression"], "item": shown["items"][1]["id"],
             "event": "click"},
            {"impression": shown["impression"], "event": "close"}]})


    def show_lists(self, model, numbers, items, is_clicked):
        """One list to each of some new users, who click on its first item where they do."""
        events = []
        for number in numbers:
            shown = self.call("POST", f"/models/{model}/rank",
                              {"items": items, "unit": f"user-{number}"})
            events.append({"impression": shown["impression"], "event": "close"})
            if is_clicked(shown, number):
                events.insert(-1, {"impression": shown["impression"], "event": "click",
                                   "item": shown["items"][0]["id"]})
        self.call("POST", f"/models/{model}/feedback", {"events": events})


class Visit:
    def __init__(self, browser, service, pictures):
        self.browser = browser
        self.service = service
        self.pictures = pictures
        self.deadline = time.monotonic() + DEADLINE_S

    def wait(self, condition, what, within_s=30.0):
        """Until `condition` (JavaScript, or a function) holds; gives what it returned."""
        end = min(time.monotonic() + within_s, self.deadline)
        while True:
            held = self.browser.script(f"return {condition}") if isinstance(condition, str) \
                else condition()
            if held:
                return held
            claim(time.monotonic() < end, f"{what} (waited {within_s:g} s)")
            time.sleep(0.05)

    def text(self, selector):
        return self.browser.script("return document.querySelector(arguments[0]).textContent",
                                   selector)

    def value(self, expression):
        return self.browser.script(f"return {expression}")

    def no_errors(self, where):
        found = self.browser.errors()
        claim(not found, f"{where}: console errors: {found}")

    def picture(self, name):
        if self.pictures is not None:
            self.browser.picture(self.pictures / f"{name}.png", whole_page=False)

    def fits_every_width(self, page):
        for width in WIDTHS:
            self.browser.show_as(width, 844 if width < 700 else 900)
            time.sleep(0.15)
            reach = self.value("document.documentElement.scrollWidth")
            claim(reach <= width, f"{page} at {width} px: content reaches {reach} px")
        for scheme in ("light", "dark"):
            for name, width, height in (("wide", 1280, 900), ("narrow", 390, 844)):
                self.browser.show_as(width, height, scheme)
                self.browser.script("scrollTo(0, 0)")
                time.sleep(0.2)
                paper = self.value("getComputedStyle(document.body).backgroundColor")
                bright = sum(int(part) for part in paper[4:-1].split(",")) > 382
                claim(bright == (scheme == "light"), f"{page}: {scheme} paper is {paper}")
                self.picture(f"{page}_{name}_{scheme}")
        self.browser.show_as(1280, 900)


PAGE_WEIGHTS = "[...document.querySelectorAll('#weights [data-feature]')].map(e => +e.dataset.value)"
PAGE_ORDER = "[...document.querySelectorAll('#results [data-id]')].map(e => e.dataset.id)"
PAGE_QUALITY = "+document.getElementById('quality').dataset.value"
PAGE_VERSION = "+document.body.dataset.version"


def empty_dashboard(visit):
    """A service without models says how to make one."""
    if visit.service.call("GET", "/models")["models"]:
        print("skipped: the service has models, so the page without any was not seen")
        return
    visit.browser.open(visit.service.base + "/")
    visit.wait("!document.getElementById('no-models').hidden", "the empty dashboard says so")
    claim("curl -X PUT" in visit.text("#create-line"), "the empty dashboard shows the curl line")
    visit.no_errors("empty dashboard")


def best_order(visit):
    visit.browser.click("#view-best")
    visit.wait("document.body.dataset.view === 'best'", "the best order is shown")
    return visit.value(PAGE_ORDER)


def simulate_until(visit, condition, what, within_s):
    visit.browser.click("#simulate")
    visit.wait("document.getElementById('simulate').ariaChecked === 'true'", "the users begin")
    visit.wait(condition, what, within_s)
    visit.browser.click("#simulate")
    visit.wait("document.getElementById('simulate').ariaChecked === 'false'"
               " && document.body.dataset.view === 'sampled'", "the users stop")


def demo_learns(visit):
    browser, service = visit.browser, visit.service
    browser.open(service.base + "/demo")
    visit.wait(f"{PAGE_VERSION} >= 0 && {PAGE_ORDER}.length === 10", "the demo shows ten results")
    service.teach()
    browser.click("#start-over")
    visit.wait(service.knows_nothing, "starting over forgets everything")
    visit.wait(f"{PAGE_WEIGHTS}.every(w => w === 0) && {PAGE_ORDER}.length === 10",
               "the page shows the new model")

    browser.type("#query", "kettle")
    browser.click("#go")
    visit.wait("document.getElementById('results-title').textContent.includes('kettle')",
               "a search shows its results")
    claim(visit.value(f"{PAGE_ORDER}.length") == 10, "a search gives ten results")
    claim("log-probability" in visit.text("#list-facts"), "the list tells its probability")

    version = service.version()
    impression = visit.value("document.body.dataset.impression")
    browser.click("#results li:nth-child(3) button")
    visit.wait("document.getElementById('lesson').classList.contains('learned')",
               "a click says what was learned")
    claim(visit.value(PAGE_VERSION) > version, "a click raises the model's version")
    claim(any(visit.value(PAGE_WEIGHTS)), "a click changes the weights in the page")
    claim(visit.value(PAGE_WEIGHTS) == service.weights(), "the page's weights are the service's")
    claim(visit.value("document.body.dataset.impression") != impression,
          "after a click the list is ranked again")


def crowd_teaches(visit):
    start_order = best_order(visit)
    start = visit.value(PAGE_QUALITY)
    simulate_until(visit, f"{PAGE_QUALITY} > {max(0.6, start + 0.2)}",
                   f"simulated users raise NDCG from {start:.3f}", 15)
    claim(visit.value("+document.getElementById('chart-quality').dataset.points") > 2,
          "NDCG is drawn as it rises")
    claim(best_order(visit) != start_order, "the crowd changes the order of results")


def demo_rolls_back(visit):
    browser, service = visit.browser, visit.service
    browser.click("#snapshot")
    visit.wait("!document.getElementById('rollback').disabled", "a snapshot can be rolled back to")
    kept_weights, kept_order = service.weights(), best_order(visit)
    browser.click("#people label:nth-of-type(2) input")
    simulate_until(visit, lambda: max(abs(now - kept) for now, kept in
                                      zip(service.weights(), kept_weights)) > 0.5,
                   "another crowd moves the weights", 15)
    claim(best_order(visit) != kept_order, "another crowd changes the order")
    browser.click("#rollback")
    visit.wait("document.getElementById('snapshot-note').textContent.startsWith('Rolled back')",
               "the demo says that it rolled back")
    claim(service.weights() == kept_weights, "rolling back restores the weights")
    claim(visit.value(PAGE_WEIGHTS) == kept_weights, "the page shows the restored weights")
    claim(visit.value(PAGE_ORDER) == kept_order, "rolling back restores the order")
    visit.no_errors("demo")


def focus_stays(visit):
    """Who goes through the impressions by keyboard keeps the place when others come."""
    first = "document.querySelector('#impressions [data-impression]').dataset.impression"
    focused = "document.activeElement.closest('[data-impression]')?.dataset.impression"
    visit.browser.script("document.querySelector('#impressions summary').focus()")
    visit.browser.script("window.rowBefore = document.querySelector('#impressions li')")
    kept = visit.value(focused)
    claim(kept is not None, "an impression takes the focus")
    visit.service.teach()
    visit.wait(f"{first} !== '{kept}'", "a new impression comes first")
    claim(visit.value(focused) == kept, "the focus stays where it was")
    claim(visit.value("window.rowBefore.isConnected"), "a row that did not change stays")


def values_under_pointer(visit):
    """A chart tells its values where the pointer is."""
    visit.browser.script("""
        const canvas = document.querySelector('#chart-ctr canvas');
        const box = canvas.getBoundingClientRect();
        canvas.dispatchEvent(new MouseEvent('mousemove', {bubbles: true,
          clientX: box.left + box.width / 2, clientY: box.top + box.height / 2}));""")
    visit.wait("Chart.getChart(document.querySelector('#chart-ctr canvas')).tooltip.body?.length === 1",
               "a chart tells the value under the pointer")


def dashboard_shows(visit):
    browser, service = visit.browser, visit.service
    browser.open(service.base + "/#model=demo")
    visit.wait("document.getElementById('connection').dataset.state === 'live'",
               "the dashboard is live")
    visit.wait("document.querySelectorAll('#tiles .tile').length === 6", "six tiles")
    claim(visit.value("document.getElementById('model-select').value") == "demo",
          "the address chooses the model")
    visit.wait(lambda: int(visit.text("#tile-impressions").replace(",", ""))
               == service.call("GET", "/models/demo")["impressions"], "the tile counts impressions")
    for chart in ("ctr", "mrr", "entropy", "update_norm"):
        claim(visit.value(f"+document.getElementById('chart-{chart}').dataset.points") > 0,
              f"chart {chart} has points")
        claim(visit.value(f"Chart.getChart(document.querySelector('#chart-{chart} canvas'))"
                          ".getDatasetMeta(0).data.length") > 0, f"chart {chart} is drawn")
    claim(service.call("GET", "/models/demo/stats?points=200")["step_seconds"] == 10,
          "a young model has points of 10 seconds")
    for chart, y in (("ctr", 0), ("ctr", 1), ("mrr", 1), ("ctr", 0.99), ("entropy", 0),
                     ("update_norm", 0)):
        low, high = visit.value(f"""(() => {{
            const chart = Chart.getChart(document.querySelector('#chart-{chart} canvas'));
            chart.data.datasets[0].data = [{{ x: 1, y: {y} }}, {{ x: 2, y: {y} }}];
            chart.update();
            return [chart.scales.y.min, chart.scales.y.max];
        }})()""")
        claim(0 <= low <= y <= high <= 1, f"a constant {chart} of {y} has an axis within its bounds")
    labels = visit.value("""(() => {
        const chart = Chart.getChart(document.querySelector('#chart-ctr canvas'));
        chart.data.datasets[0].data = [{ x: 1, y: 0.401 }, { x: 2, y: 0.409 }];
        chart.update();
        return chart.scales.y.ticks.map(tick => tick.label);
    })()""")
    claim(len(labels) > 2 and len(set(labels)) == len(labels), f"ticks can be told apart: {labels}")
    for chart in ("ctr", "mrr"):
        claim("first day" not in visit.value(
            f"document.querySelector('#chart-{chart} canvas').ariaLabel"),
            f"chart {chart} is not compared with a first day that is not over")
    claim("first day" not in visit.text("#tiles"), "nor are the headline numbers")
    values_under_pointer(visit)
    claim(visit.value("document.querySelectorAll('#features .bar-row').length") == 12,
          "every feature has a bar")
    browser.click("#clicked-only")
    visit.wait("document.querySelectorAll('#impressions .impression').length > 0"
               " && [...document.querySelectorAll('#impressions .impression')]"
               ".every(row => row.querySelector('.place.clicked'))", "only clicked impressions")
    focus_stays(visit)
    browser.click("#impressions li:first-child summary")
    visit.wait("document.querySelectorAll('.impression-body .shown.clicked').length > 0",
               "an impression opens with its clicks marked")
    claim(visit.value("document.querySelectorAll('.impression-body .shown').length") == 10,
          "an impression opens with its ten items")
    visit.no_errors("dashboard")


def dashboard_acts(visit):
    browser, service = visit.browser, visit.service
    browser.click("#freeze")
    visit.wait("document.getElementById('tile-learning').textContent === 'Frozen'", "it freezes")
    claim(service.call("GET", "/models/demo")["learning"] is False, "the service is frozen")
    browser.click("#freeze")
    visit.wait("document.getElementById('tile-learning').textContent === 'On'", "it resumes")

    browser.click("#take-snapshot")
    note = f"browser test {time.time():.0f}"
    browser.type("#dialog-input", note)
    browser.click("#dialog-confirm")
    visit.wait(f"document.querySelector('#snapshots li b')?.textContent === '{note}'",
               "a snapshot appears with its note")
    kept = service.weights()
    service.teach()
    claim(service.weights() != kept, "feedback moves the weights")
    version = service.version()

    browser.click("#snapshots li:first-child .roll-back")
    browser.click("#dialog-cancel")
    visit.wait("!document.getElementById('dialog-box')", "cancelling closes the dialog")
    claim(service.version() == version, "cancelling rolls nothing back")
    browser.click("#snapshots li:first-child .roll-back")
    browser.click("#dialog-confirm")
    visit.wait(lambda: service.version() > version, "rolling back publishes a version")
    claim(service.weights() == kept, "the dashboard's roll back restores the weights")
    visit.no_errors("dashboard's actions")


def experiment_of(visit, name):
    return visit.service.call("GET", f"/models/demo/experiments/{name}")


def start_experiment(visit, name):
    visit.browser.click("#start-experiment")
    visit.browser.type("#form-name", name)
    visit.browser.type("#form-share", "25")
    visit.browser.click("#form-confirm")
    visit.wait("document.getElementById('experiment-standing').dataset.kind === 'running'"
               f" && document.getElementById('experiment-note').textContent.includes('{name}')",
               "a test starts from the form")


def lift_is_drawn(visit, name):
    """Users who like the challenger: its lift, the band over time and the guard's line."""
    features = visit.service.call("GET", "/models/demo")["features"]
    items = [{"id": f"t{doc}", "features": [doc % (2 + each) for each in range(features)]}
             for doc in range(12)]
    likes = {"old": 6, "learned": 10}  # of ten lists

    def lifts():
        return [arm["lift"] for point in experiment_of(visit, name)["points"]
                for arm in point["arms"] if arm["lift"] is not None]

    first = 0
    while len(lifts()) < 3:
        more = 800 if first == 0 else 20
        visit.service.show_lists("demo", range(first, first + more), items,
                                 lambda shown, number: number * 7 % 10 < likes[shown["arm"]])
        first += more
        claim(first < 1100, "results over time have lifts")
        time.sleep(1)  # the service keeps at most one point per second
    visit.wait(lambda: visit.value("+document.getElementById('chart-lift').dataset.points")
               == len(lifts()), "every lift is drawn")
    claim("Too early" not in visit.text("#lift-verdict"), "the card says what is known")
    claim(visit.text("#lift-value").startswith("+"), "the card tells the lift")
    chart = "Chart.getChart(document.querySelector('#chart-lift canvas'))"
    low, line, high = (
        [point["y"] for point in points if point["y"] is not None] for points in visit.value(
            f"(d => [d[0].data, d[2].data, d[1].data])({chart}.data.datasets)"))
    claim(len(low) == len(line) == len(high) >= 3, "the band has the line's points")
    claim(all(a < b < c for a, b, c in zip(low, line, high)), "the line is within its band")
    claim(line[-1] == lifts()[-1]["value"], "the last lift is the service's")
    marks = visit.value(f"{chart}.options.plugins.extras.references.map(({{ y, text }}) => [y, text])")
    claim(any(y == -0.05 and text.startswith("guard") for y, text in marks),
          f"the guard has a line: {marks}")
    axis = visit.value(f"[{chart}.scales.y.min, {chart}.scales.y.max]")
    claim(-1 <= axis[0] <= -0.05 < axis[1], f"the axis shows the guard's line: {axis}")
    lowest = visit.value(f"""(() => {{
        const chart = {chart};
        for (const {{ data }} of chart.data.datasets) data.forEach((point) => {{ point.y = -1; }});
        chart.update();
        return chart.scales.y.min;
    }})()""")
    claim(lowest == -1, f"a lift of -100 % is the end of the axis: {lowest}")


def experiments_run(visit):
    """A test is started, stopped, promoted, undone and deleted from the page."""
    browser, service = visit.browser, visit.service
    visit.wait("!document.getElementById('no-experiment').hidden", "a model without a test says so")
    browser.click("#start-experiment")
    browser.click("#form-cancel")
    claim(service.call("GET", "/models/demo/experiments")["experiments"] == [],
          "cancelling starts nothing")
    start_experiment(visit, "first")
    started = experiment_of(visit, "first")
    claim([(arm["policy"], arm["share"]) for arm in started["arms"]]
          == [("given", 0.75), ("model", 0.25)], "the form's share is the test's")
    claim(started["guard"] == {"drop": "5 %"} and started["promote"] is None,
          "the form's rules are the test's")
    visit.wait("document.querySelectorAll('#arms .arm').length === 2", "arms stand side by side")
    claim("Too early to tell" in visit.text("#lift-verdict"), "a test without lists knows nothing")
    claim(visit.value("document.getElementById('start-experiment').hidden"),
          "no second test can be started")
    lift_is_drawn(visit, "first")

    browser.click("#stop-experiment")
    browser.click("#dialog-cancel")
    claim(experiment_of(visit, "first")["state"] == "running", "cancelling stops nothing")
    browser.click("#stop-experiment")
    browser.click("#dialog-confirm")
    visit.wait("document.getElementById('experiment-standing').dataset.kind === 'ended'",
               "a test is stopped")
    start_experiment(visit, "second")
    visit.wait("document.querySelectorAll('#earlier-experiments li').length === 1",
               "the earlier test is listed")
    browser.click("#arms .promote")
    browser.click("#dialog-confirm")
    visit.wait("document.getElementById('experiment-standing').dataset.kind === 'promoted'",
               "an arm is promoted")
    claim(experiment_of(visit, "second")["promoted"] == "learned", "the service has promoted it")
    browser.click("#undo-promotion")
    browser.click("#dialog-confirm")
    visit.wait("document.getElementById('undo-promotion').hidden", "a promotion is undone")
    claim(experiment_of(visit, "second")["can_undo"] is False, "the service has undone it")
    browser.click("#earlier-experiments button")
    visit.wait("document.getElementById('experiment-note').textContent.includes('first')",
               "an earlier test is shown")
    browser.click("#latest-experiment")
    visit.wait("document.getElementById('experiment-note').textContent.includes('second')",
               "the latest is shown again")
    browser.click("#earlier-experiments .acts")
    browser.click("#dialog-confirm")
    visit.wait("document.querySelectorAll('#earlier-experiments li').length === 0",
               "an earlier test is deleted")
    browser.script("document.body.classList.add('read-only')")
    claim(visit.value("[...document.querySelectorAll('.acts')].every(e => !e.checkVisibility())"),
          "a reader has no buttons that change anything")
    visit.no_errors("live tests")


def choose_model(visit, name):
    visit.browser.script("""
        const select = document.getElementById('model-select');
        select.value = arguments[0];
        select.dispatchEvent(new Event('change', { bubbles: true }));""", name)


def what_if_estimates(visit):
    """Of a model whose log can tell, the page shows the service's estimate."""
    service = visit.service
    service.call("PUT", "/models/tells", {"features": 2, "k": 3, "candidates": "all"})
    service.call("POST", "/models/tells/freeze")
    items = [{"id": f"t{doc}", "features": [doc, doc * doc % 5]} for doc in range(6)]
    service.show_lists("tells", range(160), items, lambda _, number: number % 4 > 0)
    visit.wait("[...document.getElementById('model-select').options].some(e => e.value === 'tells')",
               "a new model can be chosen")
    choose_model(visit, "tells")
    visit.wait("document.querySelectorAll('.what-if-policies input:checked').length === 1",
               "what if: its orders are offered")
    visit.browser.click("#what-if-run")
    visit.wait("document.querySelector('#what-if-results .what-if-numbers')",
               "what if: an estimate is shown")
    claim(visit.value("document.querySelector('#what-if-results .what-if-refused') === null"),
          "what if: it is no refusal")
    told = service.call("GET", "/models/tells/what-if?policy=current&estimators=doubly-robust")
    value = told["policies"][0]["estimates"][0]["value"]
    claim(abs(float(visit.text("#what-if-results .what-if-numbers b")) - value) < 0.005,
          f"what if: the estimate is the service's {value}")
    choose_model(visit, "demo")
    service.call("DELETE", "/models/tells")
    visit.wait("document.querySelectorAll('#what-if-results .what-if-row').length === 0",
               "what if: another model has no answer yet")


def what_if_answers(visit):
    what_if_estimates(visit)
    visit.browser.click("#what-if-run")
    visit.wait("document.querySelectorAll('#what-if-results .what-if-row').length === 1",
               "what if: an order is evaluated, or refused in words")
    claim("As logged" in visit.text("#what-if-note"), "what if: the logged value is told")
    claim("exploring as now" in visit.text("#what-if-results"),
          "what if: an order that usually has an answer is checked at the start")
    visit.no_errors("what if")


def dashboard_recovers(visit):
    browser = visit.browser
    online = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    browser.devtools("Network.enable")
    browser.devtools("Network.emulateNetworkConditions", offline=True, **online)
    visit.wait("document.getElementById('connection').dataset.state === 'lost'",
               "a lost connection is told")
    browser.devtools("Network.emulateNetworkConditions", offline=False, **online)
    visit.wait("document.getElementById('connection').dataset.state === 'live'",
               "the connection comes back")
    browser.errors()


def visit_all(visit):
    visit.browser.show_as(1280, 900)
    empty_dashboard(visit)
    demo_learns(visit)
    crowd_teaches(visit)
    demo_rolls_back(visit)
    visit.fits_every_width("demo")
    dashboard_shows(visit)
    dashboard_acts(visit)
    experiments_run(visit)
    what_if_answers(visit)
    visit.fits_every_width("dashboard")
    dashboard_recovers(visit)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base_url")
    parser.add_argument("--pictures", type=pathlib.Path, metavar="DIR")
    arguments = parser.parse_args()
    for needed in ("chromium", "chromedriver"):
        if shutil.which(needed) is None:
            print(f"skipped: no {needed}", file=sys.stderr)
            return NO_BROWSER
    if arguments.pictures is not None:
        arguments.pictures.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    try:
        with Browser() as browser:
            visit_all(Visit(browser, Service(arguments.base_url), arguments.pictures))
    except Failed as failure:
        print(f"FAILED: {failure}", file=sys.stderr)
        return 1
    except (BrowserError, OSError) as error:
        print(f"FAILED: {error}", file=sys.stderr)
        return 1
    print(f"dashboard and demo work ({time.monotonic() - began:.0f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
