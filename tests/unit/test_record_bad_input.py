"""What cannot be taken is refused with an error that says what to do, and nothing is stored."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from recollect import Invalid, Memory, NotFound, ScopedMemory, TooLarge
from tests.unit.support import OpenMemory

CYCLE: dict[str, Any] = {}
CYCLE["self"] = CYCLE

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "role": ({"role": "narrator"}, "user, assistant, system, tool, note"),
    "role type": ({"role": None}, "role"),
    "content type": ({"content": b"bytes"}, "must be text, not bytes"),
    "no content": ({"content": None}, "must be text"),
    "zone": ({"zone": "Mars/Olympus"}, "Europe/Lisbon"),
    "zone path": ({"zone": "../../etc/passwd"}, "time zone"),
    "zone type": ({"zone": 1}, "zone must be text"),
    "negative index": ({"index": -1}, "index"),
    "huge index": ({"index": 2**31}, "index"),
    "index type": ({"index": "3"}, "whole number"),
    "index truth": ({"index": True}, "whole number"),
    "negative tokens": ({"tokens": -1}, "tokens"),
    "huge tokens": ({"tokens": 2**70}, "tokens"),
    "model type": ({"model": 4}, "model must be text"),
    "title type": ({"title": ["x"]}, "title must be text"),
    "naive time": ({"at": datetime(2026, 1, 1)}, "time zone"),  # noqa: DTZ001
    "time type": ({"at": "2026-01-01"}, "must be a datetime"),
    "time overflow": ({"at": datetime.max.replace(tzinfo=timezone(timedelta(hours=-5)))}, "9999"),
    "metadata type": ({"metadata": ["a"]}, "map names to values"),
    "metadata object": ({"metadata": {"x": object()}}, "JSON"),
    "metadata nan": ({"metadata": {"x": float("nan")}}, "JSON"),
    "metadata cycle": ({"metadata": CYCLE}, "JSON"),
    "metadata size": ({"metadata": {"x": "y" * 70_000}}, "RECOLLECT_METADATA_LIMIT"),
    "conversation control": ({"conversation": "a\x00b"}, "control"),
    "conversation long": ({"conversation": "c" * 300}, "256"),
    "conversation type": ({"conversation": 5}, "conversation must be text"),
    "vector short": ({"vector": [1.0, 2.0]}, r"\(384,\)"),
    "vector empty": ({"vector": []}, r"\(384,\)"),
    "vector matrix": ({"vector": [[1.0] * 384]}, r"\(384,\)"),
    "vector nan": ({"vector": [float("nan")] * 384}, "finite"),
    "vector infinite": ({"vector": [float("inf")] + [0.0] * 383}, "finite"),
    "vector zero": ({"vector": [0.0] * 384}, "zero"),
    "vector words": ({"vector": ["a"] * 384}, "numbers"),
    "unknown field": ({"colour": "red"}, "'colour'"),
}


@pytest.mark.parametrize(("fields", "message"), REFUSED.values(), ids=REFUSED)
def test_what_a_turn_cannot_be(derek: ScopedMemory, fields: dict[str, Any], message: str) -> None:
    good = {"role": "user", "content": "fine", "conversation": "c"}
    with pytest.raises(Invalid, match=message):
        derek.record_many([good, {**good, "content": "hello", **fields}])
    assert derek.counts() == {}


def test_a_message_without_content_is_refused(derek: ScopedMemory) -> None:
    with pytest.raises(Invalid, match="content"):
        derek.record_many([{"role": "user"}])


def test_over_the_limit_names_the_setting(open_memory: OpenMemory) -> None:
    derek = open_memory(content_limit=10).scope("derek")
    derek.record("user", "x" * 10)
    with pytest.raises(TooLarge, match=r"11 characters.*10.*RECOLLECT_CONTENT_LIMIT"):
        derek.record("user", "x" * 11)
    with pytest.raises(TooLarge, match="RECOLLECT_CONTENT_LIMIT"):
        derek.remember("x" * 11)
    assert derek.counts() == {"conversation": 1, "turn": 1}


def test_a_vector_without_an_embedder_is_refused(open_memory: OpenMemory) -> None:
    derek = open_memory(embedder="none").scope("derek")
    with pytest.raises(Invalid, match="dimensions"):
        derek.record("user", "hello", vector=[1.0] * 384)
    assert derek.counts() == {}


@pytest.mark.parametrize("name", ["", " ", "a\nb", "u" * 257, "\ud800"])
def test_names_that_no_user_channel_or_agent_can_have(memory: Memory, name: str) -> None:
    for scope in ({"user": name}, {"user": "u", "channel": name}, {"user": "u", "agent": name}):
        with pytest.raises(Invalid):
            memory.scope(**scope)


def test_times_far_away_are_kept(derek: ScopedMemory) -> None:
    for year in (1, 1969, 9999):
        at = datetime(year, 1, 1, tzinfo=UTC)
        turn = derek.record("user", "long ago", at=at)
        assert derek.get(turn.id).at == at  # type: ignore[attr-defined]


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": [value]}
    return value


def test_nesting_has_a_limit_wherever_json_is_taken(derek: ScopedMemory) -> None:
    deep = nested(100)
    for refused in (
        lambda: derek.record("user", "x", metadata={"a": deep}),
        lambda: derek.remember("x", metadata={"a": deep}),
        lambda: derek.record_tool("t", deep),
        lambda: derek.record_tool("t", 1, deep),
        lambda: derek.update_profile(preferences={"a": deep}),
        lambda: derek.update_profile(style={"a": deep}),
        lambda: derek.update_settings(custom={"a": deep}),
    ):
        with pytest.raises(Invalid, match="64 levels"):
            refused()
    assert derek.counts() == {}
    assert derek.record("user", "x", metadata={"a": nested(30)}).metadata == {"a": nested(30)}


def test_json_that_repeats_itself_without_end_is_refused_soon(derek: ScopedMemory) -> None:
    value: list[Any] = []
    for _ in range(60):
        value = [value, value]
    with pytest.raises(TooLarge, match="values"):
        derek.record("user", "x", metadata={"a": value})


@pytest.mark.parametrize("metadata", [{1: 2}, {"a": {None: 2}}, {"a": [{True: 1}]}])
def test_names_in_json_are_text(derek: ScopedMemory, metadata: Any) -> None:
    with pytest.raises(Invalid, match="must be text"):
        derek.record("user", "x", metadata=metadata)
    with pytest.raises(Invalid, match="must be text"):
        derek.record_tool("t", metadata)


def test_every_text_has_a_limit(open_memory: OpenMemory) -> None:
    derek = open_memory(content_limit=20_000).scope("derek")
    short, long = "x" * 10_001, "x" * 20_001
    goal = derek.add_goal("g")
    for refused in (
        lambda: derek.record("user", "x", title=short),
        lambda: derek.record("user", "x", model=short),
        lambda: derek.record_tool(short, 1),
        lambda: derek.record_tool("t", 1, error=long),
        lambda: derek.complete_goal(goal.id, result=long),
        lambda: derek.remember("x", kind="episode", lessons=long),
        lambda: derek.remember("x", kind="episode", steps=[short, short]),
        lambda: derek.remember("x", about=[short, short]),
        lambda: derek.update_profile(expertise=["x" * 70_000]),
    ):
        with pytest.raises(TooLarge, match="the limit is"):
            refused()
    assert derek.counts() == {"goal": 1}
    assert derek.remember("x", kind="episode", lessons=short)


def test_a_vector_of_any_length_is_scaled(derek: ScopedMemory) -> None:
    derek.record("user", "far", vector=[1e300] * 384)
    derek.record("user", "near", vector=[1e-300] * 384)
    assert len(derek.recall("", vector=[1e38] * 384, threshold=0.99).hits) == 2


def test_a_call_cites_a_turn_that_exists(derek: ScopedMemory) -> None:
    with pytest.raises(NotFound, match="no turn 'nowhere'"):
        derek.record_tool("t", 1, turn="nowhere")
