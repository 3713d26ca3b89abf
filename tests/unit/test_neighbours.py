"""The graph around an entity."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import pytest

from recollect import Invalid, Memory, Neighbourhood, NotFound, ScopedMemory
from recollect.model.changes import Put
from recollect.model.records import Relation
from recollect.recall.neighbours import joined
from recollect.testing.store_samples import START, ManualClock, entity


def bond(id: str, source: str, target: str, **fields: Any) -> Relation:
    given = {"type": "knows", "valid_from": START, "recorded_at": START, **fields}
    return Relation(id=id, source=source, target=target, **given)


def draw(memory: Memory, people: Iterable[str], *bonds: Relation) -> None:
    memory.store.user("derek").apply([Put(entity(p, p.title())) for p in people] + [Put(b) for b in bonds])


def told(around: Neighbourhood) -> tuple[list[str], list[str]]:
    return [one.id for one in around.entities], sorted(one.id for one in around.relations)


def day(number: int) -> datetime:
    return START + timedelta(days=number)


@pytest.fixture
def chain(memory: Memory, clock: ManualClock) -> Memory:
    """ann - bob - cleo - dan - eve."""
    pairs = [("ann", "bob"), ("cleo", "bob"), ("cleo", "dan"), ("dan", "eve")]
    draw(memory, ("ann", "bob", "cleo", "dan", "eve"), *(bond(a + b, a, b) for a, b in pairs))
    clock.advance(days=1)
    return memory


def test_hop_by_hop_in_both_directions(chain: Memory, derek: ScopedMemory) -> None:
    assert told(derek.neighbours("Ann")) == (["ann", "bob"], ["annbob"])
    assert told(derek.neighbours("ann", hops=2)) == (["ann", "bob", "cleo"], ["annbob", "cleobob"])
    assert told(derek.neighbours("Cleo", hops=1)) == (["cleo", "dan", "bob"], ["cleobob", "cleodan"])
    assert told(derek.neighbours("Ann", hops=3))[0] == ["ann", "bob", "cleo", "dan"]


def test_a_ring_is_gone_round_once(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    draw(memory, "abc", bond("1", "a", "b"), bond("2", "b", "c"), bond("3", "c", "a"), bond("4", "a", "a"))
    assert told(derek.neighbours("A", hops=3)) == (["a", "c", "b"], ["1", "2", "3", "4"])


def test_what_holds_now_and_what_held_then(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    draw(
        memory,
        ("ann", "acme", "beta", "cats"),
        bond("1", "ann", "acme", valid_to=day(5), retired_at=day(5)),
        bond("2", "ann", "beta", valid_from=day(5)),
        bond("3", "ann", "cats", retired_at=day(1)),  # never was so
    )
    clock.advance(days=9)
    assert told(derek.neighbours("Ann")) == (["ann", "beta"], ["2"])
    assert told(derek.neighbours("Ann", as_of=day(2))) == (["ann", "acme"], ["1"])
    assert told(derek.neighbours("Ann", as_of=day(-1))) == (["ann"], [])


def test_channels_and_the_walls_around_them(memory: Memory, clock: ManualClock) -> None:
    draw(memory, ("ann", "bob", "cleo"), bond("1", "ann", "bob", channel="home"), bond("2", "ann", "cleo"))
    home = memory.scope("derek", channel="home")
    assert told(home.neighbours("Ann")) == (["ann", "cleo", "bob"], ["1", "2"])
    assert told(memory.scope("derek").neighbours("Ann")) == (["ann", "cleo"], ["2"])
    home.set_retention("home", isolated=True)
    with pytest.raises(NotFound):
        home.neighbours("Ann")
    with pytest.raises(NotFound):
        memory.scope("eve").neighbours("Ann")


def test_no_relation_leads_into_an_isolated_channel(memory: Memory, derek: ScopedMemory) -> None:
    memory.store.user("derek").apply(
        [Put(entity("ann", "Ann")), Put(entity("bob", "Bob", channel="home")), Put(bond("1", "ann", "bob"))]
    )
    assert told(derek.neighbours("Ann")) == (["ann", "bob"], ["1"])
    derek.set_retention("home", isolated=True)
    assert told(derek.neighbours("Ann")) == (["ann"], [])


def test_a_hub_is_told_in_part(memory: Memory, derek: ScopedMemory) -> None:
    others = [f"n{i:03}" for i in range(300)]
    draw(memory, ("hub", *others), *(bond(f"r{id}", "hub", id) for id in others))
    around = derek.neighbours("Hub", hops=3, limit=10)
    assert told(around)[0] == ["hub", *sorted(others, reverse=True)[:9]]
    assert len(around.relations) == 9
    assert len(derek.neighbours("Hub").entities) == 50


@pytest.mark.parametrize("given", [{"hops": 0}, {"hops": 4}, {"limit": 0}, {"limit": 10**9}, {"hops": "1"}])
def test_what_cannot_be_asked(chain: Memory, derek: ScopedMemory, given: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        derek.neighbours("Ann", **given)


def test_it_is_in_the_audit(open_memory: Any, clock: ManualClock) -> None:
    memory = open_memory(audit="reads")
    draw(memory, ("ann", "bob"), bond("1", "ann", "bob"))
    memory.scope("derek").neighbours("Ann")
    (entry,) = memory.scope("derek").audit("neighbours")
    assert (entry.count, entry.details["kinds"]) == (3, {"entity": 2, "relation": 1})


def test_joining_is_bounded_and_loses_no_relation_that_was_known() -> None:
    ann, bob, cleo = (entity(id, id) for id in ("ann", "bob", "cleo"))
    first = joined(Neighbourhood(entities=(ann,)), [bond("1", "ann", "bob")], {"bob": bob}, 2)
    second = joined(first, [bond("2", "bob", "cleo")], {"cleo": cleo}, 2)
    assert (second.entities, [b.id for b in second.relations]) == ((ann, bob), ["1"])
