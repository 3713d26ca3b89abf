"""What mining does has to come out the same on every engine, sealed or not."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Connection, delete, update

from recollect import Memory, ModelError, ScopedMemory
from recollect.model.records import Closet, Entity, MemoryRecord, Relation
from recollect.stores.sql.backend import Backend
from recollect.stores.sql.schema import places
from recollect.testing.store_samples import START, ManualClock
from tests.unit.mining import Scripted, facts, say


@pytest.fixture
def model() -> Scripted:
    """Fails once, where it is asked."""
    return Scripted(ModelError("The model is down."))


def closets(user: ScopedMemory) -> list[Closet]:
    return [c for c in user.list("closet", limit=1000) if isinstance(c, Closet)]


def test_the_watermark(derek: ScopedMemory) -> None:
    say(derek, "I live in Lyon.")
    derek.mine()
    before = derek.counts()
    assert derek.mine() == []
    assert [m.turns for m in derek.mine("a")] == [0]
    assert derek.counts() == before
    say(derek, "I have a dog.")
    assert [(m.turns, m.added) for m in derek.mine()] == [(1, 1)]
    derek.record("user", "I love tea.", conversation="a", index=7)
    derek.mine()
    derek.record("user", "I love milk.", conversation="a", index=4)  # below it
    assert [m.added for m in derek.mine()] == [1]
    assert len(facts(derek)) == 4


def test_ten_copies_are_one_memory_with_ten_sources(derek: ScopedMemory) -> None:
    for number in range(10):
        say(derek, "I love green tea.", conversation=f"talk-{number}")
    derek.mine()
    (fact,) = derek.list("fact")
    assert isinstance(fact, MemoryRecord)
    assert len(fact.sources) == 10


def test_who_is_related_to_whom(derek: ScopedMemory) -> None:
    say(derek, "My sister Anna works at Acme.", "My brother Ben works at Acme.")
    derek.mine()
    around = derek.neighbours("Acme", hops=2)
    assert [one.name for one in around.entities][:1] == ["Acme"]
    assert {"Anna", "Ben"} <= {one.name for one in around.entities}
    assert len(derek.neighbours("Acme", hops=2, limit=2).entities) == 2
    assert derek.neighbours("Acme", as_of=START - timedelta(days=9)).relations == ()


def test_what_holds_and_what_held(derek: ScopedMemory, clock: ManualClock) -> None:
    for days, town in ((20, "Rome"), (0, "Lyon"), (10, "Porto")):
        at = START - timedelta(days=30 - days)
        derek.record("user", f"I live in {town}.", conversation=town, at=at)
        derek.mine()
    assert facts(derek) == ["The user lives in Rome."]
    homes = [r for r in derek.list("relation") if isinstance(r, Relation)]
    assert sorted((r.valid_to or START) - r.valid_from for r in homes) == [timedelta(days=10)] * 3
    derek.unmine("Rome")
    assert facts(derek) == ["The user lives in Porto."]
    derek.forget(conversation="Porto")
    assert facts(derek) == ["The user lives in Lyon."]
    assert [r.valid_to for r in derek.list("relation") if isinstance(r, Relation)] == [None]


def test_undoing_leaves_what_was_before(derek: ScopedMemory) -> None:
    say(derek, "I live in Lyon. My sister Anna loves tea.")
    derek.mine()
    before, known = derek.counts(), facts(derek)
    say(derek, "My sister Anna Keller lives in Berlin.", "I love green tea.", conversation="b")
    derek.mine()
    derek.unmine("b")
    assert facts(derek) == known
    now = derek.counts()
    kept = ("fact", "entity", "relation")
    assert {kind: now[kind] for kind in kept} == {kind: before[kind] for kind in kept}
    assert derek.mine() == []
    derek.mine("b")
    assert len(facts(derek)) > len(known)


def test_no_number_in_the_palace_is_given_twice(derek: ScopedMemory) -> None:
    for number in range(4):
        say(derek, "I live in Lyon.", "My sister Anna loves tea.", conversation=f"talk-{number}")
    derek.mine()
    before = {closet.id for closet in closets(derek)}
    derek.unmine("talk-3")
    derek.forget(conversation="talk-2")
    assert {closet.id for closet in closets(derek)} == before
    derek.mine("talk-3")
    placed = [closet for closet in closets(derek) if closet.conversation == "talk-3"]
    assert placed
    assert not {closet.id for closet in placed} & before


def test_entities_are_joined_and_parted(derek: ScopedMemory) -> None:
    say(derek, "My sister Anna lives in Berlin.", "My friend Bella loves tea.")
    derek.mine()
    assert derek.merge("Bella", "Anna").aliases == ("Bella",)
    assert derek.split("Anna", "Bella").name == "Bella"
    assert {e.name for e in derek.list("entity") if isinstance(e, Entity)} >= {"Anna", "Bella"}


def test_what_fails_is_parked_and_tried_again(
    place: dict[str, str], clock: ManualClock, model: Scripted
) -> None:
    with Memory.open(embedder="hashing", clock=clock, model=model, **place) as memory:  # type: ignore[arg-type]
        derek = memory.scope("parked")
        say(derek, "I live in Lyon.")
        assert [m.problem for m in derek.mine()] == ["The model is down."]
        assert memory.store.stats()["parked"]["mining"] == {"The model is down.": 1}
        assert [(c.mined_to, c.mining_failures) for c in derek.conversations()] == [(0, 1)]
        clock.advance(days=1)
        assert next(o.problem for o in memory.tend() if o.job == "mine") is None
        assert [(c.mined_to, c.mining_failures) for c in derek.conversations()] == [(1, 0)]


def test_the_memory_is_whole_and_can_be_moved(memory: Memory, derek: ScopedMemory) -> None:
    say(derek, "I live in Lyon. My sister Anna lives in Berlin.", "I love tea.")
    derek.mine()
    lines = list(derek.export())
    copy = memory.scope(f"{derek.scope.user} copy")
    copy.import_(lines)
    assert [*copy.export()][1:] == lines[1:]
    memory.tend()
    assert memory.store.check() == []


def test_counts_of_places_that_are_wrong_or_missing_are_told(memory: Memory, derek: ScopedMemory) -> None:
    one = (places.c.user_id == derek.scope.user, places.c.inside == 0, places.c.number == 1)
    for spoil in (update(places).where(*one).values(drawers=99), delete(places).where(*one)):
        say(derek, "My sister Anna works at Acme.", "My brother Ben lives in Lyon.")
        derek.mine()
        assert memory.store.check() == []
        backend: Backend = memory.store._backend  # type: ignore[attr-defined]
        assert backend.write(partial(rows_changed, spoil), derek.scope.user) == 1
        assert memory.store.check() == ["1 counts of places in the palace are wrong."]
        derek.forget(everything=True)


def rows_changed(change: Any, connection: Connection) -> int:
    return connection.execute(change).rowcount
