"""The same things done with a memory in this process and with one behind a server come to the same."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from recollect import Client, Invalid, Memory
from recollect.models.hashing import HashingEmbedder
from recollect.testing.store_samples import ManualClock
from tests.interface.parity import SCENARIOS, Scenario, raised, scenario
from tests.interface.serving import serve

MADE = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{16,}\b")
TIMING = re.compile(r'"ms": [0-9.e-]+')
TIMED = ("ms", "latency_ms", "average_ms")
"""What no two runs have alike."""


def steady(value: Any, names: dict[str, str]) -> Any:
    """The value with its types, made-up names (ids, digests) numbered as they come."""
    if isinstance(value, str):
        kind = type(value).__name__
        value = TIMING.sub('"ms": 0', value)  # in the payload of an audit entry
        return kind, MADE.sub(lambda found: names.setdefault(found[0], f"#{len(names)}"), value)
    if is_dataclass(value) or hasattr(value, "_fields"):
        known = [field.name for field in fields(value)] if is_dataclass(value) else value._fields
        told = {name: steady(getattr(value, name), names) for name in known if name not in TIMED}
        return type(value).__name__, told
    if isinstance(value, Mapping):
        return {steady(key, names): steady(part, names) for key, part in value.items() if key not in TIMED}
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [steady(part, names) for part in value]
    return value


def told(scenario: Scenario, place: Memory | Client) -> Iterator[Any]:
    names: dict[str, str] = {}
    for number, came in enumerate(scenario(place)):
        yield number, steady(came, names)


def opened(path: Path) -> Memory:
    return Memory.open(
        path,
        embedder=HashingEmbedder(384),
        clock=ManualClock(),
        audit="verbose",
        contradictions="flag_review",
    )


@scenario
def at_the_edges(place: Memory | Client) -> Iterator[Any]:
    mine = place.scope("local")
    yield mine.remember_many([])
    yield mine.conversation("")
    yield mine.summaries("")
    yield raised(Invalid, lambda: mine.record("user", "Tea", metadata={1: 2}))[0]  # type: ignore[dict-item]
    yield raised(Invalid, lambda: mine.remember("Tea", metadata={"a": [{2: 3}]}))[0]
    yield mine.counts()
    history = [{"role": "user", "content": f"Tea number {number}"} for number in range(1500)]
    yield mine.recall("Which tea?", history=history).problems
    yield mine.recall("Which tea?", history=tuple(history)).problems
    yield raised(Invalid, lambda: mine.recall("Which tea?", history=[*history, 5]))[0]  # type: ignore[list-item]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_library_and_server_come_to_the_same(scenario: Scenario, tmp_path: Path) -> None:
    with opened(tmp_path / "here.db") as memory:
        expected = list(told(scenario, memory))
    with opened(tmp_path / "there.db") as memory, serve(memory) as url, Client(url) as client:
        for came, wanted in zip(told(scenario, client), expected, strict=True):
            assert came == wanted
