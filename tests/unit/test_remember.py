"""What somebody wants remembered is kept as given, citing a note of itself; corrected and pinned (A4)."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from recollect import Entity, Episode, Fact, Invalid, Memory, NotFound, Procedure, ScopedMemory, Turn
from recollect.model.records import Role, Tense
from recollect.testing.store_samples import START, ManualClock
from tests.unit.support import SwitchedEmbedder, contents


def test_a_memory_is_kept_as_given_and_cites_its_note(derek: ScopedMemory) -> None:
    fact = derek.remember("Allergic to \x00 peanuts\ud800")
    assert isinstance(fact, Fact)
    assert derek.get(fact.id) == fact
    assert (fact.content, fact.confidence, fact.origin) == (
        "Allergic to \x00 peanuts\ud800",
        0.95,
        "explicit",
    )
    assert (fact.recorded_at, fact.valid_from, fact.valid_to) == (START, START, None)
    (source,) = fact.sources
    note = derek.get(source)
    assert isinstance(note, Turn)
    assert (note.role, note.content) == (Role.NOTE, fact.content)


def test_a_memory_is_found_once_not_with_its_note(derek: ScopedMemory, embedder: SwitchedEmbedder) -> None:
    fact = derek.remember("Allergic to peanuts")
    assert [hit.id for hit in derek.recall("peanuts", threshold=-1).hits] == [fact.id]
    assert embedder.seen == ["Allergic to peanuts"]
    assert derek.recall("peanuts", kinds=["turn"]).hits == ()


def test_the_note_lies_in_the_conversation_it_was_made_in(memory: Memory, derek: ScopedMemory) -> None:
    memory.scope("derek", conversation="c").remember("one")
    derek.remember("two", conversation="d")
    derek.remember("three")
    assert {c.id: c.next_index for c in derek.conversations()} == {"_notes": 1, "c": 1, "d": 1}


def test_every_kind_with_its_own_fields(derek: ScopedMemory) -> None:
    procedure = derek.remember(
        "Deploy with make release",
        kind="procedure",
        context="deploying",
        tools=["make", "git"],
        successes=3,
        last_used=START,
    )
    episode = derek.remember(
        "Moved the blog",
        kind="episode",
        goal="move",
        steps=("export", "import"),
        outcome="done",
        lessons="slow",
    )
    reflection = derek.remember("Prefers short answers", kind="reflection", tense="past", pinned=True)
    assert isinstance(procedure, Procedure)
    assert (procedure.tools, procedure.successes, procedure.last_used) == (("make", "git"), 3, START)
    assert isinstance(episode, Episode)
    assert (episode.goal, episode.steps) == ("move", ("export", "import"))
    assert (reflection.tense, reflection.pinned) == (Tense.PAST, True)
    for memory in (procedure, episode, reflection):
        assert derek.get(memory.id) == memory
        assert [m.id for m in derek.list(memory.kind)] == [memory.id]


def test_many_at_once_are_all_or_none(derek: ScopedMemory, embedder: SwitchedEmbedder) -> None:
    saved = derek.remember_many(["one", {"content": "two", "kind": "reflection"}, {"content": "three"}])
    assert [m.content for m in saved] == ["one", "two", "three"]
    assert embedder.seen == ["one", "two", "three"]
    assert derek.counts() == {"conversation": 1, "turn": 3, "fact": 2, "reflection": 1}
    with pytest.raises(Invalid):
        derek.remember_many(["four", ""])
    assert derek.counts()["fact"] == 2
    assert derek.remember_many([]) == []


def test_what_a_memory_is_about_becomes_one_entity(derek: ScopedMemory) -> None:
    first = derek.remember("Ann lives in Lisbon", about=["Ann", "Lisbon", "Ann"])
    second, third = derek.remember_many(
        [
            {"content": "Ann has a dog", "about": ["Ann", "dog"]},
            {"content": "The dog is old", "about": "dog"},
        ]
    )
    assert derek.get(first.id) == first
    names = {e.id: e.name for e in derek.list("entity") if isinstance(e, Entity)}
    assert [names[id] for id in first.about] == ["Ann", "Lisbon"]
    assert [names[id] for id in second.about] == ["Ann", "dog"]
    assert second.about[1:] == third.about
    assert len(names) == 3


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "empty": ({"content": ""}, "nothing to remember"),
    "blank": ({"content": " \n"}, "nothing to remember"),
    "no text": ({"content": 5}, "nothing to remember"),
    "kind": ({"kind": "opinion"}, "fact, procedure, episode, reflection"),
    "unknown field": ({"colour": "red"}, "'colour'"),
    "own field": ({"superseded_by": "x"}, "'superseded_by'"),
    "another kind's field": ({"steps": ["a"]}, "'steps'"),
    "tense": ({"tense": "sometimes"}, "tense"),
    "confidence": ({"confidence": 1.1}, "between 0 and 1"),
    "confidence nan": ({"confidence": float("nan")}, "between 0 and 1"),
    "confidence text": ({"confidence": "0.5"}, "confidence"),
    "pinned": ({"pinned": "yes"}, "pinned"),
    "naive": ({"valid_from": datetime(2026, 1, 1)}, "time zone"),  # noqa: DTZ001
    "time text": ({"expires_at": "2026-01-01"}, "datetime"),
    "metadata": ({"metadata": [1]}, "map names"),
    "metadata value": ({"metadata": {"x": {1, 2}}}, "JSON"),
    "about": ({"about": [""]}, "about"),
    "steps": ({"kind": "episode", "steps": "abc"}, "steps"),
    "step": ({"kind": "episode", "steps": [1]}, "steps"),
    "goal": ({"kind": "episode", "goal": 1}, "goal"),
    "successes": ({"kind": "procedure", "successes": 1.5}, "successes"),
}


@pytest.mark.parametrize(("fields", "message"), REFUSED.values(), ids=REFUSED)
def test_what_a_memory_cannot_be(derek: ScopedMemory, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(Invalid, match=message):
        derek.remember_many(["fine", {"content": "hello", **fields}])
    assert derek.counts() == {}


def test_a_correction_supersedes_and_keeps_the_old(derek: ScopedMemory, clock: ManualClock) -> None:
    old = derek.remember("Budget is $10,000", about=["Hawaii"], pinned=True, metadata={"from": "mail"})
    now = clock.advance(days=1)
    new = derek.correct(old.id, "Budget is $12,000")
    kept = derek.get(old.id)
    assert isinstance(kept, Fact)
    assert (kept.content, kept.valid_to, kept.retired_at, kept.superseded_by) == (
        old.content,
        now,
        now,
        new.id,
    )
    assert (new.supersedes, new.valid_from, new.recorded_at) == (old.id, now, now)
    assert (new.about, new.pinned, new.metadata) == (old.about, True, {"from": "mail"})
    assert derek.get(new.id) == new
    assert new.sources != old.sources
    assert contents(derek.recall("budget")) == ["Budget is $12,000"]


def test_a_correction_keeps_the_channel_and_what_its_kind_has(memory: Memory) -> None:
    old = memory.scope("derek", channel="work").remember("Ship it", kind="episode", goal="ship", steps=["a"])
    new = memory.scope("derek").correct(old.id, "Shipped it")
    assert isinstance(new, Episode)
    assert (new.channel, new.goal, new.steps) == ("work", "ship", ("a",))


def test_a_correction_is_corrected_in_turn_the_old_one_not_again(derek: ScopedMemory) -> None:
    first = derek.remember("one")
    second = derek.correct(first.id, "two")
    with pytest.raises(Invalid, match=second.id):
        derek.correct(first.id, "three")
    third = derek.correct(second.id, "three")
    assert contents(derek.recall("one two three")) == ["three"]
    assert third.supersedes == second.id


def test_a_correction_from_a_later_day_leaves_the_old_in_force_until_then(
    derek: ScopedMemory, clock: ManualClock
) -> None:
    old = derek.remember("Works at Acme")
    derek.correct(old.id, "Works at Initech", since=START + timedelta(days=10))
    assert contents(derek.recall("works")) == ["Works at Acme"]
    clock.advance(days=11)
    assert contents(derek.recall("works")) == ["Works at Initech"]


@pytest.mark.parametrize("content", ["", " "])
def test_a_correction_says_something(derek: ScopedMemory, content: str) -> None:
    old = derek.remember("one")
    with pytest.raises(Invalid):
        derek.correct(old.id, content)
    assert derek.get(old.id) == old


def test_only_a_memory_that_exists_is_corrected_or_pinned(derek: ScopedMemory) -> None:
    turn = derek.record("user", "hello")
    for id in ("missing", turn.id):
        with pytest.raises(NotFound):
            derek.correct(id, "x")
        with pytest.raises(NotFound):
            derek.pin(id)


def test_pin_and_unpin(derek: ScopedMemory) -> None:
    fact = derek.remember("one")
    assert derek.pin(fact.id).pinned
    assert [m.id for m in derek.list("fact", pinned=True)] == [fact.id]
    assert derek.pin(fact.id, False) == fact
    assert derek.get(fact.id) == fact
