"""A scripted OpenAI-compatible server: real HTTP on the loopback, for tests of what talks to one.

    with OpenAIServer() as server:
        server.script(Status(429, retry_after="2"), Drop())       # what the next requests meet, in order
        client = HttpEmbedder(server.base_url, "any-model")       # then everything is answered properly
        server.say("Lisbon.")                                     # the next thing its chat model says

A new endpoint is a function from the request's body to the answer's, entered in `_routes`.
"""

import json
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self, cast

from recollect.testing.openai_answers import (
    Body,
    Calls,
    Chat,
    completion,
    embeddings,
    events,
    models,
    ranking,
    response,
    response_events,
    scatter,
)


@dataclass(frozen=True, slots=True)
class Request:
    """A request the server saw; header names are in small letters."""

    path: str
    headers: Mapping[str, str]
    body: Body
    """As JSON; empty if it is none."""
    raw: bytes = b""
    method: str = "POST"


@dataclass(frozen=True, slots=True)
class Status:
    """Answer with this status instead."""

    code: int
    retry_after: str | None = None
    body: Body = field(default_factory=lambda: {"error": {"message": "scripted", "code": "scripted"}})


@dataclass(frozen=True, slots=True)
class Drop:
    """Close the connection without a word."""


@dataclass(frozen=True, slots=True)
class Hang:
    """Say nothing until the event is set or the server stops; then close the connection."""

    until: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True, slots=True)
class Truncate:
    """Answer with the first half of the right JSON, as if it were all."""


@dataclass(frozen=True, slots=True)
class Break:
    """Promise the whole answer, send the first half of it and close the connection."""


@dataclass(frozen=True, slots=True)
class Alter:
    """Answer with a changed body."""

    change: Callable[[Body], Body]


@dataclass(frozen=True, slots=True)
class Feed:
    """Answer with these bytes, piece by piece, each when its event, if it has one, is set; then end, close
    the connection in the middle (`broken`), or wait until the client has closed it (`open`): sets `gone`."""

    pieces: Sequence[bytes]
    gates: Sequence[threading.Event] = ()
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "text/event-stream"})
    status: int = 200
    end: Literal["whole", "broken", "open"] = "whole"
    gone: threading.Event = field(default_factory=threading.Event)


Step = Status | Drop | Hang | Truncate | Break | Alter | Feed


def wrong_count() -> Alter:
    """One vector too few."""
    return Alter(lambda body: body | {"data": body["data"][:-1]})


def reversed_order() -> Alter:
    """The right vectors with the right indexes, last first."""
    return Alter(lambda body: body | {"data": body["data"][::-1]})


def not_a_number() -> Alter:
    """A NaN in the first vector."""
    return _first_vector(lambda vector: [float("nan"), *vector[1:]])


def wrong_dimensions() -> Alter:
    """The first vector shorter than the others."""
    return _first_vector(lambda vector: vector[:-1])


def _first_vector(change: Callable[[list[float]], list[float]]) -> Alter:
    def altered(body: Body) -> Body:
        first, *rest = body["data"]
        return body | {"data": [first | {"embedding": change(first["embedding"])}, *rest]}

    return Alter(altered)


class OpenAIServer:
    """The server, as a context manager. `requests` holds all it saw, in order.

    `chat` is its chat model: from the request's body to what is said. What `say` was given comes first. A
    schema in the request is the script's business. `lacks` are paths that it does not have.
    """

    def __init__(
        self,
        dimensions: int = 16,
        embed: Callable[[str], list[float]] | None = None,
        chat: Chat | None = None,
        lacks: Sequence[str] = (),
    ) -> None:
        self.requests: list[Request] = []
        self._embed: Callable[[str], list[float]] = embed or partial(scatter, dimensions=dimensions)
        self._chat: Chat = chat or (lambda body: "I have nothing to say.")
        self._said: deque[str | Calls] = deque()
        self._steps: deque[Step] = deque()
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._routes: dict[str, Callable[[Body], Body | bytes]] = {
            "/v1/embeddings": lambda body: embeddings(body, self._embed),
            "/v1/chat/completions": lambda body: (events if body.get("stream") else completion)(
                body, self._answer(body)
            ),
            "/v1/responses": lambda body: (response_events if body.get("stream") else response)(
                body, self._answer(body)
            ),
            "/v1/rerank": ranking,
            "/v1/models": lambda body: models(),
        }
        for path in lacks:
            del self._routes[path]
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def script(self, *steps: Step) -> None:
        """What the coming requests meet, one step each; afterwards all are answered properly."""
        self._steps.extend(steps)

    def say(self, *texts: str | Calls) -> None:
        """What the chat model says next, one text, or calls of tools, an answer; afterwards it is asked
        itself."""
        self._said.extend(texts)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def meet(self, request: Request, handler: "_Handler") -> None:
        """Answer one request by the next step of the script, or properly."""
        self.requests.append(request)
        with self._lock:
            step = self._steps.popleft() if self._steps else None
        route = self._routes.get(request.path.partition("?")[0])
        if isinstance(step, Feed):
            handler.feed(step, self._stopping)
            return
        if route is None:
            handler.answer(404, {"error": {"message": "no such path", "code": "not_found"}})
            return
        match step:
            case None:
                handler.answer(200, route(request.body))
            case Status():
                handler.answer(step.code, step.body, step.retry_after)
            case Alter():
                whole = route(request.body)
                handler.answer(200, whole if isinstance(whole, bytes) else step.change(whole))
            case Truncate() | Break():
                whole = route(request.body)
                raw = whole if isinstance(whole, bytes) else json.dumps(whole).encode()
                half = raw[: len(raw) // 2]
                kind = "text/event-stream" if isinstance(whole, bytes) else "application/json"
                handler.send(200, half, kind=kind, length=len(raw if isinstance(step, Break) else half))
                if isinstance(step, Break):
                    handler.hang_up()
            case Drop():
                handler.hang_up()
            case Hang():
                wait(step.until, self._stopping)
                handler.hang_up()

    def _answer(self, body: Body) -> str | Calls:
        """What the chat model says; the last word is that of the script."""
        with self._lock:
            said = self._said.popleft() if self._said else None
        return self._chat(body) if said is None else said


def wait(event: threading.Event, stopping: threading.Event) -> None:
    while not event.wait(0.01) and not stopping.is_set():
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # Threads of hung-up clients are not waited for: `daemon_threads` ends them with the process.
    block_on_close = False
    # Room for clients that come at once; the usual 5 makes the sixth wait a second.
    request_queue_size = 128
    owner: OpenAIServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that timed out is part of the test, not news for the console."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            body: Body = json.loads(raw or b"{}")
        except ValueError:
            body = {}
        request = Request(self.path, headers, body, raw, self.command)
        cast(_Server, self.server).owner.meet(request, self)

    def do_GET(self) -> None:
        self.do_POST()

    def do_DELETE(self) -> None:
        self.do_POST()

    def feed(self, step: Feed, stopping: threading.Event) -> None:
        try:
            self._feed(step, stopping)
        except ConnectionError:
            step.gone.set()
            raise

    def _feed(self, step: Feed, stopping: threading.Event) -> None:
        self.send_response(step.status)
        for name, value in step.headers.items():
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for place, piece in enumerate(step.pieces):
            if place < len(step.gates):
                wait(step.gates[place], stopping)
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            self.wfile.flush()
        if step.end == "open":
            self.rfile.read(1)  # ends when the client closes
            step.gone.set()
        if step.end == "whole":
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.hang_up()

    def answer(self, status: int, body: Body | bytes, retry_after: str | None = None) -> None:
        """JSON, or server-sent events as they are."""
        if isinstance(body, bytes):
            self.send(status, body, kind="text/event-stream")
        else:
            self.send(status, json.dumps(body).encode(), retry_after)

    def send(
        self,
        status: int,
        content: bytes,
        retry_after: str | None = None,
        kind: str = "application/json",
        length: int | None = None,
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content) if length is None else length))
        if retry_after is not None:
            self.send_header("Retry-After", retry_after)
        self.end_headers()
        self.wfile.write(content)

    def hang_up(self) -> None:
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: tests read `requests`."""
