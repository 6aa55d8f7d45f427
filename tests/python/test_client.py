"""plackett.Client against a real service, and against one that fails in every way."""

import http.server
import importlib.util
import json
import os
import re
import socket
import ssl
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from service import running_service

import plackett

ITEMS = [{"id": name, "features": [at, (at * 7) % 5]} for at, name in enumerate("abcdef")]


@pytest.fixture(scope="module")
def service():
    with running_service() as running:
        yield running


@pytest.fixture
def client(service):
    with plackett.Client(service.url) as made:
        yield made


@pytest.fixture
def shop(client, request):
    """A model of its own for each test."""
    name = request.node.name[:60].replace("[", "-").replace("]", "")
    client.create_model(name, ["price", "rating"], k=3, seed=7)
    return name


def test_a_click_is_learned(client, shop):
    ranking = client.rank(shop, ITEMS, context={"query": "tent"}, pinned=[{"id": "c", "rank": 1}],
                          blocked=["f"], k=4)
    shown = [item["id"] for item in ranking["items"]]
    assert shown[0] == "c" and len(shown) == 4 and "f" not in shown
    assert client.view(shop, ranking["impression"], shown[1]) == "accepted"
    assert client.click(shop, ranking["impression"], shown[3], event_id="e-1") == "accepted"
    assert client.click(shop, ranking["impression"], shown[3], event_id="e-1") == "duplicate"
    assert client.close_list(shop, ranking["impression"])["accepted"] == 1
    assert client.model(shop)["learned"] == 1
    seen = client.impression(shop, ranking["impression"])
    assert seen["state"] == "learned" and seen["context"] == {"query": "tent"}
    assert client.impressions(shop, clicked=True)[0]["impression"] == ranking["impression"]
    assert any(weight["weight"] for weight in client.weights(shop)["weights"])


def test_numpy_rows_are_features(client, shop):
    rows = np.eye(2, dtype=np.float32)
    stored = client.put_items(shop, ({"id": f"n{at}", "features": row} for at, row in enumerate(rows)))
    assert stored == {"stored": 2, "items": 2}
    assert client.item(shop, "n1")["features"] == [0, 1]
    assert len(client.rank(shop, ["n0", "n1"])["items"]) == 2
    client.delete_item(shop, "n0")
    with pytest.raises(plackett.ServiceError, match="n0"):
        client.item(shop, "n0")


def test_a_model_moves_by_its_file(client, shop):
    file = client.export_model(shop)
    assert client.import_model(shop + "-copy", file)["name"] == shop + "-copy"
    assert client.export_model(shop + "-copy") == file
    client.delete_model(shop + "-copy")
    assert shop + "-copy" not in [model["name"] for model in client.models()]


def test_snapshots_and_freezing(client, shop):
    taken = client.take_snapshot(shop, "one")
    assert client.snapshots(shop)[0]["id"] == taken["id"]
    assert client.roll_back(shop, taken["id"])["name"] == shop
    assert client.freeze(shop)["learning"] is False
    assert client.resume(shop)["learning"] is True
    assert client.stats(shop, points=3)["points"] == client.request(
        "GET", f"/models/{shop}/stats", query={"points": 3})["points"]


def test_errors_have_the_services_message(client, shop):
    with pytest.raises(plackett.ServiceError) as raised:
        client.rank(shop, [{"id": "a", "features": [1, "two"]}])
    assert raised.value.status == 400
    assert raised.value.where and str(raised.value).startswith(raised.value.where + ": ")
    with pytest.raises(plackett.ServiceError, match="no model") as raised:
        client.rank("nothing", ITEMS)
    assert raised.value.status == 404
    # Fields of later versions are the service's to judge.
    with pytest.raises(plackett.ServiceError) as raised:
        client.rank(shop, ITEMS, something_new=1)
    assert "something_new" in str(raised.value)
    with pytest.raises(plackett.ServiceError):
        client.feedback(shop, {"impression": "i-0", "event": "wave"})


def test_fields_are_passed_on_and_left_out(client, monkeypatch):
    sent = []
    monkeypatch.setattr(client, "_call", lambda method, path, body=None, **more: sent.append(
        (method, path, body and json.loads(body))) or b'{"results": [{"status": "accepted"}]}')
    client.rank("m", ["a"], unit="u-1", mode="given", missing="skip", candidates=[1])
    client.rank("m", ["a"])
    client.feedback("m", [{"impression": "i", "event": "buy"}, {"impression": "i", "event": "close"}])
    client.view("m / ü", "i", "a/b")
    assert sent[0][2] == {"items": ["a"], "unit": "u-1", "mode": "given", "missing": "skip",
                          "candidates": [1]}
    assert sent[1][2] == {"items": ["a"]}
    assert sent[2][2]["events"] == [{"impression": "i", "event": "buy"},
                                    {"impression": "i", "event": "close"}]
    assert sent[3][1] == "/models/m%20%2F%20%C3%BC/feedback"


def test_an_empty_page_of_impressions_is_not_the_end(client, monkeypatch):
    pages = {"start": ([], "3"), "3": (["i-3"], "4"), "4": ([], "4")}
    monkeypatch.setattr(client, "_json", lambda method, path, query: dict(
        zip(("impressions", "cursor"), pages[query["cursor"]])))
    assert list(client.all_impressions("m")) == ["i-3"]


def test_experiments_have_paths_of_their_own(client, monkeypatch):
    sent = []
    monkeypatch.setattr(client, "_call", lambda method, path, body=None, **more: sent.append(
        (method, path, body and json.loads(body))) or b'{"experiments": []}')
    arms = [{"name": "old", "policy": "given", "share": 0.9},
            {"name": "learned", "policy": "model", "share": 0.1}]
    client.start_experiment("m", "e", (arm for arm in arms), metric="dcg", guard={"drop": "5 %"})
    client.experiment("m", "e / 2")
    assert client.experiments("m") == []
    client.promote("m", "e", "learned")
    client.undo_promotion("m", "e")
    client.stop_experiment("m", "e")
    client.delete_experiment("m", "e")
    assert sent == [
        ("PUT", "/models/m/experiments/e", {"arms": arms, "metric": "dcg", "guard": {"drop": "5 %"}}),
        ("GET", "/models/m/experiments/e%20%2F%202", None),
        ("GET", "/models/m/experiments", None),
        ("POST", "/models/m/experiments/e/promote", {"arm": "learned"}),
        ("POST", "/models/m/experiments/e/undo", None),
        ("POST", "/models/m/experiments/e/stop", None),
        ("DELETE", "/models/m/experiments/e", None),
    ]


@pytest.mark.parametrize("call, wrong", [
    (lambda client: client.rank("m", [{"id": "a", "features": [float("nan")]}]), plackett.BadValue),
    (lambda client: client.rank("m", [{"id": "a", "features": object()}]), plackett.BadType),
    (lambda client: client.rank(7, ["a"]), plackett.BadType),
    (lambda client: client.rank("m", ["a"], "k"), plackett.BadType),
    (lambda client: client.clik("m", "i", "a"), AttributeError),
    (lambda client: plackett.Client("ftp://x"), plackett.BadValue),
    (lambda client: plackett.Client("http://user:secret@x"), plackett.BadValue),
    (lambda client: plackett.Client("http://x:port"), plackett.BadValue),
    (lambda client: plackett.Client("http://x", token="two words"), plackett.BadValue),
    (lambda client: plackett.Client("http://x", token="a\r\nHost: b"), plackett.BadValue),
    (lambda client: plackett.Client("http://x", timeout=0), plackett.BadValue),
    (lambda client: plackett.Client("http://x", retries=-1), plackett.BadValue),
])
def test_wrong_arguments_are_refused_before_anything_is_sent(client, call, wrong):
    with pytest.raises(wrong) as raised:
        call(client)
    assert "secret" not in str(raised.value)


def test_threads_share_a_client(client, shop):
    def use(number):
        ranking = client.rank(shop, ITEMS, id=f"visit-{number}")
        client.click(shop, ranking["impression"], ranking["items"][0]["id"])
        return client.close_list(shop, ranking["impression"])["accepted"]

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(use, range(200))) == 200
    assert client.model(shop)["learned"] == 200


def test_a_closed_client_says_so(service):
    client = plackett.Client(service.url)
    client.health()
    client.close()
    with pytest.raises(plackett.BadValue, match="closed"):
        client.health()


def test_a_restarted_service_is_found_again():
    with running_service() as running, plackett.Client(running.url) as client:
        client.create_model("shop", 2)
        port = running.url.rsplit(":", 1)[1]
        running.process.kill()
        running.process.wait()
        again = subprocess.Popen([os.environ["PLACKETT_COMMAND"], "serve", "--port", port, "--db",
                                  os.path.join(running.folder, "x.db")], stdout=subprocess.DEVNULL)
        try:
            assert client.model("shop")["name"] == "shop"  # waits for it
        finally:
            again.terminate()
            assert again.wait() == 0


def test_tokens(tmp_path):
    with running_service(tokens="admin secret-a\nfeedback shop secret-f\n") as running:
        plackett.Client(running.url, token="secret-a").create_model("shop", 2)
        with plackett.Client(running.url, token="secret-f") as shop:
            assert len(shop.rank("shop", ITEMS)["items"]) == 6
            with pytest.raises(plackett.ServiceError) as raised:
                shop.rank("other", ITEMS)
            assert raised.value.status == 403
            assert "secret" not in repr(shop)
        with pytest.raises(plackett.ServiceError) as raised:
            plackett.Client(running.url).models()
        assert raised.value.status == 401


def test_tls(tmp_path):
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
         "-keyout", key, "-out", cert, "-days", "1", "-subj", "/CN=localhost", "-addext",
         "subjectAltName=DNS:localhost,IP:127.0.0.1"], capture_output=True)
    if made.returncode != 0:
        pytest.skip("openssl is missing")
    with running_service("--tls-cert", str(cert), "--tls-key", str(key)) as running:
        with plackett.Client(running.url, ca_file=str(cert)) as client:
            assert client.health()["status"] == "ok"
        with pytest.raises(plackett.ServiceUnreachable, match="certificate"):
            plackett.Client(running.url, retries=0).health()
        context = ssl.create_default_context(cafile=str(cert))
        assert plackett.Client(running.url, context=context).ready()


class Failing:
    """A service that answers as the test says: each plan is a status, "lose" to take the request and
    close without an answer, or (status, headers, body)."""

    def __init__(self):
        self.plans, self.requests = [], []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *ignored):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                outer.requests.append((self.command, self.path, body, self.client_address))
                plan = outer.plans.pop(0) if outer.plans else 200
                if plan == "lose":
                    self.close_connection = True
                    return
                status, headers, text = plan if isinstance(plan, tuple) else (plan, {}, b"{}")
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_PUT = do_DELETE = do_POST

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def failing():
    service = Failing()
    yield service
    service.server.shutdown()
    service.server.server_close()


BUSY = (429, {"Retry-After": "0"}, b'{"error": {"status": 429, "message": "the queue is full"}}')


def test_busy_services_are_asked_again(failing):
    with plackett.Client(failing.url) as client:
        for call in (lambda: client.rank("m", ["a"]), lambda: client.take_snapshot("m"),
                     lambda: client.feedback("m", []), lambda: client.import_model("m", b"x")):
            failing.requests.clear()
            failing.plans[:] = [BUSY, 503]
            call()
            assert len(failing.requests) == 3
    assert len({request[3] for request in failing.requests}) == 1, "the connection was not kept"


def test_what_if_names_each_policy(failing):
    with plackett.Client(failing.url) as client:
        failing.plans[:] = [BUSY]
        client.what_if("m", ["snapshot:3", "current@0"], metric="dcg", lists=500)
        client.what_if("m", "logged")
    paths = [request[1] for request in failing.requests]
    assert paths[0] == paths[1] == (
        "/models/m/what-if?policy=snapshot%3A3&policy=current%400&metric=dcg&lists=500")
    assert paths[2] == "/models/m/what-if?policy=logged"


def test_retry_after_is_waited_for(failing):
    failing.plans[:] = [(503, {"Retry-After": "0.4"}, b"")]
    start = time.monotonic()
    with plackett.Client(failing.url) as client:
        client.rank("m", ["a"])
    assert 0.4 <= time.monotonic() - start < 3


def test_it_gives_up(failing):
    failing.plans[:] = [BUSY] * 10
    with pytest.raises(plackett.ServiceError, match="the queue is full") as raised:
        plackett.Client(failing.url, retries=2).rank("m", ["a"])
    assert raised.value.status == 429 and raised.value.retry_after == 0
    assert len(failing.requests) == 3


def test_lost_connections_are_tried_again_where_that_is_safe(failing):
    with plackett.Client(failing.url) as client:
        for call, times in {
            lambda: client.rank("m", ["a"]): 2,
            lambda: client.feedback("m", {"impression": "i", "event": "click", "item": "a"}): 2,
            lambda: client.put_items("m", []): 2,
            lambda: client.create_model("m", 3): 2,
            lambda: client.freeze("m"): 2,
            lambda: client.request("GET", "/models"): 2,
            lambda: client.take_snapshot("m"): 1,
            lambda: client.roll_back("m", 1): 1,
            lambda: client.import_model("m", b""): 1,
            lambda: client.start_experiment("m", "e", []): 2,
            lambda: client.stop_experiment("m", "e"): 2,
            lambda: client.promote("m", "e", "a"): 1,
            lambda: client.undo_promotion("m", "e"): 1,
            lambda: client.request("POST", "/models/m/freeze"): 1,
        }.items():
            failing.requests.clear()
            failing.plans[:] = ["lose"]
            if times == 1:
                with pytest.raises(plackett.ServiceUnreachable):
                    call()
            else:
                call()
            assert len(failing.requests) == times
            assert len({request[2] for request in failing.requests}) == 1, "another body"


def test_a_deletion_that_was_lost_and_done_is_done(failing):
    gone = (404, {}, b'{"error": {"status": 404, "message": "no model"}}')
    failing.plans[:] = ["lose", gone]
    plackett.Client(failing.url).delete_model("m")
    failing.plans[:] = [gone]
    with pytest.raises(plackett.ServiceError):
        plackett.Client(failing.url).delete_model("m")


def test_answers_of_others_are_errors(failing):
    with plackett.Client(failing.url, retries=0) as client:
        failing.plans[:] = [(200, {}, b"<html>hello</html>"), (502, {}, b"<html>bad</html>"), 301]
        with pytest.raises(plackett.ServiceError, match="not an answer of plackett"):
            client.health()
        with pytest.raises(plackett.ServiceError, match="502 Bad Gateway"):
            client.health()
        with pytest.raises(plackett.ServiceError, match="301"):
            client.health()
        failing.plans[:] = [503]
        assert client.ready() is False


def test_silence_ends(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        start = time.monotonic()
        with pytest.raises(plackett.ServiceUnreachable, match="timed out"):
            plackett.Client(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.2,
                            retries=1).health()
        assert time.monotonic() - start < 5


class Losing:
    """Passes requests on to a service, and loses the first answer."""

    def __init__(self, port):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.port, self.lost = port, 0
        threading.Thread(target=self.run, daemon=True).start()

    @staticmethod
    def whole_request(client):
        """Headers and body may come apart. Empty at the connection's end."""
        data = b""
        while True:
            head, end, body = data.partition(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: *([0-9]+)", head)
            if end and len(body) >= (int(length.group(1)) if length else 0):
                return data
            more = client.recv(65536)
            if not more:
                return b""
            data += more

    def run(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with client, socket.create_connection(("127.0.0.1", self.port)) as server:
                while data := self.whole_request(client):
                    server.sendall(data)
                    answer = server.recv(65536)
                    if self.lost == 0:
                        self.lost += 1
                        break
                    client.sendall(answer)


def test_a_ranking_whose_answer_was_lost_is_shown_once(service, client, shop):
    losing = Losing(int(service.url.rsplit(":", 1)[1]))
    with losing.listener, plackett.Client(losing.url) as unlucky:
        ranking = unlucky.rank(shop, ITEMS, id="mine", pinned=[{"id": "d", "rank": 2}])
        assert losing.lost == 1
    seen = client.impression(shop, "mine")
    assert [item["id"] for item in ranking["items"]] == [item["id"] for item in seen["items"]]
    assert ranking["items"][1] == {"id": "d", "score": seen["items"][1]["score"], "rank": 2,
                                   "pinned": True}
    assert set(ranking) == set(client.rank(shop, ITEMS))
    assert client.model(shop)["impressions"] == 2
    # Another's id is another's.
    with pytest.raises(plackett.ServiceError) as raised:
        client.rank(shop, ITEMS, id="mine")
    assert raised.value.status == 409
    losing = Losing(int(service.url.rsplit(":", 1)[1]))
    with losing.listener, plackett.Client(losing.url) as unlucky:
        with pytest.raises(plackett.ServiceError) as raised:
            unlucky.rank(shop, [{"id": "x", "features": [1, 1]}], id="mine")
        assert raised.value.status == 409
    arms = [{"name": "old", "policy": "given", "share": 0.5},
            {"name": "new", "policy": "model", "share": 0.5}]
    client.start_experiment(shop, "test", arms)
    losing = Losing(int(service.url.rsplit(":", 1)[1]))
    with losing.listener, plackett.Client(losing.url) as unlucky:
        ranking = unlucky.rank(shop, ITEMS, id="armed", unit="u")
    assert losing.lost == 1
    again = client.rank(shop, ITEMS, unit="u")
    assert (ranking["experiment"], ranking["arm"]) == (again["experiment"], again["arm"])
    client.stop_experiment(shop, "test")


def test_a_list_that_cant_be_fetched_leaves_the_conflict(failing):
    taken = (409, {}, b'{"error": {"status": 409, "message": "exists", "where": "id"}}')
    failing.plans[:] = ["lose", taken, (403, {}, b"")]
    with plackett.Client(failing.url) as client:
        with pytest.raises(plackett.ServiceError, match="id: exists") as raised:
            client.rank("m", ["a"], id="mine")
        assert raised.value.status == 409 and raised.value.tried_before
    assert [request[0] for request in failing.requests] == ["POST", "POST", "GET"]


def test_the_file_works_alone(service, tmp_path):
    """Without the engine, NumPy or the package."""
    source = Path(os.environ["PLACKETT_SOURCE_DIR"]) / "python" / "plackett" / "_client.py"
    (tmp_path / "ranking_client.py").write_text(source.read_text())
    code = (f"import ranking_client as c; client = c.Client({service.url!r});"
            "print(client.health()['status']);\n"
            "try: client.model('nothing')\n"
            "except c.ServiceError as error: print(error.status)\n"
            "import sys; assert 'numpy' not in sys.modules")
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=tmp_path, capture_output=True,
                          text=True, env={"PYTHONDONTWRITEBYTECODE": "1"})
    assert done.stdout == "ok\n404\n", done.stderr
    assert importlib.util.find_spec("plackett") is not None
