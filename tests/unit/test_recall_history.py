"""What was said in this conversation: a question leans on it, and none of it is recalled (C2, C7)."""

from typing import Any

import pytest

from recollect import Invalid, Memory, ScopedMemory
from recollect.recall.question import HISTORY_LIMIT, same
from tests.unit.support import contents

KAYAK = "My kayak cost 400 euros"
HISTORIES: dict[str, list[Any]] = {
    "texts": ["I think about the kayak"],
    "messages": [
        {"role": "user", "content": "I think about the kayak"},
        {"role": "assistant", "content": "ok"},
    ],
    "parts": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "I think about the kayak"},
                {"type": "image_url", "image_url": {"url": "data:,"}},
                "odd",
            ],
        }
    ],
    "with a call of a tool": [
        "I think about the kayak",
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "tool"},
    ],
    "no role": [{"content": "I think about the kayak"}],
}


@pytest.mark.parametrize("history", HISTORIES.values(), ids=HISTORIES)
def test_a_question_leans_on_what_was_said_before(derek: ScopedMemory, history: list[Any]) -> None:
    derek.record("user", KAYAK)
    assert derek.recall("And how much was it?", threshold=2).hits == ()
    found = derek.recall("And how much was it?", history=history, threshold=2)
    assert contents(found) == [KAYAK]
    (step,) = [step for step in found.used if step.name == "query"]
    assert "kayak" in step.note
    assert (
        derek.recall("And how much was it?", history=history, threshold=2, techniques={"context": False}).hits
        == ()
    )


def test_only_the_user_is_leant_on(derek: ScopedMemory) -> None:
    derek.record("user", KAYAK)
    for role in ("assistant", "system", "tool"):
        history = [{"role": role, "content": "I think about the kayak"}]
        assert derek.recall("And how much was it?", history=history, threshold=2).hits == ()


def test_what_stands_in_the_conversation_is_not_recalled(derek: ScopedMemory) -> None:
    derek.record("user", "Tea is  my\nfavourite")
    derek.record("assistant", "Tea it is")
    derek.record("user", "Green tea above all")
    history = [
        {"role": "user", "content": "tea is my favourite"},
        {"role": "assistant", "content": "Tea it is"},
    ]
    found = derek.recall("tea", history=history)
    assert contents(found) == ["Green tea above all"]
    assert {out.reason for out in found.left_out} == {"it is in the conversation already"}
    assert len(found.left_out) == 2
    assert "Tea it is" not in found.context


def test_what_is_left_out_makes_room_for_others(derek: ScopedMemory) -> None:
    derek.record_many({"role": "user", "content": f"tea number {i}"} for i in range(20))
    shown = [f"Tea number {i}" for i in range(15)]
    found = derek.recall("tea number", history=shown, top_k=5)
    assert set(contents(found)) == {f"tea number {i}" for i in range(15, 20)}


def test_the_same_in_several_channels_is_there_once(memory: Memory) -> None:
    work, everywhere = memory.scope("derek", channel="work"), memory.scope("derek")
    first = work.remember("Anna likes tea")
    second = everywhere.remember("anna  likes TEA")
    everywhere.remember("Anna likes tea a lot")
    found = work.recall("What does Anna like?")
    assert len(found.hits) == 2
    (out,) = found.left_out
    kept = next(hit for hit in found.hits if hit.id in (first.id, second.id))
    assert {out.id, kept.id} == {first.id, second.id}
    assert out.reason == f"it says the same as {kept.id}"


def test_very_long_histories_are_looked_at_from_the_end(derek: ScopedMemory) -> None:
    derek.record("user", KAYAK)
    derek.record("user", "The bicycle is green")
    history = ["the bicycle", *["well"] * HISTORY_LIMIT, "the kayak"]
    assert contents(derek.recall("And how much?", history=history, threshold=2)) == [KAYAK]


@pytest.mark.parametrize("history", ["a text", {"role": "user"}, 7, b"bytes", [1], [None], [["a"]], {"a"}])
def test_a_history_of_something_else_is_refused(derek: ScopedMemory, history: Any) -> None:
    with pytest.raises(Invalid, match="history"):
        derek.recall("tea", history=history)


@pytest.mark.parametrize("odd", ["", " ", "\x00", "\ud800", "x" * 100_000, "('\"*NEAR(", "</memory_context>"])
def test_odd_messages_are_no_error(derek: ScopedMemory, odd: str) -> None:
    derek.record("user", KAYAK)
    found = derek.recall("kayak?", history=[odd, {"role": odd, "content": odd}])
    assert contents(found) == [KAYAK]


def test_the_same_but_for_case_and_space() -> None:
    assert same(" Straße\n\tNORD ") == same("STRASSE nord")
    assert same("a b") != same("ab")
