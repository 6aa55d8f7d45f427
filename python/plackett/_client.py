"""A client of `plackett serve`, in the standard library alone: the file also works by itself, copied
into a project that has no use for the engine."""

from __future__ import annotations

import http.client
import json
import random
import select
import ssl
import threading
import time
import urllib.parse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Union

try:
    from ._errors import BadType, BadValue, Error
except ImportError:  # outside of the package

    class Error(Exception):  # type: ignore[no-redef]
        """Base class of the exceptions here."""

    class BadValue(Error, ValueError):  # type: ignore[no-redef]
        """A value that is not allowed."""

    class BadType(Error, TypeError):  # type: ignore[no-redef]
        """An argument of a wrong type."""


Json = dict[str, Any]
Item = Union[str, Mapping[str, Any]]

# The service closes connections that are idle for 60 s, proxies often sooner.
_IDLE_SECONDS = 25.0
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 5.0
_LONGEST_RETRY_AFTER = 30.0
# Nothing was applied; and: nobody knows.
_REFUSED = {429, 503}
_UNKNOWN = {502, 504}


class ServiceError(Error):
    """An answer of the service that is an error, with the service's own message.

    status: the HTTP status. where: the place in the request's body, if the service names one.
    retry_after: seconds after which the service wants to be asked again, or None. tried_before: the
    call was made before, and the answer was lost.

    >>> try:
    ...     client.model("nothing")
    ... except plackett.ServiceError as error:
    ...     print(error.status, error)
    404 no model "nothing"
    """

    def __init__(
        self, status: int, message: str, where: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(f"{where}: {message}" if where else message)
        self.status = status
        self.tried_before = False
        self.where = where
        self.retry_after = retry_after


class ServiceUnreachable(Error, ConnectionError):
    """No answer: the service can't be reached, or the connection was lost.

    >>> try:
    ...     plackett.Client("http://127.0.0.1:1", retries=0).health()
    ... except plackett.ServiceUnreachable as error:
    ...     print(error)
    GET http://127.0.0.1:1/health: [Errno 111] Connection refused
    """


for _public in (ServiceError, ServiceUnreachable):
    _public.__module__ = "plackett"


def _given(**fields: Any) -> Json:
    """Without those that are None."""
    return {name: value for name, value in fields.items() if value is not None}


def _plain(value: Any) -> Any:
    """What json can't write: arrays."""
    if callable(getattr(value, "tolist", None)):
        return value.tolist()
    raise BadType(f"{type(value).__name__} can't be sent as JSON")


def _encode(body: Any) -> bytes:
    try:
        return json.dumps(body, default=_plain, allow_nan=False, separators=(",", ":")).encode()
    except (ValueError, RecursionError) as error:
        raise BadValue(f"the request can't be sent as JSON: {error}") from None


def _segment(name: str) -> str:
    if not isinstance(name, str):
        raise BadType(f"{name!r}; expected a str")
    return urllib.parse.quote(name, safe="")


class _Connection:
    """A kept-alive connection of one thread."""

    def __init__(self) -> None:
        self.http: http.client.HTTPConnection | None = None
        self.used = 0.0

    def close(self) -> None:
        if self.http is not None:
            self.http.close()
            self.http = None

    def stale(self) -> bool:
        """Whether the other side has closed it, or may do so now."""
        if self.http is None or self.http.sock is None:
            return True
        if time.monotonic() - self.used > _IDLE_SECONDS:
            return True
        return bool(select.select([self.http.sock], [], [], 0)[0])


class Client:
    """A client of `plackett serve` at a URL.

    token: sent as a bearer token. timeout: seconds for connecting, and for each wait for bytes.
    retries: how often a call is tried again. context: for https, an ssl.SSLContext; ca_file: instead
    of it, a certificate to trust.

    Answers of 429 and 503 are tried again after the time that the service asks for, or a growing
    pause. So are lost connections, but only by calls that may be made twice: all but take_snapshot,
    roll_back, import_model, promote and undo_promotion. Errors are ServiceError or
    ServiceUnreachable.

    Threads may share a client; each has its own connection, which is kept alive. Use it in `with`, or
    call close.

    >>> with plackett.Client(client.url) as shop:
    ...     ranking = shop.rank("shop", [{"id": "a", "features": [1, 2]}, {"id": "b", "features": [2, 1]}])
    ...     shop.click("shop", ranking["impression"], "a")
    ...     shop.close_list("shop", ranking["impression"])["accepted"]
    'accepted'
    1
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8080",
        *,
        token: str | None = None,
        timeout: float = 10.0,
        retries: int = 3,
        ca_file: str | None = None,
        context: ssl.SSLContext | None = None,
    ) -> None:
        parts = urllib.parse.urlsplit(url)
        try:
            port = parts.port
        except ValueError as error:
            raise BadValue(f"url: {url!r}; {error}") from None
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise BadValue(f"url: {url!r}; expected http://HOST:PORT or https://HOST:PORT")
        if parts.username is not None:
            raise BadValue("url: no names or passwords; give a token")
        if token is not None and not (token and token.isascii() and token.isprintable() and " " not in token):
            raise BadValue("token: expected visible ASCII characters")
        if not timeout > 0:
            raise BadValue(f"timeout: {timeout!r}; expected seconds above 0")
        if retries < 0:
            raise BadValue(f"retries: {retries!r}; expected an integer from 0")
        self._host = parts.hostname
        self._port = port or (443 if parts.scheme == "https" else 80)
        self._prefix = parts.path.rstrip("/")
        self._url = f"{parts.scheme}://{parts.netloc}{self._prefix}"
        self._timeout = timeout
        self._retries = retries
        self._headers = {"Accept": "application/json"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        self._context: ssl.SSLContext | None = None
        if parts.scheme == "https":
            self._context = context or ssl.create_default_context(cafile=ca_file)
        self._own = threading.local()
        self._lock = threading.Lock()
        self._connections: list[_Connection] = []
        self._closed = False

    @property
    def url(self) -> str:
        """Where the service is."""
        return self._url

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"plackett.Client({self._url!r})"

    def close(self) -> None:
        """Closes the connections, of all threads. No other call may be under way.

        >>> plackett.Client().close()
        """
        with self._lock:
            self._closed = True
            for connection in self._connections:
                connection.close()
            self._connections.clear()

    # Models

    def models(self) -> list[Json]:
        """All models; those that the token may see.

        >>> [model["name"] for model in client.models()]
        ['shop']
        """
        return self._list("/models", "models")

    def model(self, model: str) -> Json:
        """A model's settings and state.

        >>> client.model("shop")["feature_names"]
        ['price', 'rating']
        """
        return self._json("GET", self._path(model))

    def create_model(self, model: str, features: int | Sequence[str], **spec: Any) -> Json:
        """Creates a model, or gives the one that has the same settings. spec: those of the HTTP API,
        such as k, learner, ranker, seed.

        >>> client.create_model("shop", ["price", "rating"], k=10, seed=7)["k"]
        10
        """
        return self._json("PUT", self._path(model), {"features": features, **spec})

    def delete_model(self, model: str) -> None:
        """Deletes a model and all its data.

        >>> created = client.create_model("other", 3)
        >>> client.delete_model("other")
        """
        self._call("DELETE", self._path(model))

    # Items

    def put_items(self, model: str, items: Iterable[Mapping[str, Any]]) -> Json:
        """Stores items with their features, so that rankings can name them by id.

        >>> client.put_items("shop", [{"id": "lamp", "features": [19, 3.9]}])["stored"]
        1
        """
        return self._json("PUT", self._path(model, "items"), {"items": list(items)})

    def item(self, model: str, item: str) -> Json:
        """A stored item.

        >>> client.put_items("shop", [{"id": "tent", "features": {"price": 120}}])["stored"]
        1
        >>> client.item("shop", "tent")
        {'id': 'tent', 'features': [120, 0]}
        """
        return self._json("GET", self._path(model, "items", item))

    def delete_item(self, model: str, item: str) -> None:
        """Deletes a stored item.

        >>> stored = client.put_items("shop", [{"id": "old", "features": [1, 1]}])
        >>> client.delete_item("shop", "old")
        """
        self._call("DELETE", self._path(model, "items", item))

    # Ranking

    def rank(
        self,
        model: str,
        items: Iterable[Item] | None = None,
        *,
        k: int | None = None,
        mode: str | None = None,
        id: str | None = None,
        context: Any = None,
        pinned: Iterable[Mapping[str, Any]] | None = None,
        blocked: Iterable[str] | None = None,
        unit: str | None = None,
        missing: str | None = None,
        **more: Any,
    ) -> Json:
        """Ranks items: ids of stored ones, or dicts of id and features. Show the answer's `items` in
        their order, and report what happens with the `impression`.

        id: the impression's own id, of your choice; a call that has to be made again then still
        makes one impression: if the answer was lost, the list is fetched, without `skipped`. Where it
        can't be fetched, the error of status 409 stays. missing: with "skip", items that are not
        stored are left out, and the answer has their ids as `skipped` if there are any. more: other
        fields of the request, as the HTTP API names them.

        >>> answer = client.rank("shop", [{"id": "a", "features": [1, 2]}], id="visit-17")
        >>> answer["impression"], [item["id"] for item in answer["items"]]
        ('visit-17', ['a'])
        """
        body = _given(
            items=None if items is None else list(items),
            k=k,
            mode=mode,
            id=id,
            context=context,
            pinned=None if pinned is None else list(pinned),
            blocked=None if blocked is None else list(blocked),
            unit=unit,
            missing=missing,
            **more,
        )
        try:
            return self._json("POST", self._path(model, "rank"), body)
        except ServiceError as error:
            if error.status != 409 or id is None or not error.tried_before:
                raise
            try:
                mine = self._ranked_before(model, id, body)
            except Error:  # it can't be fetched, by a path of a proxy that only ranks, say
                mine = None
            if mine is None:
                raise
            return mine

    def feedback(self, model: str, events: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> Json:
        """Reports events: dicts of impression, event, item and, if the event has a name of its own,
        event_id. The answer has a status per event, in `results`, and counts by status. Of each kind,
        one event per item of a list counts, however often it is sent.

        >>> ranking = client.rank("shop", [{"id": "a", "features": [1, 2]}])
        >>> answer = client.feedback("shop", [
        ...     {"impression": ranking["impression"], "event": "click", "item": "a", "event_id": "c-1"},
        ...     {"impression": ranking["impression"], "event": "close"}])
        >>> answer["accepted"], answer["results"][0]
        (2, {'status': 'accepted'})
        """
        listed = [events] if isinstance(events, Mapping) else list(events)
        sent = [dict(event) for event in listed]
        return self._json("POST", self._path(model, "feedback"), {"events": sent})

    def click(self, model: str, impression: str, item: str, *, event_id: str | None = None) -> str:
        """The user clicked an item of the list. The event's status: "accepted", "duplicate", ...

        >>> ranking = client.rank("shop", [{"id": "a", "features": [1, 2]}])
        >>> client.click("shop", ranking["impression"], "a")
        'accepted'
        """
        return self._event(model, impression=impression, event="click", item=item, event_id=event_id)

    def view(self, model: str, impression: str, item: str, *, event_id: str | None = None) -> str:
        """The user saw an item of the list.

        >>> ranking = client.rank("shop", [{"id": "a", "features": [1, 2]}])
        >>> client.view("shop", ranking["impression"], "b")
        'unknown_item'
        """
        return self._event(model, impression=impression, event="view", item=item, event_id=event_id)

    def close_list(self, model: str, impression: str, *, event_id: str | None = None) -> Json:
        """The user is done with the list: it is learned from now.

        >>> ranking = client.rank("shop", [{"id": "a", "features": [1, 2]}])
        >>> client.close_list("shop", ranking["impression"])["accepted"]
        1
        """
        event = _given(impression=impression, event="close", event_id=event_id)
        return self.feedback(model, event)

    # What was learned

    def weights(self, model: str) -> Json:
        """How much each feature counts.

        >>> [weight["name"] for weight in client.weights("shop")["weights"]]
        ['price', 'rating']
        """
        return self._json("GET", self._path(model, "weights"))

    def set_weights(self, model: str, weights: Mapping[str, float] | Sequence[float]) -> Json:
        """Starts the model over with these weights of its features: all of them, or by name those
        that are not 0. A neural ranker has none.

        >>> client.create_model("ours", ["price", "rating"])["updates"]
        0
        >>> model = client.set_weights("ours", {"price": -2, "rating": 1})
        >>> client.weights("ours")["weights"][0]["weight"]
        -2
        >>> client.delete_model("ours")
        """
        body = {"weights": dict(weights) if isinstance(weights, Mapping) else list(weights)}
        return self._json("PUT", self._path(model, "weights"), body)

    def freeze(self, model: str) -> Json:
        """Stops learning; rankings and clicks go on.

        >>> client.freeze("shop")["learning"]
        False
        """
        return self._json("POST", self._path(model, "freeze"))

    def resume(self, model: str) -> Json:
        """Learns again.

        >>> client.resume("shop")["learning"]
        True
        """
        return self._json("POST", self._path(model, "resume"))

    def snapshots(self, model: str) -> list[Json]:
        """The model's snapshots, newest first.

        >>> taken = client.take_snapshot("shop", "before the sale")
        >>> client.snapshots("shop")[0]["note"]
        'before the sale'
        """
        return self._list(self._path(model, "snapshots"), "snapshots")

    def take_snapshot(self, model: str, note: str | None = None) -> Json:
        """Keeps the model as it is now.

        >>> client.take_snapshot("shop")["kind"]
        'asked'
        """
        return self._json("POST", self._path(model, "snapshots"), _given(note=note), once=True)

    def roll_back(self, model: str, snapshot: int) -> Json:
        """Goes back to a snapshot.

        >>> snapshot = client.take_snapshot("shop")
        >>> client.roll_back("shop", snapshot["id"])["updates"] == snapshot["updates"]
        True
        """
        return self._json("POST", self._path(model, "rollback"), {"snapshot": snapshot}, once=True)

    def export_model(self, model: str) -> bytes:
        """The model as a file, which plackett.Learner.load and `plackett evaluate` read.

        >>> client.export_model("shop")[:4]
        b'PLKM'
        """
        return self._call("GET", self._path(model, "export"))

    def import_model(
        self, model: str, file: bytes, *, learner: str | None = None, scaling: str | None = None
    ) -> Json:
        """Takes a model file's parameters; creates the model if there is none.

        learner: of a new model, if not the file's. scaling: what the file's parameters are for, if
        not what the file says.

        >>> client.import_model("copy", client.export_model("shop"))["name"]
        'copy'
        >>> client.delete_model("copy")
        """
        query = _given(learner=learner, scaling=scaling)
        path = self._path(model, "import")
        return self._decoded(self._call("POST", path, file, query=query, once=True))

    # Experiments

    def start_experiment(
        self, model: str, experiment: str, arms: Iterable[Mapping[str, Any]], **spec: Any
    ) -> Json:
        """Tests rankings live, against each other, or gives the experiment that has the same settings.
        arms: dicts of name, policy, share and mode, the baseline first. spec: other settings, as the
        HTTP API names them, such as design, metric, promote, guard.

        >>> model = client.create_model("tested", ["price", "rating"])
        >>> started = client.start_experiment("tested", "learned-or-old", [
        ...     {"name": "old", "policy": "given", "share": 0.9},
        ...     {"name": "learned", "policy": "model", "share": 0.1}], guard={"drop": "5 %"})
        >>> started["state"], started["baseline"]
        ('running', 'old')
        """
        path = self._path(model, "experiments", experiment)
        return self._json("PUT", path, {"arms": list(arms), **spec})

    def experiments(self, model: str) -> list[Json]:
        """The model's experiments, newest first, without their results over time.

        >>> [experiment["name"] for experiment in client.experiments("tested")]
        ['learned-or-old']
        """
        return self._list(self._path(model, "experiments"), "experiments")

    def experiment(self, model: str, experiment: str) -> Json:
        """An experiment: its settings, its arms with their lifts, and these over time, in `points`.

        >>> [arm["impressions"] for arm in client.experiment("tested", "learned-or-old")["arms"]]
        [0, 0]
        """
        return self._json("GET", self._path(model, "experiments", experiment))

    def promote(self, model: str, experiment: str, arm: str) -> Json:
        """Serves an arm to everyone; the experiment ends.

        >>> client.promote("tested", "learned-or-old", "learned")["promoted"]
        'learned'
        """
        path = self._path(model, "experiments", experiment, "promote")
        return self._json("POST", path, {"arm": arm}, once=True)

    def undo_promotion(self, model: str, experiment: str) -> Json:
        """Goes back to what was served before.

        >>> client.undo_promotion("tested", "learned-or-old")["can_undo"]
        False
        """
        path = self._path(model, "experiments", experiment, "undo")
        return self._json("POST", path, once=True)

    def stop_experiment(self, model: str, experiment: str) -> Json:
        """Ends an experiment and promotes nothing; one that has ended stays as it is.

        >>> client.stop_experiment("tested", "learned-or-old")["state"]
        'ended'
        """
        return self._json("POST", self._path(model, "experiments", experiment, "stop"))

    def delete_experiment(self, model: str, experiment: str) -> None:
        """Deletes an experiment that has ended.

        >>> client.delete_experiment("tested", "learned-or-old")
        >>> client.experiments("tested")
        []
        >>> client.delete_model("tested")
        """
        self._call("DELETE", self._path(model, "experiments", experiment))

    # What happened

    def stats(self, model: str, points: int | None = None) -> Json:
        """Clicks, entropy and updates over time.

        >>> len(client.stats("shop", points=5)["points"]) <= 5
        True
        """
        return self._json("GET", self._path(model, "stats"), query=_given(points=points))

    def what_if(self, model: str, policies: str | Sequence[str], **options: Any) -> Json:
        """What other policies would have been worth, by the model's log: "snapshot:3", "current" or
        "logged", each with "@TEMPERATURE" or without. Options are those of the request: metric,
        estimators, level, ranks, lists (how many of the newest). A long log may take longer than the
        client's timeout; fewer lists take less. One evaluation runs at a time; while another does,
        this one waits and tries again.

        >>> try:
        ...     client.what_if("shop", "best")
        ... except plackett.ServiceError as error:
        ...     print(error.status, error.where)
        400 policy
        """
        asked = [policies] if isinstance(policies, str) else list(policies)
        query = {"policy": asked, **_given(**options)}
        return self._json("GET", self._path(model, "what-if"), query=query)

    def impressions(
        self, model: str, limit: int | None = None, *, clicked: bool | None = None
    ) -> list[Json]:
        """The newest lists, with their feedback.

        >>> len(client.impressions("shop", 2))
        2
        """
        flag = None if clicked is None else "true" if clicked else "false"
        query = _given(limit=limit, clicked=flag)
        return self._list(self._path(model, "impressions"), "impressions", query)

    def all_impressions(self, model: str, *, cursor: str = "start") -> Iterator[Json]:
        """Every list that was shown, oldest first, in as many requests as that takes.

        cursor: where to start, as an earlier answer of the service gave it.

        >>> sum(1 for impression in client.all_impressions("shop")) >= 2
        True
        """
        while True:
            query = {"limit": 100, "cursor": cursor}
            page = self._json("GET", self._path(model, "impressions"), query=query)
            yield from page["impressions"]
            if page["cursor"] == cursor:
                return
            cursor = page["cursor"]  # a page may be empty: its lists may be gone, or damaged

    def delete_unit(self, model: str, unit: str, *, impressions: str | None = None) -> int:
        """Forgets whom a unit's lists were shown to; gives how many lists that are. The store's
        files may have the bytes until `vacuum`.

        impressions: "drop" removes the lists themselves, too.

        >>> client.delete_unit("shop", "nobody")
        0
        """
        query = _given(impressions=impressions)
        path = self._path(model, "units", unit)
        count: int = self._json("DELETE", path, query=query)["impressions"]
        return count

    def impression(self, model: str, impression: str) -> Json:
        """A list that was shown, with its feedback and what was inferred from it.

        >>> ranking = client.rank("shop", [{"id": "a", "features": [1, 2]}])
        >>> client.impression("shop", ranking["impression"])["state"]
        'open'
        """
        return self._json("GET", self._path(model, "impressions", impression))

    # The server

    def health(self) -> Json:
        """Whether the process is alive, and its version.

        >>> client.health()["status"]
        'ok'
        """
        return self._json("GET", "/health")

    def vacuum(self) -> int:
        """Writes the store anew without anything that was deleted; gives its bytes. Rankings wait,
        and a large store takes minutes: give the client a long timeout.

        >>> client.vacuum() > 0
        True
        """
        size: int = self._json("POST", "/vacuum", once=True)["store_bytes"]
        return size

    def ready(self) -> bool:
        """Whether it takes requests now.

        >>> client.ready()
        True
        """
        try:
            self._call("GET", "/ready", retries=0)
        except ServiceError as error:
            if error.status != 503:
                raise
            return False
        return True

    def metrics(self) -> str:
        """Prometheus' text.

        >>> "plackett_impressions_total" in client.metrics()
        True
        """
        return self._call("GET", "/metrics").decode()

    def request(
        self, method: str, path: str, body: Any = None, *, query: Mapping[str, Any] | None = None
    ) -> Any:
        """Any other call of the HTTP API: the JSON of its answer, or None. Only GET, PUT and DELETE
        are made again after a lost connection.

        >>> client.request("GET", "/models/shop/weights")["version"] >= 0
        True
        """
        once = method not in ("GET", "HEAD", "PUT", "DELETE")
        text = self._call(
            method, path, None if body is None else _encode(body), query=query, once=once
        )
        return self._decoded(text) if text else None

    # How calls are made

    @staticmethod
    def _path(model: str, *rest: str) -> str:
        return "/models/" + "/".join(_segment(part) for part in (model, *rest))

    def _event(self, model: str, **event: Any) -> str:
        status: str = self.feedback(model, _given(**event))["results"][0]["status"]
        return status

    def _list(self, path: str, name: str, query: Mapping[str, Any] | None = None) -> list[Json]:
        listed: list[Json] = self._json("GET", path, query=query)[name]
        return listed

    def _json(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, Any] | None = None,
        once: bool = False,
    ) -> Json:
        sent = None if body is None else _encode(body)
        return self._decoded(self._call(method, path, sent, query=query, once=once))

    def _decoded(self, text: bytes) -> Json:
        try:
            answer: Json = json.loads(text)
        except ValueError:
            raise ServiceError(200, f"{self._url}: not an answer of plackett") from None
        return answer

    def _ranked_before(self, model: str, impression: str, body: Json) -> Json | None:
        """The ranking that an earlier try of this call made, whose answer was lost."""
        shown = self.impression(model, impression)
        asked = {item if isinstance(item, str) else item["id"] for item in body.get("items", ())}
        if not all(item["id"] in asked for item in shown["items"]):
            return None
        fields = ("impression", "model_version", "log_probability", "entropy")
        items = [
            {name: item[name] for name in ("id", "score", "rank")}
            | ({"pinned": True} if item["pinned"] else {})
            for item in shown["items"]
        ]
        ranking = {**{name: shown[name] for name in fields}, "items": items}
        for name in ("experiment", "arm"):
            if shown.get(name) is not None:
                ranking[name] = shown[name]
        return ranking

    def _call(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        query: Mapping[str, Any] | None = None,
        once: bool = False,
        retries: int | None = None,
    ) -> bytes:
        """The answer's body. once: the call must not be made twice."""
        target = self._prefix + path + ("?" + urllib.parse.urlencode(query, doseq=True) if query else "")
        left = self._retries if retries is None else retries
        pause = _FIRST_PAUSE
        lost = False  # an earlier try may have been applied
        while True:
            try:
                return self._try(method, target, body)
            except ServiceError as error:
                if lost and method == "DELETE" and error.status == 404:
                    return b""
                error.tried_before = lost
                again = error.status in _REFUSED or (error.status in _UNKNOWN and not once)
                if not again or left == 0:
                    raise
                lost = lost or error.status in _UNKNOWN
                wait = error.retry_after
            except _NotSent as error:
                if left == 0:
                    raise ServiceUnreachable(f"{method} {self._url}{path}: {error}") from error
                wait = None
            except (OSError, http.client.HTTPException) as error:
                if once or left == 0:
                    why = str(error) or type(error).__name__
                    raise ServiceUnreachable(f"{method} {self._url}{path}: {why}") from error
                lost = True
                wait = None
            left -= 1
            # Clients that were refused together don't come back together.
            time.sleep(
                pause * random.uniform(0.5, 1.5) if wait is None else wait * random.uniform(1, 1.1)
            )
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _try(self, method: str, target: str, body: bytes | None) -> bytes:
        connection = self._connection()
        try:
            if connection.http is None:
                try:
                    connection.http = self._connect()
                except OSError as error:
                    raise _NotSent(error) from error
            headers = dict(self._headers)
            if body is not None:
                json_body = not target.split("?")[0].endswith("/import")
                headers["Content-Type"] = (
                    "application/json" if json_body else "application/octet-stream"
                )
            connection.http.request(method, target, body, headers)
            answer = connection.http.getresponse()
            text = answer.read()
        except BaseException:
            connection.close()
            raise
        connection.used = time.monotonic()
        if answer.will_close:
            connection.close()
        if answer.status >= 300:
            raise _error_of(answer, text)
        return text

    def _connection(self) -> _Connection:
        connection: _Connection | None = getattr(self._own, "connection", None)
        with self._lock:
            if self._closed:
                raise BadValue("the client is closed")
            if connection is None:
                connection = self._own.connection = _Connection()
                self._connections.append(connection)
        if connection.http is not None and connection.stale():
            connection.close()
        return connection

    def _connect(self) -> http.client.HTTPConnection:
        made: http.client.HTTPConnection
        if self._context is None:
            made = http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)
        else:
            made = http.client.HTTPSConnection(
                self._host, self._port, timeout=self._timeout, context=self._context
            )
        made.connect()
        return made


class _NotSent(Exception):
    """There was no connection: nothing was sent."""


def _error_of(answer: http.client.HTTPResponse, text: bytes) -> ServiceError:
    try:
        told = json.loads(text)["error"]
        message, where = str(told["message"]), str(told.get("where", ""))
    except (ValueError, KeyError, TypeError, AttributeError):
        # Of a proxy, say.
        message, where = f"{answer.status} {answer.reason}", ""
    try:
        after: float | None = min(float(answer.headers["Retry-After"]), _LONGEST_RETRY_AFTER)
    except (TypeError, ValueError):
        after = None
    if after is not None and not after >= 0:
        after = None
    return ServiceError(answer.status, message, where, after)
