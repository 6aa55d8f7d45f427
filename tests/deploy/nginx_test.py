"""deploy/nginx: nginx takes the file, and requests go through it with TLS and tokens on."""

import contextlib
import http.client
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import types
from pathlib import Path

from claims import DEPLOY, ROOT, free_port, listens, run_claims, skip, wait_until
from service import running_service

TOKENS = "admin secret-admin\nfeedback shop secret-shop\nread secret-read\n"
NGINX = next((one for one in (shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin"),
                              str(ROOT / "build" / "nginx" / "usr" / "sbin" / "nginx"))
              if one and os.access(one, os.X_OK)), None)
ITEMS = [{"id": name, "features": [at, (at * 7) % 5]} for at, name in enumerate("abcd")]


def made_certificate(folder):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
         "-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem", "-days", "1", "-subj",
         "/CN=ranking.example", "-addext", "subjectAltName=DNS:ranking.example,IP:127.0.0.1"],
        check=True, capture_output=True)


def configured(folder, upstream, change=lambda text: text):
    """The file for other ports and paths than those of a machine of its own."""
    https, plain = free_port(), free_port()
    text = (DEPLOY / "nginx" / "plackett.conf").read_text()
    for old, new in {
        "server 127.0.0.1:8080;": f"server 127.0.0.1:{upstream};",
        "listen 443 ": f"listen 127.0.0.1:{https} ",
        "listen 80;": f"listen 127.0.0.1:{plain};",
        "/etc/plackett/tls/": f"{folder}/",
        "/var/log/nginx/": f"{folder}/",
    }.items():
        assert old in text, old
        text = text.replace(old, new)
    text = re.sub(r"(?m)^ *listen \[::\]:.*$", "", text)
    Path(folder, "plackett.conf").write_text(change(text))
    scratch = "".join(f"{kind}_temp_path {folder}/{kind};\n"
                      for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    Path(folder, "nginx.conf").write_text(
        f"pid {folder}/pid;\nerror_log {folder}/error.log;\nworker_processes 1;\n"
        "daemon off;\nevents {}\n"
        f"http {{\naccess_log {folder}/access.log;\n{scratch}include {folder}/plackett.conf;\n}}\n")
    return https, plain


def checked(folder):
    done = subprocess.run([NGINX, "-t", "-p", folder, "-c", f"{folder}/nginx.conf", "-e",
                           f"{folder}/error.log"], capture_output=True, text=True)
    return done.returncode, done.stderr


@contextlib.contextmanager
def proxied(*arguments, tokens=TOKENS, change=lambda text: text):
    """A server with nginx in front."""
    with tempfile.TemporaryDirectory() as folder, \
            running_service(*arguments, tokens=tokens) as service:
        os.chmod(folder, 0o755)
        made_certificate(folder)
        https, plain = configured(folder, service.url.rsplit(":", 1)[1], change)
        code, said = checked(folder)
        assert code == 0, said
        user = ["-g", "user root;"] if os.getuid() == 0 else []
        process = subprocess.Popen([NGINX, "-p", folder, "-c", f"{folder}/nginx.conf", "-e",
                                    f"{folder}/error.log", *user])
        try:
            wait_until(lambda: listens(https) and listens(plain))
            yield types.SimpleNamespace(https=https, plain=plain, folder=folder, service=service)
        finally:
            process.terminate()
            assert process.wait(20) == 0


def ask(proxy, method, path, body=None, token="secret-shop", headers=None, raw=None):
    """(status, headers, body) over TLS."""
    context = ssl.create_default_context(cafile=f"{proxy.folder}/cert.pem")
    connection = http.client.HTTPSConnection("127.0.0.1", proxy.https, context=context, timeout=20)
    sent = {"Host": f"ranking.example:{proxy.https}", **(headers or {})}
    if token:
        sent["Authorization"] = f"Bearer {token}"
    data = raw if raw is not None else None if body is None else json.dumps(body).encode()
    with contextlib.closing(connection):
        connection.request(method, path, data, sent)
        answer = connection.getresponse()
        text = answer.read()
    return answer.status, answer.headers, text


def test_requests_go_through_with_tls_and_tokens():
    with proxied() as proxy:
        assert ask(proxy, "PUT", "/models/shop", {"features": 2}, "secret-admin")[0] == 201
        status, _, text = ask(proxy, "POST", "/models/shop/rank", {"items": ITEMS})
        assert status == 200, text
        ranking = json.loads(text)
        events = [{"impression": ranking["impression"], "event": "click",
                   "item": ranking["items"][0]["id"]},
                  {"impression": ranking["impression"], "event": "close"}]
        status, _, text = ask(proxy, "POST", "/models/shop/feedback", events)
        assert status == 200 and json.loads(text)["accepted"] == 2
        assert ask(proxy, "GET", "/models", token=None)[0] == 401
        assert ask(proxy, "GET", "/models/other")[0] == 403
        assert ask(proxy, "GET", "/health", token=None)[0] == 200
        log = Path(proxy.folder, "plackett.log").read_text()
        assert "/models/shop/rank 200" in log and "secret" not in log
        # One model's token sees one model.
        assert [one["name"] for one in json.loads(ask(proxy, "GET", "/models")[2])["models"]] == ["shop"]


def test_the_log_has_no_unit_and_no_id():
    with proxied() as proxy:
        ask(proxy, "PUT", "/models/shop", {"features": 2}, "secret-admin")
        for unit in ("mallory", "a%2Fmallory", "..%2f..%2fmallory", "?x=mallory", "%3Fmallory"):
            for path in (f"/models/shop/units/{unit}", f"/models/shop/%75nits/{unit}",
                         f"/models/shop/units/{unit}?impressions=keep"):
                ask(proxy, "DELETE", path, token="secret-admin")
        assert ask(proxy, "GET", "/models/shop/items/mallory", token="secret-read")[0] == 404
        connection = http.client.HTTPConnection("127.0.0.1", proxy.plain, timeout=10)
        with contextlib.closing(connection):
            connection.request("DELETE", "/models/shop/units/mallory", headers={"Host": "x"})
            assert connection.getresponse().status == 308
        wait_until(lambda: " 308 " in Path(proxy.folder, "plackett.log").read_text())
        for name in ("plackett.log", "access.log"):
            log = Path(proxy.folder, name)
            assert not log.exists() or "mallory" not in log.read_text(), log.read_text()
        log = Path(proxy.folder, "plackett.log").read_text()
        assert log.count(" DELETE /models/shop/units 200 ") == 8, log
        assert " GET /models/shop/items 404 " in log


def test_connections_to_the_server_are_kept():
    with proxied() as proxy:
        ask(proxy, "PUT", "/models/shop", {"features": 2}, "secret-admin")
        for _ in range(50):
            assert ask(proxy, "POST", "/models/shop/rank", {"items": ITEMS})[0] == 200
        metrics = ask(proxy, "GET", "/metrics", token="secret-read")[2].decode()
        assert int(re.search(r"(?m)^plackett_http_connections (\d+)$", metrics)[1]) <= 3


def test_pages_of_the_same_name_may_ask_and_others_not():
    with proxied() as proxy:
        ask(proxy, "PUT", "/models/shop", {"features": 2}, "secret-admin")
        own = {"Origin": f"https://ranking.example:{proxy.https}"}
        assert ask(proxy, "POST", "/models/shop/rank", {"items": ITEMS}, headers=own)[0] == 200
        other = {"Origin": "https://elsewhere.example"}
        assert ask(proxy, "POST", "/models/shop/rank", {"items": ITEMS}, headers=other)[0] == 403


def test_without_tokens_the_name_must_be_allowed():
    with proxied(tokens=None) as proxy:
        status, _, text = ask(proxy, "GET", "/models", token=None)
        assert status == 403 and b"--allow-host" in text
    with proxied("--allow-host", "ranking.example", tokens=None) as proxy:
        assert ask(proxy, "GET", "/models", token=None)[0] == 200


def test_dashboard_and_metrics_are_not_public():
    private = ("/", "/metrics", "/ready", "/openapi.json", "/web/dashboard.js")
    with proxied() as proxy:
        for path in private:
            assert ask(proxy, "GET", path, token="secret-read")[0] == 200, path
    # As if asked from outside.
    with proxied(change=lambda text: text.replace("allow 127.0.0.0/8;", "")) as proxy:
        for path in private:
            assert ask(proxy, "GET", path, token="secret-read")[0] == 403, path
        assert ask(proxy, "GET", "/models", token="secret-read")[0] == 200
        assert ask(proxy, "GET", "/web/plackett.js", token=None)[0] == 200


def test_limits_are_the_servers():
    with proxied() as proxy:
        ask(proxy, "PUT", "/models/shop", {"features": 2}, "secret-admin")
        most = 16 << 20
        # The largest that the server takes reaches it, one more byte is nginx's to refuse.
        status, _, text = ask(proxy, "POST", "/models/shop/import", raw=b"x" * most,
                              token="secret-admin")
        assert status == 400 and b"error" in text, (status, text[:200])
        status, headers, text = ask(proxy, "POST", "/models/shop/import", raw=b"x" * (most + 1),
                                    token="secret-admin")
        assert status == 413 and b"nginx" in text
    conf = (DEPLOY / "nginx" / "plackett.conf").read_text()
    shown = subprocess.run([os.environ["PLACKETT_COMMAND"], "serve", "--help"], capture_output=True,
                           text=True, check=True).stdout
    default = dict(re.findall(r"(?m)^  --([a-z-]+) \w+=(\S+)", shown))
    assert default["max-body"] == "16M" and "client_max_body_size 16m;" in conf
    assert default["request-seconds"] == "10" and "client_body_timeout 10s;" in conf
    idle = int(re.search(r"keepalive_timeout (\d+)s;\n  keepalive_requests", conf)[1])
    assert idle < int(default["idle-seconds"])
    kept = int(re.search(r"keepalive (\d+);", conf)[1])
    assert kept < int(default["max-connections"])


def test_plain_requests_are_sent_to_tls():
    with proxied() as proxy:
        connection = http.client.HTTPConnection("127.0.0.1", proxy.plain, timeout=10)
        with contextlib.closing(connection):
            connection.request("POST", "/models/shop/rank?x=1", b"{}", {"Host": "ranking.example"})
            answer = connection.getresponse()
            assert answer.status == 308
            assert answer.headers["Location"] == "https://ranking.example/models/shop/rank?x=1"


def test_a_wrong_file_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        made_certificate(folder)
        configured(folder, 1, lambda text: text.replace("proxy_pass", "proxy_pas"))
        code, said = checked(folder)
        assert code != 0 and "proxy_pas" in said


if __name__ == "__main__":
    if NGINX is None:
        skip("nginx is missing (scripts/setup --tests unpacks it)")
    if shutil.which("openssl") is None:
        skip("openssl is missing")
    sys.exit(run_claims(sys.modules[__name__]))
