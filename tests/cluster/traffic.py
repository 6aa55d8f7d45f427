"""Clients that behave like a shop's, and a ledger of what they were told."""

import collections
import http.client
import json
import random
import threading
import time

MODELS = ("m0", "m1")
OPEN_SECONDS = 15
LONGEST = 16.0  # seconds that an answer may take


class Ledger:
    """Everything that was acknowledged, refused or left open. From any thread."""

    def __init__(self):
        self.lock = threading.Lock()
        self.ranks = {}  # (model, impression): when it was acknowledged
        self.events = {}  # (model, event_id): what was answered each time
        self.shown_at = {}
        self.refused = collections.Counter()  # by status
        self.unknown = collections.Counter()  # by exception
        self.wrong = []
        self.slow = []  # node, start, end, path
        self.seconds = []  # of answered feedback

    def add_rank(self, model, impression):
        with self.lock:
            if (model, impression) in self.ranks:
                self.wrong.append(f"{impression} of {model} was given twice")
            self.ranks[model, impression] = time.monotonic()

    def add_statuses(self, model, events, statuses):
        """`statuses`: None if there is no answer, or one that leaves it open."""
        with self.lock:
            for at, event in enumerate(events):
                history = self.events.setdefault((model, event["event_id"]), [])
                status = statuses[at] if statuses else "unknown"
                age = time.monotonic() - self.ranks[model, event["impression"]]
                is_right = (status == "unknown"
                            or status == "accepted" and "accepted" not in history
                            or status == "duplicate" and history
                            or status == "late" and age > OPEN_SECONDS - 5
                            and not {"accepted", "duplicate"} & set(history))
                history.append(status)
                if not is_right:
                    self.wrong.append(f"{model} {event} {history}, {age:.1f} s after its list")

    def acknowledged(self):
        return {event for event, history in self.events.items()
                if "accepted" in history or "duplicate" in history}


class Client(threading.Thread):
    def __init__(self, name, nodes, ledger, pause):
        super().__init__(daemon=True)
        self.label = name
        self.nodes = nodes
        self.ledger = ledger
        self.pause = pause
        self.random = random.Random(name)
        self.connections = {}
        self.stopping = threading.Event()
        self.count = 0
        self.failure = None

    def run(self):
        try:
            while not self.stopping.is_set():
                self.visit()
                time.sleep(self.pause)
        except Exception as error:  # pylint: disable=broad-except
            self.failure = error
            raise

    def ask(self, path, body):
        """Status and answer; None if it is not known what became of the request."""
        node = self.random.choice(self.nodes)
        start = time.monotonic()
        connection = self.connections.pop(node.port, None)
        if connection is None:
            connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=20)
        try:
            connection.request("POST", path, json.dumps(body))
            answer = connection.getresponse()
            text = answer.read()
            self.connections[node.port] = connection
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            with self.ledger.lock:
                self.ledger.unknown[type(error).__name__] += 1
            if not isinstance(error, ConnectionRefusedError):
                self.note_time(node, start, path)
            return None
        self.note_time(node, start, path)
        if answer.status == 503:
            with self.ledger.lock:
                self.ledger.refused[503] += 1
                if answer.headers["Retry-After"] is None:
                    self.ledger.wrong.append(f"503 without Retry-After: {text!r}")
            return None
        if answer.status not in (200, 201, 409):
            with self.ledger.lock:
                self.ledger.refused[answer.status] += 1
                if answer.status not in (404, 429):
                    self.ledger.wrong.append(f"{path}: {answer.status} {text!r}")
            return None
        return answer.status, json.loads(text)

    def note_time(self, node, start, path):
        end = time.monotonic()
        with self.ledger.lock:
            if end - start > LONGEST and not node.was_paused(start, end):
                self.ledger.slow.append(f"{node.name} {path}: {end - start:.1f} s")
            if path.endswith("/feedback"):
                self.ledger.seconds.append(end - start)

    def wait(self, tries):
        time.sleep(self.random.uniform(0, min(0.5, 0.02 * 2 ** tries)))

    def rank(self, model):
        body = {"items": [{"id": str(item), "features": [self.random.random(),
                                                         self.random.random()]}
                          for item in range(6)]}
        if self.random.random() < 0.3:
            body["id"] = f"{self.label}-{self.count}"
        for tries in range(200):
            answer = self.ask(f"/models/{model}/rank", body)
            if answer is None:
                if self.stopping.is_set():
                    return None
                self.wait(tries)
                continue
            status, ranked = answer
            if status == 409:
                # An earlier try was stored; what it showed is not known, but its id is.
                if tries == 0:
                    self.ledger.wrong.append(f"{body['id']} exists, and was never sent")
                self.ledger.add_rank(model, body["id"])
                return None
            self.ledger.add_rank(model, ranked["impression"])
            return ranked
        return None

    def deliver(self, model, events):
        """Until it is acknowledged, with the same event ids."""
        for tries in range(400):
            answer = self.ask(f"/models/{model}/feedback", events)
            statuses = answer and [one["status"] for one in answer[1]["results"]]
            self.ledger.add_statuses(model, events, statuses)
            if statuses:
                return
            if tries > 20 and self.stopping.is_set():
                return
            self.wait(tries)

    def visit(self):
        self.count += 1
        model = self.random.choice(MODELS)
        ranked = self.rank(model)
        if ranked is None or self.random.random() < 0.1:
            return
        event = {"impression": ranked["impression"]}
        events = [event | {"event": "click", "item": item["id"],
                           "event_id": f"{self.label}-{self.count}-{item['id']}"}
                  for item in ranked["items"] if self.random.random() < 0.4]
        closes = self.random.random() < 0.9
        if closes:
            events.append(event | {"event": "close", "event_id": f"{self.label}-{self.count}-c"})
        if not events:
            return
        self.deliver(model, events)
        if self.random.random() < 0.05:
            self.deliver(model, events)
