"""Who is related to whom is followed: Anna's brother is Tom, so what is known of Tom is found (C3)."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import Memory, ScopedMemory
from recollect.model.changes import Put
from recollect.model.records import Entity, Relation
from recollect.recall.entities import MOST, names_in, related
from recollect.recall.graph import Graph
from recollect.testing.store_samples import START, ManualClock, entity
from tests.unit.support import contents

QUESTION = "Where does Anna's brother work?"
Bind = Callable[..., None]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Where does Anna's brother work?", ["Anna"]),
        ("Did Anna Maria call?", ["Anna Maria", "Anna", "Maria"]),
        ("what about Zoë and Ürsula", ["Zoë", "Ürsula"]),
        ("Is O’Brien at Smith & Co.?", ["O’Brien", "Smith", "Co"]),
        ("What did I say?", []),
        ("nothing here", []),
        ("", []),
        ("王医生在哪里", ["王医生在哪里"]),
    ],
)
def test_names(text: str, names: list[str]) -> None:
    assert names_in(text) == names


@given(st.text())
def test_any_text_has_a_bounded_number_of_names(text: str) -> None:
    names = names_in(text)
    assert len(names) <= 3 * MOST
    assert len(set(names)) == len(names)
    assert all(names)


def walked(memory: Memory) -> Graph:
    return Graph(memory.scope("derek")._work, memory.store.user("derek"), pytest.fail)


@pytest.fixture
def bind(memory: Memory) -> Bind:
    """Makes a relation between two names, and the entities if need be."""

    def bind(source: str, type: str, target: str, channel: str = "_global", **fields: Any) -> None:
        store = memory.store.user("derek")
        values: dict[str, Any] = {"valid_from": START, "recorded_at": START, **fields}
        ends = [Put(entity(name, name, description="", channel=channel), ()) for name in (source, target)]
        new = [end for end in ends if not store.get(Entity, [end.record.id])]
        id = fields.pop("id", f"{source}-{type}-{target}")
        bond = Relation(
            **{"id": id, "source": source, "type": type, "target": target, "channel": channel, **values}
        )
        store.apply([*new, Put(bond)])

    return bind


def test_a_fact_about_a_relation_of_the_one_who_is_named(derek: ScopedMemory, bind: Bind) -> None:
    fact = derek.remember("Tom is a cooper at the Harbour Brewery")
    derek.record_many({"role": "user", "content": f"Work on house {i} goes on"} for i in range(9))
    assert fact.id not in [hit.id for hit in derek.recall(QUESTION, top_k=10, threshold=2).hits]
    bind("Anna", "brother", "Tom")
    found = derek.recall(QUESTION, top_k=10, threshold=2)
    (hit,) = [hit for hit in found.hits if hit.id == fact.id]
    assert hit.paths == ("entities: Anna -[brother]-> Tom",)
    assert "entities: Anna -[brother]-> Tom" in found.explain()
    without = derek.recall(QUESTION, top_k=10, threshold=2, techniques={"entities": False})
    assert fact.id not in [hit.id for hit in without.hits]


def test_relations_are_followed_both_ways_and_two_steps_far(derek: ScopedMemory, bind: Bind) -> None:
    bind("Anna", "brother", "Tom")
    bind("Acme", "employs", "Tom")
    bind("Acme", "in", "Porto")
    for name in ("Tom", "Acme", "Porto"):
        derek.remember(f"{name} is fine")
    found = derek.recall("What of Anna?", threshold=2)
    assert {hit.content: hit.paths[0] for hit in found.hits} == {
        "Tom is fine": "entities: Anna -[brother]-> Tom",
        "Acme is fine": "entities: Anna -[brother]-> Tom <-[employs]- Acme",
    }
    near, far = found.hits
    assert near.content == "Tom is fine"  # what is farther counts less
    assert near.signals["bm25"] == pytest.approx(2 * far.signals["bm25"], rel=0.1)


ENDED = {
    "ended": {"valid_to": START + timedelta(days=1)},
    "retired": {"retired_at": START + timedelta(days=1)},
    "not begun": {"valid_from": START + timedelta(days=9)},
}


@pytest.mark.parametrize("fields", ENDED.values(), ids=ENDED)
def test_what_does_not_hold_is_not_followed(
    derek: ScopedMemory, bind: Bind, clock: ManualClock, fields: dict[str, Any]
) -> None:
    derek.remember("Tom is a cooper")
    bind("Anna", "brother", "Tom", **fields)
    clock.advance(days=2)
    assert derek.recall(QUESTION, threshold=2).hits == ()


def test_what_held_then_is_followed_when_that_is_asked(
    derek: ScopedMemory, bind: Bind, clock: ManualClock
) -> None:
    derek.remember("Tom is a cooper")
    bind("Anna", "friend", "Tom", valid_to=START + timedelta(days=5))
    clock.advance(days=9)
    assert derek.recall("What does Anna's friend do?", threshold=2).hits == ()
    asked = derek.recall("What does Anna's friend do?", threshold=2, as_of=START + timedelta(days=1))
    assert contents(asked) == ["Tom is a cooper"]


def test_many_that_ended_do_not_hide_the_one_that_holds(derek: ScopedMemory, bind: Bind) -> None:
    for i in range(3 * MOST):
        bind("Anna", "boss", f"Former{i}", id=f"r-{i:03}", retired_at=START)
        bind("Anna", "client", f"Earlier{i}", id=f"s-{i:03}", valid_to=START)
    bind("Anna", "brother", "Tom", id="t")
    derek.remember("Tom is a cooper")
    assert contents(derek.recall(QUESTION, threshold=2)) == ["Tom is a cooper"]


def test_no_more_than_a_few_are_followed(memory: Memory, bind: Bind) -> None:
    for i in range(5 * MOST):
        bind("Anna", "knows", f"Person{i}")
        bind(f"Person{i}", "knows", f"Other{i}")
    store = memory.store.user("derek")
    reached = related(walked(memory), store.get(Entity, ["Anna"]), START)
    assert len(reached) == MOST
    assert {one.depth for one in reached} == {1}
    assert related(walked(memory), [], START) == []


def test_a_circle_ends(memory: Memory, bind: Bind) -> None:
    for source, target in (("A", "B"), ("B", "C"), ("C", "A"), ("A", "A")):
        bind(source, "knows", target)
    store = memory.store.user("derek")
    reached = related(walked(memory), store.get(Entity, ["A"]), START, depth=9)
    assert sorted(one.entity.name for one in reached) == ["B", "C"]


def test_other_channels_are_neither_followed_nor_shown(memory: Memory, bind: Bind) -> None:
    bind("Anna", "brother", "Tom")
    bind("Tom", "hides from", "Police", channel="private")
    work = memory.scope("derek", channel="work")
    work.remember("Tom is late; Police is a band")
    told = work.recall("Anna?", include=["related"], explain=True)
    assert "Police" not in str(told.related) + "".join(p for hit in told.hits for p in hit.paths)
    private = memory.scope("derek", channel="private").recall("Anna?", include=["related"])
    assert private.related == {}  # nothing of it is a hit there
    memory.scope("derek", channel="private").remember("Tom sings")
    seen = memory.scope("derek", channel="private").recall("What about Tom?", include=["related"])
    assert "Tom -[hides from]-> Police" in seen.related["Tom"]
