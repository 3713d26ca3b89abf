"""The embedder over HTTP, against a real server on the loopback."""

import logging
import threading
from collections.abc import Generator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import EmbedderError, SettingsError
from recollect.model.space import Space
from recollect.models.http import HttpEmbedder, split
from recollect.testing.openai_answers import Body, scatter
from recollect.testing.openai_server import (
    Alter,
    Drop,
    Hang,
    OpenAIServer,
    Status,
    Truncate,
    not_a_number,
    reversed_order,
    wrong_count,
    wrong_dimensions,
)

pytest.importorskip("httpx")

KEY = "sk-a-secret-key"
SECRET = "the text that must not leak"


@pytest.fixture
def server() -> Generator[OpenAIServer]:
    with OpenAIServer(dimensions=16) as running:
        yield running


@pytest.fixture
def embedder(server: OpenAIServer, waits: list[float]) -> Generator[HttpEmbedder]:
    made = HttpEmbedder(server.base_url, "a-model", api_key=KEY, attempts=4, batch_size=3, sleep=waits.append)
    yield made
    made.close()


def expected(*texts: str) -> np.ndarray:
    rows = np.asarray([scatter(text, 16) for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_texts_become_unit_vectors_in_order_over_batches(
    server: OpenAIServer, embedder: HttpEmbedder
) -> None:
    texts = [f"text {i}" for i in range(7)]
    vectors = embedder.embed_passages(texts)
    assert vectors.dtype == np.float32
    assert np.allclose(vectors, expected(*texts), atol=1e-6)
    assert [len(request.body["input"]) for request in server.requests] == [3, 3, 1]
    assert {request.path for request in server.requests} == {"/v1/embeddings"}
    assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {KEY}"}
    assert {request.body["model"] for request in server.requests} == {"a-model"}


def test_dimensions_are_learnt_from_the_first_answer(server: OpenAIServer, embedder: HttpEmbedder) -> None:
    embedder.embed_query("anything")
    assert embedder.space == Space("a-model", 16)
    assert len(server.requests) == 1


def test_asking_for_the_space_first_makes_one_call(server: OpenAIServer, embedder: HttpEmbedder) -> None:
    assert embedder.space.dimensions == embedder.space.dimensions == 16
    assert len(server.requests) == 1


def test_given_dimensions_need_no_call_and_are_sent_only_to_shorten(server: OpenAIServer) -> None:
    plain = HttpEmbedder(server.base_url, "m", dimensions=16, unrelated=0.2)
    assert plain.space == Space("m", 16, 0.2)
    assert plain.embed_passages([]).shape == (0, 16)
    assert server.requests == []
    plain.embed_query("x")
    plain.close()
    short = HttpEmbedder(server.base_url, "m", dimensions=16, shorten=True)
    short.embed_query("x")
    short.close()
    assert ["dimensions" in request.body for request in server.requests] == [False, True]


def test_answers_are_put_in_order_by_index(server: OpenAIServer, embedder: HttpEmbedder) -> None:
    server.script(reversed_order())
    assert np.allclose(embedder.embed_passages(["a", "b", "c"]), expected("a", "b", "c"), atol=1e-6)


def test_prefixes_tell_queries_from_passages(server: OpenAIServer) -> None:
    embedder = HttpEmbedder(server.base_url, "m", query_prefix="query: ", passage_prefix="passage: ")
    embedder.embed_query("x")
    embedder.embed_passages(["x"])
    embedder.close()
    assert [request.body["input"] for request in server.requests] == [["query: x"], ["passage: x"]]


@pytest.mark.parametrize("step", [Status(429), Status(500), Status(503), Drop()], ids=repr)
def test_passing_failures_are_tried_again_ever_later(
    server: OpenAIServer, embedder: HttpEmbedder, waits: list[float], step: Status | Drop
) -> None:
    server.script(step, step, step)
    assert np.allclose(embedder.embed_query("x"), expected("x")[0], atol=1e-6)
    assert len(server.requests) == 4
    assert all(0.5 * 2**i / 2 <= wait <= 0.5 * 2**i for i, wait in enumerate(waits))


def test_it_gives_up_after_the_allowed_attempts(
    server: OpenAIServer, embedder: HttpEmbedder, waits: list[float]
) -> None:
    server.script(*[Status(503)] * 4)
    with pytest.raises(EmbedderError, match="failed 4 times, at last with status 503"):
        embedder.embed_query(SECRET)
    assert len(waits) == 3


def test_retry_after_is_honoured_in_seconds_and_as_a_date_within_reason(
    server: OpenAIServer, embedder: HttpEmbedder, waits: list[float]
) -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    server.script(
        Status(429, retry_after="7"), Status(429, retry_after=soon), Status(429, retry_after="86400")
    )
    embedder.embed_passages(["x"])
    assert waits[0] == 7.0
    assert 10 < waits[1] <= 20
    assert waits[2] == 30.0


def test_a_senseless_retry_after_is_ignored(
    server: OpenAIServer, embedder: HttpEmbedder, waits: list[float]
) -> None:
    server.script(Status(429, retry_after="soon"), Status(429, retry_after="nan"))
    embedder.embed_query("x")
    assert all(0 < wait <= 1.0 for wait in waits)


@pytest.mark.parametrize(("status", "hint"), [(400, "scripted"), (401, "API key"), (404, "base URL")])
def test_a_refusal_is_not_tried_again(
    server: OpenAIServer, embedder: HttpEmbedder, waits: list[float], status: int, hint: str
) -> None:
    server.script(Status(status))
    with pytest.raises(EmbedderError, match=f"status {status}.*{hint}"):
        embedder.embed_query("x")
    assert waits == []


def test_a_server_that_says_nothing_runs_into_the_time_out(server: OpenAIServer, waits: list[float]) -> None:
    release = threading.Event()
    embedder = HttpEmbedder(server.base_url, "m", timeout=0.05, attempts=2, sleep=waits.append)
    server.script(Hang(release), Hang(release))
    with pytest.raises(EmbedderError, match="failed 2 times, at last with ReadTimeout"):
        embedder.embed_query("x")
    release.set()
    embedder.close()


def test_no_server_at_all_is_an_embedder_error(waits: list[float]) -> None:
    with OpenAIServer() as gone:
        address = gone.base_url
    embedder = HttpEmbedder(address, "m", attempts=3, sleep=waits.append)
    with pytest.raises(EmbedderError, match="ConnectError"):
        embedder.embed_passages(["x"])
    assert len(waits) == 2
    embedder.close()


def constant(body: Any) -> Alter:
    return Alter(lambda _: body)


@pytest.mark.parametrize(
    "step",
    [
        Truncate(),
        wrong_count(),
        not_a_number(),
        wrong_dimensions(),
        constant([]),
        constant({"data": "text"}),
        constant({"data": [{"index": 0}, {"index": 1}]}),
        constant({"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]}),
        constant({"data": [{"index": [0], "embedding": [1.0]}] * 2}),
        constant({"data": [{"index": i, "embedding": ["a"]} for i in range(2)]}),
        constant({"data": [{"index": i, "embedding": 1.0} for i in range(2)]}),
        constant({"data": [{"index": i, "embedding": []} for i in range(2)]}),
        constant({"data": [{"index": i, "embedding": [0.0, 0.0]} for i in range(2)]}),
        constant({"data": [{"index": i, "embedding": [1e300, 1e300]} for i in range(2)]}),
    ],
)
def test_a_wrong_answer_is_an_embedder_error(
    server: OpenAIServer, embedder: HttpEmbedder, step: Truncate | Alter
) -> None:
    server.script(step)
    with pytest.raises(EmbedderError):
        embedder.embed_passages(["a", "b"])


def test_other_dimensions_than_the_first_answer_are_refused(
    server: OpenAIServer, embedder: HttpEmbedder
) -> None:
    embedder.embed_query("x")

    def shorter(body: Body) -> Body:
        return body | {"data": [item | {"embedding": item["embedding"][:9]} for item in body["data"]]}

    server.script(Alter(shorter))
    with pytest.raises(EmbedderError, match="9 dimensions; a-model has 16"):
        embedder.embed_query("x")


def test_a_long_text_is_sent_whole_in_pieces_and_averaged_by_length(server: OpenAIServer) -> None:
    embedder = HttpEmbedder(server.base_url, "m", max_chars=100)
    text = "word " * 60 + "tail"
    vector = embedder.embed_query(text)
    sent = server.requests[0].body["input"]
    assert "".join(sent) == text
    assert all(len(piece) <= 100 for piece in sent)
    average = np.average(expected(*sent), axis=0, weights=[len(piece) for piece in sent])
    assert np.allclose(vector, average / np.linalg.norm(average), atol=1e-6)
    embedder.close()


@pytest.mark.parametrize(
    "text", ["", " ", "\x00", "\ud800 alone", "\ud83d\ude00", "\U0010ffff", "a" * (1 << 20)]
)
def test_strange_texts_are_taken(server: OpenAIServer, embedder: HttpEmbedder, text: str) -> None:
    assert np.linalg.norm(embedder.embed_query(text)) == pytest.approx(1.0, abs=1e-5)
    assert all(piece for request in server.requests for piece in request.body["input"])


def test_neither_text_nor_key_is_shown_or_logged(
    server: OpenAIServer, embedder: HttpEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    quoting = {"error": {"message": f"bad input {SECRET} for {KEY}", "code": f"bad {SECRET}"}}
    server.script(Status(400, body=quoting))
    with pytest.raises(EmbedderError) as raised:
        embedder.embed_query(SECRET)
    shown = repr(embedder) + str(raised.value) + caplog.text
    assert SECRET not in shown
    assert KEY not in shown


@pytest.mark.parametrize(
    ("base_url", "key"),
    [("localhost:8080", None), ("http://x\n", None), ("http://x", "key\n"), ("http://x", "ключ")],
)
def test_settings_that_cannot_work_are_refused(base_url: str, key: str | None) -> None:
    with pytest.raises(SettingsError):
        HttpEmbedder(base_url, "m", api_key=key)


def test_an_address_that_is_none_is_an_embedder_error(waits: list[float]) -> None:
    embedder = HttpEmbedder("http://[not-an-address", "m", sleep=waits.append)
    with pytest.raises(EmbedderError):
        embedder.embed_query("x")
    embedder.close()


def test_threads_share_one_embedder(server: OpenAIServer, embedder: HttpEmbedder) -> None:
    results: dict[int, np.ndarray] = {}

    def work(number: int) -> None:
        results[number] = embedder.embed_query(f"text {number}")

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.allclose(results[i], expected(f"text {i}")[0], atol=1e-6) for i in range(8))


@given(st.text(max_size=200), st.integers(1, 50))
def test_splitting_loses_nothing(text: str, limit: int) -> None:
    pieces = split(text, limit)
    assert "".join(pieces) == text
    assert all(len(piece) <= limit for piece in pieces)
    assert all(pieces) or pieces == [""]
