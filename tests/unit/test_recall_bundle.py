"""What comes with the hits: goals, the profile, what is related, the steps; and all of it small (C9, C10)."""

import json
from typing import Any

import pytest

from recollect import Invalid, Memory, Recollection, ScopedMemory
from recollect.model.changes import Put
from recollect.model.records import Relation
from recollect.testing.store_samples import START, entity, put
from tests.unit.support import contents

STEPS = ["gate", "query", "embed", "gather", "fuse", "fetch", "render"]


def test_what_is_included_when_it_is_asked_for(derek: ScopedMemory, memory: Memory) -> None:
    derek.remember("Anna likes tea")
    first, last = derek.add_goal("Buy tea", priority=5), derek.add_goal("Sell tea")
    derek.complete_goal(derek.add_goal("Done").id)
    derek.update_profile(preferences={"drink": "tea"})
    memory.store.user("derek").apply(
        [
            Put(entity("a", "Anna", description=""), ()),
            Put(entity("t", "Tom", description=""), ()),
            Put(Relation(id="r", source="a", type="sister", target="t", valid_from=START, recorded_at=START)),
        ]
    )
    plain = derek.recall("What does Anna like?")
    assert (plain.goals, plain.profile, plain.related) == ((), None, {})
    found = derek.recall("What does Anna like?", include=("goals", "profile", "related"))
    assert [goal.id for goal in found.goals] == [first.id, last.id]
    assert found.profile is not None
    assert found.profile.preferences == {"drink": "tea"}
    assert found.related == {"Anna": ("Anna -[sister]-> Tom",)}
    assert derek.recall("What does Anna like?", include=["goals"]).profile is None


def test_an_entity_that_is_a_hit_brings_its_neighbours(memory: Memory, derek: ScopedMemory) -> None:
    memory.store.user("derek").apply(
        [
            put(entity("o", "Oahu", description="an island")),
            Put(entity("h", "Hawaii", description=""), ()),
            Put(
                Relation(id="r", source="o", type="part of", target="h", valid_from=START, recorded_at=START)
            ),
        ]
    )
    found = derek.recall("which island", include=["related"], threshold=2)
    assert [hit.kind for hit in found.hits] == ["entity"]
    assert found.related == {"Oahu": ("Oahu -[part of]-> Hawaii",)}


@pytest.mark.parametrize("include", ["goal", ["goal"], ["facts"], [1], 7, None])
def test_what_cannot_be_included_is_told(derek: ScopedMemory, include: Any) -> None:
    with pytest.raises(Invalid, match="include"):
        derek.recall("tea", include=include)


def test_hits_by_kind(derek: ScopedMemory) -> None:
    derek.record("user", "tea said")
    derek.remember("tea known")
    derek.remember("boil water for tea", kind="procedure")
    found = derek.recall("tea")
    assert [hit.content for hit in found.of("fact")] == ["tea known"]
    assert [hit.content for hit in found.of("procedure")] == ["boil water for tea"]
    assert [hit.content for hit in found.of("turn")] == ["tea said"]
    assert found.of("entity") == found.of("nonsense") == ()


def test_every_step_says_how_long_it_took_and_what_it_found(derek: ScopedMemory) -> None:
    derek.record("user", "green tea")
    derek.record("user", "black tea")
    found = derek.recall("Which tea do I have?")
    assert [step.name for step in found.used] == STEPS
    assert all(step.ms >= 0 for step in found.used)
    by_name = {step.name: step.found for step in found.used}
    assert (by_name["embed"], by_name["gather"], by_name["fuse"], by_name["fetch"]) == (1, 2, 2, 2)
    assert found.timings_ms.keys() == by_name.keys()


def test_a_greeting_is_not_searched_unless_the_gate_is_off(derek: ScopedMemory) -> None:
    derek.record("user", "thanks for the tea")
    found = derek.recall("thanks!")
    assert (found.hits, found.context, found.skipped, found.problems) == ((), "", "greeting", ())
    assert [step.name for step in found.used] == ["gate"]
    assert found.compact() == {"skipped": "greeting"}
    assert "Not searched: greeting." in found.explain()
    searched = derek.recall("thanks!", techniques={"gate": False})
    assert (contents(searched), searched.skipped) == (["thanks for the tea"], None)


@pytest.mark.parametrize(
    ("query", "skipped"),
    [
        ("What is the capital of France?", "general knowledge"),
        ("Set a timer for five minutes", "tool"),
        ("What is my capital?", None),
    ],
)
def test_the_gate_says_why(derek: ScopedMemory, query: str, skipped: str | None) -> None:
    assert derek.recall(query).skipped == skipped


def test_what_was_just_spoken_of_is_not_general(derek: ScopedMemory) -> None:
    derek.record("user", "My Tarantula code name stands for the new engine")
    query = "What is a tarantula?"
    assert derek.recall(query).skipped == "general knowledge"
    assert derek.recall(query, history=["My tarantula needs a name"]).skipped is None


def test_compact_leaves_out_what_is_empty_and_is_json(derek: ScopedMemory) -> None:
    turn = derek.record("user", "green tea", conversation="c")
    fact = derek.remember("likes tea", valid_to=START.replace(year=2030))
    found = derek.recall("tea")
    compact = json.loads(json.dumps(found.compact()))
    assert compact.keys() == {"memories"}
    rows = {row.pop("id"): row for row in compact["memories"]}
    scores = {hit.id: round(hit.score, 3) for hit in found.hits}
    at = "2026-03-15T09:30:00+00:00"
    assert rows == {
        turn.id: {
            "kind": "turn",
            "content": "green tea",
            "score": scores[turn.id],
            "at": at,
            "role": "user",
            "conversation": "c",
        },
        fact.id: {
            "kind": "fact",
            "content": "likes tea",
            "score": scores[fact.id],
            "at": at,
            "until": "2030-03-15T09:30:00+00:00",
        },
    }
    assert Recollection(query="x").compact() == {}
    assert Recollection(query="x", problems=("down",)).compact() == {"problems": ["down"]}
