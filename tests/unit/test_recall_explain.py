"""What was left out is told, each time with its reason (C9)."""

from datetime import timedelta
from typing import Any

import pytest

from recollect import Memory, ScopedMemory
from recollect.model.changes import Revise
from recollect.testing.store_samples import START, ManualClock
from recollect.text.chunk import estimate_tokens
from tests.unit.support import SwitchedEmbedder, contents


def reasons(derek: ScopedMemory, query: str = "tea", **asked: Any) -> dict[str, str]:
    return {out.id: out.reason for out in derek.recall(query, explain=True, **asked).left_out}


def test_nothing_is_told_unasked(derek: ScopedMemory) -> None:
    derek.remember("tea", expires_at=START)
    assert derek.recall("tea").left_out == ()
    assert len(derek.recall("tea", explain=True).left_out) == 1


def test_what_was_corrected(derek: ScopedMemory, clock: ManualClock) -> None:
    old = derek.remember("tea at four")
    clock.advance(days=1)
    new = derek.correct(old.id, "tea at five")
    assert reasons(derek) == {old.id: f"it was corrected: {new.id} holds"}
    assert reasons(derek, as_of=START) == {new.id: "it holds only from 2026-03-16"}
    assert reasons(derek, known_at=START) == {new.id: "it was not known before 2026-03-16"}
    found = derek.recall("tea", explain=True)
    assert f"- fact {old.id} (" in found.explain()
    assert "it was corrected" in found.explain()


def test_a_correction_for_later(derek: ScopedMemory) -> None:
    old = derek.remember("tea at four")
    new = derek.correct(old.id, "tea at five", since=START + timedelta(days=9))
    assert reasons(derek) == {new.id: "it holds only from 2026-03-24"}
    assert contents(derek.recall("tea")) == ["tea at four"]


def test_what_expired_ended_or_was_retired(derek: ScopedMemory, memory: Memory, clock: ManualClock) -> None:
    expired = derek.remember("tea a", expires_at=START + timedelta(days=1))
    ended = derek.remember("tea b", valid_to=START + timedelta(days=2))
    retired = derek.remember("tea c")
    pinned = derek.remember("tea d", expires_at=START + timedelta(days=1))
    derek.pin(pinned.id)
    clock.advance(days=3)
    memory.store.user("derek").apply([Revise("fact", retired.id, {"retired_at": clock.now()})])
    assert reasons(derek) == {
        expired.id: "it expired on 2026-03-16",
        ended.id: "it no longer holds since 2026-03-17",
        retired.id: "it no longer holds since 2026-03-18",
    }
    assert contents(derek.recall("tea")) == ["tea d"]


def test_what_belongs_elsewhere_or_is_something_else(memory: Memory) -> None:
    derek, work = (
        memory.scope("derek", conversation="c"),
        memory.scope("derek", channel="work", agent="helper"),
    )
    turn = derek.record("user", "tea said")
    known = derek.remember("tea known", confidence=0.5)
    other = work.remember("tea at work")
    assert reasons(derek)[other.id] == "its channel is work"
    assert reasons(derek, kinds=["turn"])[known.id] == "its kind is fact"
    assert reasons(derek, kinds=["fact"])[turn.id] == "its kind is turn"
    assert reasons(derek, roles=["assistant"])[turn.id] == "its role is user"
    assert reasons(work, agent="helper")[turn.id] == "its agent is None"
    assert reasons(derek, conversation="other")[turn.id] == "its conversation is c"
    assert reasons(derek, exclude_conversation="c")[turn.id] == "its conversation was excluded"
    assert reasons(derek, min_confidence=0.9)[known.id] == "its confidence is 0.5"
    assert reasons(derek, since=START + timedelta(days=1))[turn.id] == "it is of 2026-03-15"
    assert reasons(derek, until=START)[turn.id] == "it is of 2026-03-15"


def test_what_the_question_left_out_by_its_time(derek: ScopedMemory) -> None:
    old = derek.record("user", "green tea", at=START - timedelta(days=30))
    derek.record("user", "black tea", at=START - timedelta(days=10))
    assert reasons(derek, "What did I say last week about tea?") == {old.id: "it is of 2026-02-13"}


def test_what_is_below_the_threshold(derek: ScopedMemory, embedder: SwitchedEmbedder) -> None:
    far = derek.record("user", "bbb", vector=embedder.embed_query("quite another matter"))
    told = reasons(derek, "", vector=embedder.embed_query("one thing"), threshold=0.9)
    assert told[far.id].startswith("its similarity ")
    assert told[far.id].endswith(" is below the threshold 0.9")


def test_what_comes_after_the_hits(derek: ScopedMemory) -> None:
    derek.record_many({"role": "user", "content": f"tea number {i}"} for i in range(20))
    found = derek.recall("tea", top_k=3, explain=True)
    assert [out.reason for out in found.left_out[:5]] == [f"it comes in place {n}" for n in range(4, 9)]
    assert not {out.id for out in found.left_out} & {hit.id for hit in found.hits}


def test_nobody_elses_is_told(memory: Memory, derek: ScopedMemory) -> None:
    memory.scope("ann").remember("tea of Ann's", expires_at=START)
    derek.remember("tea of mine", expires_at=START)
    assert len(reasons(derek)) == 1


def test_no_more_than_a_few(derek: ScopedMemory) -> None:
    derek.remember_many([{"content": f"tea {i}", "expires_at": START} for i in range(30)])
    assert len(reasons(derek)) == 5


@pytest.mark.parametrize("query", ["", " ", "?!"])
def test_nothing_asked_nothing_told(derek: ScopedMemory, query: str) -> None:
    derek.remember("tea", expires_at=START)
    assert derek.recall(query, explain=True, threshold=2, techniques={"meaning": False}).left_out == ()


@pytest.mark.parametrize(
    "techniques", [{}, {"rrf": True, "recency": True}, {"meaning": False, "boosts": False}]
)
def test_what_the_signals_add_is_the_score(derek: ScopedMemory, techniques: dict[str, bool]) -> None:
    for place, said in enumerate(("I live in Berlin.", "I moved. I live in Porto now.", "Porto is green")):
        derek.record("user", said, conversation=f"c{place}")
        derek.mine()
    found = derek.recall("Where do I live today?", explain=True, techniques=techniques)
    assert len(found.hits) > 1
    for hit in found.hits:
        assert sum(hit.parts.values()) == pytest.approx(hit.score)
        assert all(value > 0 for name, value in hit.parts.items() if name != "order")
    assert not any(hit.parts for hit in derek.recall("Where do I live today?").hits)


def test_the_block_is_counted_as_its_budget_is(derek: ScopedMemory) -> None:
    derek.record_many({"role": "user", "content": f"tea number {i}, grün"} for i in range(20))
    found = derek.recall("tea", context_tokens=100, top_k=20)
    assert 0 < found.context_tokens == estimate_tokens(found.context) <= 100
    assert derek.recall("hi").context_tokens == 0
