"""Spans of recall, mining and requests, as OpenTelemetry's SDK receives them, without a word of anybody's."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fastapi import APIRouter, Request
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from recollect import Memory, ScopedMemory
from recollect.server.serving import serving
from tests.interface.serving import serve

SAID = "My name is Derek and I work as a carpenter in Oslo"
router = APIRouter()


@router.get("/ask/{word}")
async def ask(request: Request, word: str) -> int:
    here = serving(request)
    return len((await here.run(lambda: here.memory.scope("derek").recall(word))).hits)


@pytest.fixture(scope="module")
def exporter() -> Iterator[InMemorySpanExporter]:
    """There is one provider for the whole program, for good; afterwards nobody listens to it."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    yield exporter
    exporter.shutdown()  # not the provider, which would warn of every span from here on


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> InMemorySpanExporter:
    exporter.clear()
    return exporter


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder="hashing") as memory:
        memory.scope("derek", conversation="work").record("user", SAID)
        yield memory


@pytest.fixture
def derek(memory: Memory, spans: InMemorySpanExporter) -> ScopedMemory:
    return memory.scope("derek")


def by_name(spans: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in spans.get_finished_spans()}


def context(span: ReadableSpan) -> trace.SpanContext:
    assert span.context is not None
    return span.context


def test_recall_step_by_step(derek: ScopedMemory, spans: InMemorySpanExporter) -> None:
    found = derek.recall("Where does Derek work?")
    told = by_name(spans)
    whole = told["recollect.recall"]
    assert {f"recollect.recall.{used.name}" for used in found.used} <= set(told)
    assert (whole.attributes or {})["recollect.hits"] == len(found.hits) > 0
    for name, span in told.items():
        if name != "recollect.recall":
            assert span.parent is not None
            assert span.parent.trace_id == context(whole).trace_id
    assert "carpenter" not in "".join(span.to_json() for span in told.values()).lower()
    assert "derek" not in "".join(span.to_json() for span in told.values()).lower()


def test_mining_step_by_step(derek: ScopedMemory, spans: InMemorySpanExporter) -> None:
    (mined,) = derek.mine()
    told = by_name(spans)
    assert {"recollect.mine", *(f"recollect.mine.{step}" for step in ("extract", "embed", "land"))} <= set(
        told
    )
    assert (told["recollect.mine"].attributes or {})["recollect.added"] == mined.added > 0
    assert "carpenter" not in "".join(span.to_json() for span in told.values()).lower()


def test_the_background(memory: Memory, spans: InMemorySpanExporter) -> None:
    memory.tend()
    assert any(name.startswith("recollect.tend.") for name in by_name(spans))


def test_an_error_is_named_but_not_quoted(derek: ScopedMemory, spans: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError, match="carpenter"):
        derek.recall("what", kinds=["carpenter"])
    whole = by_name(spans)["recollect.recall"]
    assert not whole.status.is_ok
    assert "carpenter" not in whole.to_json()
    assert (whole.attributes or {})["error.type"] == "Invalid"


def test_a_request_goes_on_with_its_callers_trace(memory: Memory, spans: InMemorySpanExporter) -> None:
    caller = f"00-{'ab' * 16}-{'cd' * 8}-01"
    with serve(memory, router) as url:
        assert httpx.get(f"{url}/ask/carpenter", headers={"traceparent": caller}, timeout=60).json() > 0
    told = by_name(spans)
    request = told["GET /ask/{word}"]
    assert request.kind == trace.SpanKind.SERVER
    assert f"{context(request).trace_id:032x}" == "ab" * 16
    assert request.parent is not None
    assert f"{request.parent.span_id:016x}" == "cd" * 8
    assert (request.attributes or {}) == {
        "http.request.method": "GET",
        "http.route": "/ask/{word}",
        "http.response.status_code": 200,
    }
    recall = told["recollect.recall"]
    assert recall.parent is not None
    assert recall.parent.span_id == context(request).span_id  # across the thread it ran in
    assert "carpenter" not in "".join(span.to_json() for span in told.values())
