"""What is forgotten is gone with all that was derived from it alone, and nothing else is (I5)."""

import pytest

from recollect import Fact, Invalid, Memory, NotFound, ScopedMemory
from recollect.model.changes import Put
from recollect.model.records import Entity, Relation, Tombstone
from recollect.record.memories import tombstone_digest
from recollect.testing.store_samples import START, ManualClock, entity, fact
from tests.unit.support import contents


def derived(memory: Memory, id: str, *sources: str, about: tuple[str, ...] = ()) -> Fact:
    """A fact as mining would derive it from turns."""
    made = fact(id, f"derived {id}", sources=sources, about=about, origin="model")
    memory.store.user("derek").apply([Put(made)])
    return made


def test_one_turn_by_its_id(derek: ScopedMemory) -> None:
    turn, other = (derek.record("user", text, conversation="c") for text in ("green tea", "black tea"))
    gone = derek.forget(turn.id)
    assert (gone.counts, gone.total) == ({"turn": 1}, 1)
    assert contents(derek.recall("tea")) == ["black tea"]
    assert derek.conversation("c") == [other]
    with pytest.raises(NotFound):
        derek.get(turn.id)
    assert derek.record("user", "white tea", conversation="c").index == 2  # a place is not used twice


def test_what_was_derived_from_it_alone_goes_too_the_rest_stays_with_fewer_sources(
    derek: ScopedMemory, memory: Memory
) -> None:
    one, two = derek.record("user", "one"), derek.record("user", "two")
    alone, both = derived(memory, "alone", one.id), derived(memory, "both", one.id, two.id)
    assert derek.forget(one.id).counts == {"turn": 1, "fact": 1}
    with pytest.raises(NotFound):
        derek.get(alone.id)
    kept = derek.get(both.id)
    assert isinstance(kept, Fact)
    assert (kept.sources, kept.content) == ((two.id,), both.content)


def test_a_memory_leaves_a_tombstone_and_takes_its_note_along(derek: ScopedMemory, memory: Memory) -> None:
    saved = derek.remember("Allergic to peanuts")
    assert derek.forget(saved.id).counts == {"fact": 1, "turn": 1}
    store = memory.store.user("derek")
    (tombstone,) = store.find(Tombstone)
    assert tombstone.digest == tombstone_digest(store.secret(), "allergic  to PEANUTS")  # known again
    assert tombstone.digest != tombstone_digest(b"another key", "allergic to peanuts")
    assert derek.counts() == {"conversation": 1}
    with pytest.raises(NotFound):
        derek.get(tombstone.id)
    with pytest.raises(Invalid):
        derek.list("tombstone")


def test_a_memorys_turns_go_only_when_asked_for(derek: ScopedMemory, memory: Memory) -> None:
    turn = derek.record("user", "I am allergic to peanuts")
    one = derived(memory, "one", turn.id)
    derek.forget(one.id)
    assert derek.get(turn.id) == turn
    two, three = derived(memory, "two", turn.id), derived(memory, "three", turn.id)
    assert derek.forget(two.id, with_sources=True).counts == {"fact": 2, "turn": 1}
    for id in (turn.id, two.id, three.id):
        with pytest.raises(NotFound):
            derek.get(id)


def test_a_note_that_others_cite_stays_with_them(derek: ScopedMemory, memory: Memory) -> None:
    saved = derek.remember("one")
    other = derived(memory, "other", *saved.sources)
    assert derek.forget(saved.id).counts == {"fact": 1}
    assert derek.get(other.id) == other
    assert derek.get(saved.sources[0])


def test_a_conversation_with_everything_in_it(memory: Memory, derek: ScopedMemory) -> None:
    inside = memory.scope("derek", conversation="c")
    turn = inside.record("user", "green tea")
    derived(memory, "from-c", turn.id)
    inside.remember("likes tea")
    inside.record_tool("kettle", 1)
    inside.record_summary("q", "s", "r")
    inside.add_goal("drink tea")
    kept = derek.record("user", "black tea", conversation="d")
    gone = derek.forget(conversation="c")
    assert gone.counts == {
        "conversation": 1,
        "turn": 2,
        "fact": 2,
        "goal": 1,
        "tool_invocation": 1,
        "summary": 1,
    }
    assert derek.counts() == {"conversation": 1, "turn": 1}
    assert contents(derek.recall("tea", top_k=50)) == [kept.content]
    assert inside.record("user", "again").index == 0


def test_a_channel(memory: Memory, derek: ScopedMemory) -> None:
    work = memory.scope("derek", channel="work")
    work.record("user", "tea at work")
    work.remember("works with tea", about=["Ann"])
    derek.record("user", "tea at home")
    assert derek.forget(channel="work").counts == {"conversation": 2, "turn": 2, "fact": 1, "entity": 1}
    assert contents(work.recall("tea")) == ["tea at home"]


def test_an_agent_leaves_what_others_said_in_the_same_conversation(memory: Memory) -> None:
    cook, driver = (memory.scope("derek", agent=name, conversation="c") for name in ("cook", "driver"))
    cook.record("assistant", "tea is ready", title="Tea")
    kept = driver.record("assistant", "tea is in the car")
    assert cook.forget(agent="cook").counts == {"turn": 1}
    assert driver.conversation("c") == [kept]
    (conversation,) = driver.conversations()
    assert (conversation.agent, conversation.next_index) == ("driver", 2)
    assert driver.record("assistant", "more").index == 2
    driver.forget(agent="driver")
    assert driver.conversations() == []


def test_everything(memory: Memory, derek: ScopedMemory) -> None:
    derek.record("user", "green tea")
    derek.remember("likes tea", about=["Tea"])
    derek.update_profile(expertise=["tea"])
    ann = memory.scope("ann")
    hers = ann.record("user", "her tea")
    gone = derek.forget(everything=True)
    assert gone.counts == {"conversation": 2, "turn": 2, "fact": 1, "entity": 1, "profile": 1}
    assert derek.counts() == {}
    assert derek.recall("tea").hits == ()
    assert ann.recall("tea").hits[0].id == hers.id
    assert derek.forget(everything=True).total == 0
    assert derek.record("user", "new tea", conversation="c").index == 0
    assert contents(derek.recall("tea")) == ["new tea"]


def test_forgetting_a_correction_brings_the_old_memory_back(derek: ScopedMemory, clock: ManualClock) -> None:
    old = derek.remember("Lives in Lisbon")
    clock.advance(days=1)
    new = derek.correct(old.id, "Lives in Porto")
    derek.forget(new.id)
    assert derek.get(old.id) == old
    assert contents(derek.recall("lives")) == ["Lives in Lisbon"]


def test_forgetting_the_correcting_note_does_the_same(derek: ScopedMemory) -> None:
    old = derek.remember("Lives in Lisbon")
    new = derek.correct(old.id, "Lives in Porto")
    assert derek.forget(new.sources[0]).counts == {"turn": 1, "fact": 1}
    assert derek.get(old.id) == old


def test_forgetting_the_first_leaves_the_correction(derek: ScopedMemory) -> None:
    old = derek.remember("Lives in Lisbon")
    new = derek.correct(old.id, "Lives in Porto")
    derek.forget(old.id)
    kept = derek.get(new.id)
    assert isinstance(kept, Fact)
    assert kept.supersedes is None
    assert contents(derek.recall("lives")) == ["Lives in Porto"]


@pytest.mark.parametrize("together", [False, True])
def test_the_middle_of_a_chain_is_closed_up(
    derek: ScopedMemory, memory: Memory, clock: ManualClock, together: bool
) -> None:
    ids = [derek.remember("Version 0").id]
    for number in (1, 2, 3):
        clock.advance(days=1)
        scope = memory.scope("derek", conversation="wrong") if number in (1, 2) else derek
        ids.append(scope.correct(ids[-1], f"Version {number}").id)
    if together:
        derek.forget(conversation="wrong")
    else:
        derek.forget(ids[2])
        derek.forget(ids[1])
    first, last = derek.get(ids[0]), derek.get(ids[3])
    assert isinstance(first, Fact)
    assert isinstance(last, Fact)
    assert (first.superseded_by, last.supersedes) == (last.id, first.id)
    assert first.valid_to == last.valid_from
    assert contents(derek.recall("version")) == ["Version 3"]
    assert contents(derek.recall("version", as_of=clock.advance(days=-1))) == ["Version 0"]


def test_an_entity_takes_its_relations_along(derek: ScopedMemory, memory: Memory) -> None:
    store = memory.store.user("derek")
    knows = Relation(id="r", source="ann", type="KNOWS", target="bob", valid_from=START, recorded_at=START)
    store.apply([Put(entity("ann", "Ann")), Put(entity("bob", "Bob")), Put(knows)])
    assert derek.forget("ann").counts == {"entity": 1, "relation": 1}
    turn = derek.record("user", "Bob knows Eve", conversation="c")
    store.apply(
        [
            Put(entity("eve", "Eve", sources=(turn.id,))),
            Put(
                Relation(
                    id="s", source="bob", type="KNOWS", target="eve", valid_from=START, recorded_at=START
                )
            ),
        ]
    )
    assert derek.forget(conversation="c").counts == {"conversation": 1, "turn": 1, "entity": 1, "relation": 1}
    assert [e.id for e in store.find(Entity)] == ["bob"]


def test_a_name_goes_with_the_last_memory_about_it(derek: ScopedMemory) -> None:
    one, two = derek.remember("one", about=["Dr. Silva"]), derek.remember("two", about=["Dr. Silva"])
    assert "entity" not in derek.forget(one.id).counts
    assert derek.get(two.id) == two
    assert derek.forget(two.id).counts["entity"] == 1


def test_a_goal_is_free_once_what_blocked_it_is_forgotten(memory: Memory, derek: ScopedMemory) -> None:
    one, two = derek.add_goal("one"), memory.scope("derek", conversation="c").add_goal("two")
    last = derek.add_goal("last", blocked_by=[one.id, two.id])
    derek.forget(one.id)
    assert [(g.id, g.blocked_by) for g in derek.goals("blocked")] == [(last.id, (two.id,))]
    derek.forget(conversation="c")
    assert [(g.id, g.blocked_by) for g in derek.goals()] == [(last.id, ())]


def test_forgetting_twice(derek: ScopedMemory) -> None:
    turn = derek.record("user", "tea", conversation="c")
    derek.forget(turn.id)
    with pytest.raises(NotFound):
        derek.forget(turn.id)
    assert derek.forget(conversation="c").total == 1
    assert derek.forget(conversation="c").total == 0
    assert derek.forget(channel="never").total == 0


def test_nobody_forgets_anothers(memory: Memory, derek: ScopedMemory) -> None:
    ann = memory.scope("ann", channel="work", agent="cook", conversation="c")
    turn, saved = ann.record("user", "her tea"), ann.remember("her fact")
    goal = ann.add_goal("hers")
    before = ann.counts()
    messages: set[str] = set()
    for id in (turn.id, saved.id, goal.id, "missing"):
        with pytest.raises(NotFound) as missing:
            derek.forget(id)
        messages.add(str(missing.value).replace(id, "…"))
    assert len(messages) == 1
    for where in ({"conversation": "c"}, {"channel": "work"}, {"agent": "cook"}, {"everything": True}):
        assert derek.forget(**where).total == 0  # type: ignore[arg-type]
    assert ann.counts() == before


@pytest.mark.parametrize(
    "wrong", [{}, {"id": "a", "everything": True}, {"conversation": "a", "channel": "b"}]
)
def test_exactly_one_thing_is_forgotten_at_a_time(derek: ScopedMemory, wrong: dict[str, str]) -> None:
    with pytest.raises(Invalid, match="exactly one"):
        derek.forget(**wrong)  # type: ignore[arg-type]


def test_a_receipt_is_left_without_content(derek: ScopedMemory) -> None:
    saved = derek.remember("Allergic to peanuts")
    derek.forget(saved.id)
    derek.forget(conversation="_notes")
    assert [(r.operation, r.subject, r.count, r.details) for r in derek.audit("forget")] == [
        ("forget", "conversation", 1, {"kinds": {"conversation": 1}}),
        ("forget", f"fact {saved.id}", 2, {"kinds": {"fact": 1, "turn": 1}}),
    ]


def test_the_calls_that_a_turn_led_to_go_with_it(derek: ScopedMemory) -> None:
    turn = derek.record("user", "my number is 123")
    call = derek.record_tool("lookup", {"number": 123}, turn=turn.id)
    other = derek.record_tool("lookup", {"number": 4})
    assert derek.forget(turn.id).counts == {"turn": 1, "tool_invocation": 1}
    with pytest.raises(NotFound):
        derek.get(call.id)
    assert derek.get(other.id) == other
