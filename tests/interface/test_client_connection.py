"""The client and a server that misbehaves: what is tried again, what is not, and what is said of it."""

import json
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from recollect import (
    Client,
    Conflict,
    EmbedderError,
    Invalid,
    NotFound,
    QuotaExceeded,
    RecollectError,
    RemoteScopedMemory,
    SettingsError,
    StoreUnavailable,
    TooLarge,
    Unauthorized,
)

TURN = {
    "kind": "turn",
    "id": "t1",
    "conversation": "c",
    "index": 0,
    "role": "user",
    "content": "tea",
    "at": "2026-01-01T00:00:00+00:00",
    "recorded_at": "2026-01-01T00:00:00+00:00",
    "digest": "d",
}


@dataclass
class Answer:
    """What the next request meets; without a status the connection is dropped."""

    status: int | None = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    short: int = 0
    """How many bytes of the body are promised and never sent."""


@dataclass
class Seen:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class Scripted:
    """A server that answers as it is told, over real connections."""

    def __init__(self) -> None:
        self.script: deque[Answer] = deque()
        self.seen: list[Seen] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                outer.answer(self)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.01,))
        self.thread.start()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        size = int(request.headers.get("Content-Length", 0))
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.seen.append(Seen(request.command, request.path, headers, request.rfile.read(size)))
        answer = self.script.popleft()
        if answer.status is None:
            request.close_connection = True
            request.connection.close()
            return
        content = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        request.send_response(answer.status)
        for name, value in answer.headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(content) + answer.short))
        request.end_headers()
        request.wfile.write(content)
        if answer.short:
            request.close_connection = True

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


@pytest.fixture
def server() -> Iterator[Scripted]:
    made = Scripted()
    yield made
    made.close()


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture
def derek(server: Scripted, slept: list[float]) -> Iterator[RemoteScopedMemory]:
    with Client(server.url, "rk_key", timeout=5, sleep=slept.append) as client:
        yield client.scope("derek", "work")


def problem(status: int, detail: str = "So it is.", **more: Any) -> Answer:
    headers = more.pop("headers", {})
    return Answer(status, {"title": "x", "status": status, "detail": detail, **more}, headers)


def test_who_asks_and_from_where(server: Scripted, derek: RemoteScopedMemory) -> None:
    server.script.append(Answer(201, {"turns": [TURN]}))
    assert derek.record("user", "tea").content == "tea"
    (seen,) = server.seen
    assert seen.path == "/api/v1/turns?channel=work"
    assert seen.headers["authorization"] == "Bearer rk_key"
    assert seen.headers["x-recollect-user"] == "derek"
    assert json.loads(seen.body) == {"messages": [{"role": "user", "content": "tea", "metadata": {}}]}


@pytest.mark.parametrize("failure", [Answer(None), problem(503), problem(429), Answer(502, b"<html>")])
def test_a_write_that_failed_in_passing_is_sent_again_under_its_key(
    server: Scripted, derek: RemoteScopedMemory, slept: list[float], failure: Answer
) -> None:
    server.script += [failure, Answer(201, {"turns": [TURN]})]
    derek.record("user", "tea")
    first, second = (seen.headers["idempotency-key"] for seen in server.seen)
    assert first == second
    assert len(slept) == 1
    server.script.append(Answer(201, {"turns": [TURN]}))
    derek.record("user", "tea")
    assert server.seen[2].headers["idempotency-key"] != first


def test_a_read_has_no_key_and_is_sent_again(server: Scripted, derek: RemoteScopedMemory) -> None:
    server.script += [Answer(None), Answer(200, {"query": "tea"}), problem(503), Answer(200, {"counts": {}})]
    assert derek.recall("tea").query == "tea"
    assert derek.counts() == {}
    assert ["idempotency-key" in seen.headers for seen in server.seen] == [False] * 4


def test_the_server_says_how_long_to_wait(
    server: Scripted, derek: RemoteScopedMemory, slept: list[float]
) -> None:
    late, never = {"Retry-After": "7"}, {"Retry-After": "86400"}
    server.script += [problem(503, headers=late), problem(429, headers=never), Answer(200, {"query": "tea"})]
    derek.recall("tea")
    assert slept == [7, 30]


def test_a_write_that_is_still_under_way_is_waited_for(
    server: Scripted, derek: RemoteScopedMemory, slept: list[float]
) -> None:
    server.script += [problem(409, headers={"Retry-After": "1"}), Answer(201, {"turns": [TURN]})]
    assert derek.record("user", "tea").id == "t1"
    assert slept == [1]


def test_patience_ends_and_the_error_is_the_servers(
    server: Scripted, derek: RemoteScopedMemory, slept: list[float]
) -> None:
    server.script += [problem(503, "The model is down.", error="EmbedderError")] * 3
    with pytest.raises(EmbedderError, match="The model is down"):
        derek.recall("tea")
    assert (len(server.seen), len(slept)) == (3, 2)


@pytest.mark.parametrize(
    ("answer", "error", "says"),
    [
        (problem(404, "There is no memory 'x'.", error="NotFound"), NotFound, "There is no memory 'x'."),
        (problem(409, error="Conflict"), Conflict, "So it is."),
        (problem(413, error="TooLarge"), TooLarge, "So it is."),
        (problem(413), TooLarge, "So it is."),
        (problem(422), Invalid, "So it is."),
        (problem(507, error="QuotaExceeded"), QuotaExceeded, "So it is."),
        (problem(401, "This key is not known."), Unauthorized, "This key is not known."),
        (problem(403), Unauthorized, "So it is."),
        (problem(500, error="SystemExit"), RecollectError, "So it is."),
        (problem(500, error="__loader__"), RecollectError, "So it is."),
        (problem(404, "There is no such user here for this key."), NotFound, "no such user"),
        (problem(404, "Not Found"), SettingsError, "knows no GET /api/v1/records/x: .* release, 0"),
        (Answer(404, b"<html>"), SettingsError, "not as Recollect does: check the address"),
        (Answer(401, b"<html>"), Unauthorized, "check the key"),
        (Answer(302, {}, {"Location": "https://elsewhere"}), SettingsError, "sends one elsewhere"),
        (Answer(200, b"<html>"), SettingsError, "something else than was asked for.*release"),
        (Answer(200, {"kind": "galaxy"}), SettingsError, "something else"),
        (Answer(200, [1]), SettingsError, "something else"),
    ],
)
def test_what_is_refused_raises_what_a_memory_here_raises(
    server: Scripted, derek: RemoteScopedMemory, answer: Answer, error: type[Exception], says: str
) -> None:
    server.script.append(answer)
    with pytest.raises(error, match=says) as raised:
        derek.get("x")
    assert type(raised.value) is error
    assert len(server.seen) == 1


def test_nobody_there(slept: list[float]) -> None:
    with Client("http://127.0.0.1:9", sleep=slept.append) as client:
        with pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1:9 .*recollect serve.*address"):
            client.whoami()
        assert len(slept) == 2


def test_a_server_that_does_not_answer_is_not_asked_again(server: Scripted) -> None:
    server.script.append(Answer(200, b"", short=10))
    with (
        Client(server.url, timeout=0.2, attempts=3) as client,
        pytest.raises(StoreUnavailable, match=r"broke off|within"),
    ):
        client.scope().counts()


@pytest.mark.parametrize(
    "given",
    [
        {"metadata": {"a": object()}},
        {"metadata": {"a": float("nan")}},
        {"metadata": {"a": b"x"}},
    ],
)
def test_what_is_not_json_is_not_sent(derek: RemoteScopedMemory, given: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        derek.record("user", "tea", **given)


def test_names_with_slashes_dots_and_anything(server: Scripted, derek: RemoteScopedMemory) -> None:
    for name in ("a/b", "..", "%2F", "ü", "a?b#c"):
        server.script.append(Answer(200, {"turns": []}))
        derek.conversation(name)
    paths = [seen.path.split("/")[4] for seen in server.seen]
    assert paths == ["a%2Fb", "%2E%2E", "%252F", "%C3%BC", "a%3Fb%23c"]
    with pytest.raises(Invalid):
        derek.get("\ud800")
    with pytest.raises(Invalid):
        derek.get(5)  # type: ignore[arg-type]


def test_an_export_that_breaks_off_is_told(server: Scripted, derek: RemoteScopedMemory) -> None:
    server.script.append(Answer(200, b'{"recollect": 1}\n{"kind"', short=5))
    lines = derek.export()
    assert next(lines) == '{"recollect": 1}'
    with pytest.raises(StoreUnavailable, match="broke off in the middle"):
        next(lines)


def test_lines_end_where_lines_end(server: Scripted, derek: RemoteScopedMemory) -> None:
    server.script.append(Answer(200, '{"a": "1\u20282\x853"}\n{}'.encode()))
    assert list(derek.export()) == ['{"a": "1\u20282\x853"}', "{}"]


def test_an_import_is_not_begun_again(server: Scripted, derek: RemoteScopedMemory) -> None:
    server.script.append(problem(503, "Later.", error="StoreUnavailable"))
    with pytest.raises(StoreUnavailable, match="Later"):
        derek.import_(["{}"])
    with pytest.raises(Invalid, match="Line 2 must be text"):
        derek.import_(["{}", 5])  # type: ignore[list-item]
    with pytest.raises(Invalid, match="lines must be a list"):
        derek.import_("{}")


@pytest.mark.parametrize("failure", [Answer(None), problem(503), Answer(504, b"<html>")])
def test_what_has_no_key_is_not_sent_twice(server: Scripted, slept: list[float], failure: Answer) -> None:
    server.script.append(failure)
    with Client(server.url, "rk_key", sleep=slept.append) as client, pytest.raises(StoreUnavailable):
        client.scope("derek", conversation="c").working.add("thought", "tea")
    assert len(server.seen) == 1


def test_many_turns_go_in_batches_into_one_new_conversation(
    server: Scripted, derek: RemoteScopedMemory
) -> None:
    said: list[int] = []
    first = [{**TURN, "conversation": "x"}, *[{**TURN, "conversation": "new"}] * 199]
    server.script += [Answer(201, {"turns": first}), Answer(201, {"turns": [TURN]})]
    messages = [
        {"role": "user", "content": "tea", "conversation": "x" if i == 0 else None} for i in range(201)
    ]
    assert len(derek.record_many(iter(messages), progress=said.append)) == 201
    assert said == [200, 201]
    bodies = [json.loads(seen.body) for seen in server.seen]
    assert [(len(body["messages"]), body["conversation"]) for body in bodies] == [(200, None), (1, "new")]


def test_a_user_of_any_name(server: Scripted) -> None:
    with Client(server.url) as client:
        server.script.append(Answer(200, {"counts": {}}))
        client.scope("Дерек 🍵").counts()
        assert server.seen[0].headers["x-recollect-user"].encode("latin-1").decode() == "Дерек 🍵"
        with pytest.raises(Invalid, match="space"):
            client.scope(" derek")


def test_what_is_asked_is_not_in_the_log(
    server: Scripted, derek: RemoteScopedMemory, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    server.script.append(Answer(200, {"procedures": []}))
    derek.procedures("How do I hide the money?")
    assert "money" not in caplog.text


def test_whose_key_it_is_is_asked_once(server: Scripted) -> None:
    with Client(server.url) as client:
        mine = client.scope(channel="work")
        server.script += [Answer(200, {"user": "derek", "role": "user"})] * 2
        assert (mine.scope.user, mine.scope.channel, mine.scope.user) == ("derek", "work", "derek")
        assert client.whoami() == ("user", "derek")
        assert [seen.path for seen in server.seen] == ["/api/v1/whoami?channel=work", "/api/v1/whoami"]
        server.script.append(Answer(200, {"role": "admin", "user": None}))
        with pytest.raises(Invalid, match=r"scope\(user="):
            _ = client.scope().scope
