"""REST: a whole memory out and in, as a stream, whatever is sent."""

import json
from collections.abc import Callable, Iterator

import httpx
import pytest

from recollect import TooLarge
from recollect.server.http.transfer import lines

V1 = "/api/v1"


def told(client: httpx.Client, count: int) -> None:
    messages = [{"role": "user", "content": f"Turn {number}, ü"} for number in range(count)]
    assert client.post(f"{V1}/turns", json={"messages": messages, "conversation": "c"}).status_code == 201


def test_what_is_exported_is_imported(me: httpx.Client, somebody: Callable[..., httpx.Client]) -> None:
    told(me, 600)
    me.post(f"{V1}/facts", json={"content": "Lives in Porto", "about": ["Derek"]})
    with me.stream("GET", f"{V1}/export") as response:
        assert response.headers["content-type"] == "application/x-ndjson"
        assert "content-length" not in response.headers
        body = response.read()
    assert json.loads(body.splitlines()[0])["recollect"] == 1
    other = somebody()
    done = other.post(f"{V1}/import", content=body)
    assert (done.status_code, done.json()["counts"]["turn"]) == (200, 601)
    assert other.get(f"{V1}/conversations/c/turns").json() == me.get(f"{V1}/conversations/c/turns").json()
    again = other.post(f"{V1}/import", content=body).json()
    assert again == {"counts": {}, "unchanged": len(body.splitlines()) - 1}


def test_an_import_comes_in_parts_of_any_size(
    me: httpx.Client, somebody: Callable[..., httpx.Client]
) -> None:
    told(me, 20)
    body = me.get(f"{V1}/export").content

    def parts(size: int) -> Iterator[bytes]:
        for start in range(0, len(body), size):
            yield body[start : start + size]

    for size in (7, 1000):
        done = somebody().post(f"{V1}/import", content=parts(size))
        assert (done.status_code, done.json()["counts"]["turn"]) == (200, 20)


HEADER = b'{"recollect": 1}\n'


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"\n\n", 422),
        (b"not json", 422),
        (HEADER + b"\xff\xfe\n", 422),
        (HEADER + b'{"kind": "turn"}\n', 422),
        (HEADER + b'{"kind": "fact", "id": "../../etc/passwd", "content": 1}\n', 422),
        (HEADER + b"[" * 100_000, 422),
        (HEADER + b'{"kind": "fact", "valid_from": 1e999, "id": NaN}\n', 422),
        (HEADER + b"x" * 9_000_000, 413),
        (b'{"recollect": 1, "secret": "00"}', 422),
        (b'{"recollect": ' + b"9" * 5000 + b"}", 422),
    ],
)
def test_what_cannot_be_imported_is_told(me: httpx.Client, body: bytes, status: int) -> None:
    refused = me.post(f"{V1}/import", content=body)
    assert (refused.status_code, refused.headers["content-type"]) == (status, "application/problem+json")
    assert me.get(f"{V1}/stats").json()["counts"] == {}


def test_lines_are_put_together() -> None:
    text = "a\nbü\n\nc".encode()
    for size in range(1, len(text) + 1):
        parts = (text[start : start + size] for start in range(0, len(text), size))
        assert [*lines(parts, 100)] == ["a", "bü", "", "c"]
    for parts in ([b"x" * 6], [b"xxx", b"xxx"], [b"a\nxxxxxx\n"], [b"xxxxxx\n"]):
        with pytest.raises(TooLarge):
            list(lines(iter(parts), 5))


def test_a_client_that_leaves_stops_its_import(
    me: httpx.Client, somebody: Callable[..., httpx.Client]
) -> None:
    told(me, 3)
    body = me.get(f"{V1}/export").content

    def leaving() -> Iterator[bytes]:
        yield body[: len(body) // 2]
        raise ConnectionAbortedError

    other = somebody()
    with pytest.raises(ConnectionAbortedError):
        other.post(f"{V1}/import", content=leaving())
    assert other.post(f"{V1}/import", content=body).status_code == 200
    assert len(other.get(f"{V1}/conversations/c/turns").json()["turns"]) == 3
