"""The palace of a real store: opened level by level, cited by pointers, and forgotten (B7, B8)."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollect import Conflict, Invalid, Memory, NotFound, ScopedMemory
from recollect.mine.extracted import Mention, Topic, Window
from recollect.mine.palace import UNTITLED, plan_closets, read_palace
from recollect.model.changes import Put
from recollect.model.places import Opened, Pointer, parse, parse_place
from recollect.model.records import Closet, Conversation, Turn
from recollect.recall.palace import ERASED
from recollect.testing.store_samples import ManualClock, entity, fact, put
from tests.unit.support import OpenMemory
from tests.unit.test_erase_bytes import SECRET, WORDS, left_in


def mine(memory: Memory, conversation: str, *topics: Topic, subjects: Sequence[Mention] = ()) -> None:
    """Place the turns of a conversation, as mining does."""
    store = memory.store.user("derek")
    (talk,) = store.get(Conversation, [conversation])
    window = Window(talk, tuple(store.find(Turn, {"conversation": conversation}, order="index")))
    store.apply(plan_closets(window, topics, subjects, read_palace(store, window, topics, subjects)))


def topic(title: str, first: int, last: int, subject: str = "") -> Topic:
    return Topic(title=title, first=first, last=last, subject=subject)


def say(scope: ScopedMemory, conversation: str, *texts: str, title: str | None = None) -> list[Turn]:
    return [scope.record("user", text, conversation=conversation, title=title) for text in texts]


def closets(memory: Memory) -> dict[str, Closet]:
    return {closet.id: closet for closet in memory.store.user("derek").find(Closet)}


# Pointers


@pytest.mark.parametrize(
    "text",
    ["§ W-042/R-11/D-007", "W-42/R-11/D-7", "  §w-042/r-11/d-007 ", "w 42 / r 11 / d 7", "§W042/R11/D007"],
)
def test_a_pointer_is_read_however_it_is_written(text: str) -> None:
    assert parse(text) == (42, 11, 7)
    assert str(parse(text)) == "§ W-042/R-11/D-007"


@pytest.mark.parametrize(
    "text",
    ["", "W-042", "W-042/R-11", "W-042/R-11/C-2", "§ W-0/R-1/D-1", "W-1/R-1/D-99999999999", "D-7", "x" * 500],
)
def test_what_is_no_pointer_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match=r"place|pointer"):
        parse(text)


def test_places_and_large_numbers() -> None:
    assert str(Pointer(1234, 567, 89012)) == "§ W-1234/R-567/D-89012"
    assert parse_place("w-7") == Opened(7)
    assert parse_place("W-042/R-11/C-2") == Opened(42, 11, 2)
    with pytest.raises(Invalid, match="drawer"):
        parse_place("W-1/R-1/D-1")


def test_a_pointer_leads_to_its_turn_with_tags_and_what_was_derived(
    memory: Memory, derek: ScopedMemory
) -> None:
    at = datetime(2026, 5, 8, 23, 30, tzinfo=UTC)
    derek.record("user", "Hello", conversation="c")
    turn = derek.record(
        "user", "Anna flew to Porto yesterday with my bike", conversation="c", at=at, zone="Europe/Lisbon"
    )
    cited = {"sources": (turn.id,)}
    memory.store.user("derek").apply(
        [
            Put(entity("e1", "Anna", type="person", **cited)),
            Put(entity("e2", "Porto", type="place", **cited)),
            Put(entity("e3", "Bike", type="project", **cited)),
            Put(entity("e4", "Other", type="person")),
            Put(fact("f1", "Anna was in Porto", **cited)),
        ]
    )
    mine(memory, "c", topic("Trip", 0, 1, "Anna"))
    drawer = derek.drawer("w-1/r-1/d-2")
    assert (drawer.turn, drawer.closet.title) == (turn, "Trip")
    # it was half past midnight of the 9th in Lisbon
    assert str(drawer) == "§ W-001/R-01/D-002 @p Anna @l Porto @i Bike @t 2026-05-08"
    assert {record.id for record in drawer.derived} == {"e1", "e2", "e3", "f1"}
    for missing in ("W-1/R-1/D-3", "W-1/R-2/D-1", "W-9/R-1/D-1"):
        with pytest.raises(NotFound):
            derek.drawer(missing)
    with pytest.raises(NotFound):
        memory.scope("ann").drawer("w-1/r-1/d-2")
    derek.forget(turn.id)
    with pytest.raises(NotFound, match="W-001/R-01/D-002"):
        derek.drawer("w-1/r-1/d-2")


def test_hits_are_cited_by_their_pointers(memory: Memory, derek: ScopedMemory) -> None:
    first, second = say(derek, "c", "green tea is best", "black tea is fine")
    other = derek.record("user", "tea in another talk", conversation="d")
    memory.store.user("derek").apply([put(fact("f", "Likes tea", sources=(first.id, second.id)))])
    mine(memory, "c", topic("Tea", 0, 0), topic("More tea", 1, 1))
    cited = {hit.id: hit.citation for hit in derek.recall("tea", top_k=10).hits}
    expected = {first.id: "§ W-001/R-01/D-001", second.id: "§ W-002/R-01/D-002", other.id: None}
    assert {id: cited[id] for id in expected} == expected
    (known,) = derek.recall("tea", kinds=["fact"]).hits
    assert known.citation == expected[second.id]  # of its sources the newest
    assert "user, § W-001/R-01/D-001] green tea is best" in derek.recall("tea").context
    told = derek.recall("green tea", kinds=["turn"], top_k=1).compact()["memories"]
    assert [memory["citation"] for memory in told] == ["§ W-001/R-01/D-001"]


# The tree


def test_levels_are_opened_one_by_one(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    say(derek, "a", "wire", "more wire", "paint", title="Evening session")
    clock.advance(days=1)
    say(derek, "b", "sail")
    boat = [Mention(name="Boat", type="project", turns=())]
    mine(memory, "a", topic("Wiring", 0, 1, "Boat"), topic("Paint", 2, 2, "Boat"), subjects=boat)
    mine(memory, "b", topic("Sails", 0, 0, "the boat"), subjects=boat)
    (wing,) = derek.palace()
    assert (wing.level, wing.place, wing.name, wing.type) == ("wing", "W-001", "Boat", "project")
    assert (wing.rooms, wing.closets, wing.drawers) == (2, 3, 4)
    assert wing.last - wing.first == timedelta(days=1)
    assert [(r.place, r.name, r.closets, r.drawers) for r in derek.palace(1)] == [
        ("W-001/R-01", "Evening session", 2, 3),
        ("W-001/R-02", "b", 1, 1),
    ]
    expected = [("W-001/R-01/C-1", "Wiring", 2), ("W-001/R-01/C-2", "Paint", 1)]
    for opened in (("W-001", "R-01"), ("w-1/r-1",), (1, 1)):
        assert [(c.place, c.name, c.drawers) for c in derek.palace(*opened)] == expected
    for opened in (("W-001/R-01/C-1",), (1, 1, 1), ("W-1", "R-1", "C-1")):
        assert [(d.place, d.name, d.type) for d in derek.palace(*opened)] == [
            ("§ W-001/R-01/D-001", "wire", "user"),
            ("§ W-001/R-01/D-002", "more wire", "user"),
        ]
    assert derek.palace(7) == derek.palace("W-1/R-9") == derek.palace(1, 1, 9) == []
    for wrong in (
        {"room": 1},
        {"wing": 1, "closet": 1},
        {"wing": "x"},
        {"wing": -1},
        {"wing": 1, "room": "D-1"},
    ):
        with pytest.raises(Invalid):
            derek.palace(**wrong)  # type: ignore[arg-type]


def test_pages_join_without_a_gap_or_a_repeat(memory: Memory, derek: ScopedMemory) -> None:
    for number in range(7):
        say(derek, f"c{number}", *["x"] * 7)
        shared = [topic(f"t{i}", i, i, "Boat") for i in range(3)]
        mine(memory, f"c{number}", *shared, topic(f"Subject {number}", 3, 6))
    for opened, count in (((), 8), ((1,), 7), ((1, 1), 3), ((2, 1, 1), 4)):
        seen: list[str] = []
        after: int | None = None
        while page := derek.palace(*opened, limit=2, after=after):
            assert len(page) <= 2
            seen += [place.place for place in page]
            after = page[-1].number
        assert seen == [place.place for place in derek.palace(*opened)]
        assert len(seen) == count
    assert derek.palace(after=99) == []


def test_only_the_channels_that_are_read_here(memory: Memory) -> None:
    for channel in ("_global", "work", "home"):
        scope = memory.scope("derek", channel=channel)
        say(scope, channel, "tea")
        mine(memory, channel, topic(f"Tea at {channel}", 0, 0))
    assert [p.name for p in memory.scope("derek", channel="work").palace()] == [
        "Tea at _global",
        "Tea at work",
    ]
    assert [p.name for p in memory.scope("derek").palace()] == ["Tea at _global"]
    assert memory.scope("derek").palace("W-003/R-01/C-1") == []
    assert memory.scope("ann").palace() == []


def test_two_at_once_do_not_share_a_place(memory: Memory, derek: ScopedMemory) -> None:
    store = memory.store.user("derek")
    plans = []
    for name in ("a", "b"):
        (turn,) = say(derek, name, "x")
        (talk,) = store.get(Conversation, [name])
        window, said = Window(talk, (turn,)), [topic(name, 0, 0)]
        plans.append(plan_closets(window, said, (), read_palace(store, window, said, ())))
    store.apply(plans[0])
    with pytest.raises(Conflict):
        store.apply(plans[1])


# Forgetting


@pytest.mark.parametrize("how", ["conversation", "channel", "agent", "closet", "turns"])
def test_no_word_of_what_was_forgotten_is_left(open_memory: OpenMemory, path: Path, how: str) -> None:
    memory = open_memory()
    derek = memory.scope("derek")
    say(derek, "plain", *[f"ordinary talk {i}" for i in range(100)])
    mine(memory, "plain", topic("Talk", 0, 99))
    scope = memory.scope("derek", channel="private", agent="confidant")
    turns = say(scope, "quorblatt-talk", SECRET, SECRET + " again")
    mine(
        memory,
        "quorblatt-talk",
        topic("Xylophonist debts", 0, 0, "Quorblatt"),
        topic("Zorkmids 739g15", 1, 1),
    )
    before = closets(memory)
    named = {"conversation": "quorblatt-talk", "channel": "private", "agent": "confidant"}
    if how == "closet":
        for id in [id for id, closet in before.items() if closet.conversation == "quorblatt-talk"]:
            scope.forget(id)
            with pytest.raises(NotFound):
                scope.forget(id)
        scope.forget(conversation="quorblatt-talk")
    elif how == "turns":
        for turn in turns:
            scope.forget(turn.id)
        scope.forget(conversation="quorblatt-talk")
    else:
        scope.forget(**{how: named[how]})  # type: ignore[arg-type]
    # The audit still knows in which channel something was said and to which agent, unless that is forgotten.
    assert left_in(path, SECRET, *WORDS, named.get(how, "quorblatt-talk")) == []
    after = closets(memory)
    assert after.keys() == before.keys()
    assert [c.conversation for c in after.values()].count(None) == 2
    assert memory.store.check() == []
    say(derek, "new", "x")
    mine(memory, "new", topic("New", 0, 0))
    assert (closets(memory).keys() - before.keys()) == {"W-004/R-01/C-1"}


def test_a_closet_with_some_of_its_turns_left(memory: Memory, derek: ScopedMemory) -> None:
    secret, _, _ = say(derek, "c", "Quorblatt owes me", "noted", "more")
    mine(memory, "c", topic("Debts", 0, 1, "Quorblatt"), topic("Debts", 2, 2, "You there"))
    derek.forget(secret.id)
    after = closets(memory)
    one, other = after["W-001/R-01/C-1"], after["W-002/R-01/C-1"]
    assert (one.subject, one.slug, one.title, one.first, one.last) == ("", "", UNTITLED, 0, 1)
    assert (other.subject, other.title) == ("You there", "Debts")
    assert [place.name for place in derek.palace()] == [ERASED, "You there"]
    assert [place.place for place in derek.palace("W-001/R-01/C-1")] == ["§ W-001/R-01/D-002"]
    assert derek.drawer("§ W-001/R-01/D-002").turn.content == "noted"


@pytest.mark.parametrize("bearer", ["turn", "closet", "entity"])
def test_a_subject_stays_that_something_else_bears(memory: Memory, derek: ScopedMemory, bearer: str) -> None:
    gone, _ = say(derek, "c", "Quorblatt owes me", "I told QUORBLATT so" if bearer == "turn" else "noted")
    mine(memory, "c", topic("Debts", 0, 1, "Quorblatt"))
    if bearer == "closet":
        say(derek, "d", "he paid")
        mine(memory, "d", topic("Paid", 0, 0, "Quorblatt"))
    if bearer == "entity":
        memory.store.user("derek").apply([Put(entity("q", "Quorblatt"))])
    derek.forget(gone.id)
    closet = closets(memory)["W-001/R-01/C-1"]
    assert (closet.subject, closet.slug, closet.title) == ("Quorblatt", "quorblatt", UNTITLED)


def test_one_agents_turns_in_a_shared_closet(memory: Memory) -> None:
    cook, driver = (memory.scope("derek", agent=name) for name in ("cook", "driver"))
    say(cook, "c", "tea")
    say(driver, "c", "car", "road")
    mine(memory, "c", topic("Plans", 0, 1, "user"), topic("Roads", 2, 2))
    cook.forget(agent="cook")
    after = closets(memory)
    assert {closet.agent for closet in after.values()} == {"driver"}
    assert [closet.title for closet in after.values()] == [UNTITLED, "Roads"]
    assert after["W-001/R-01/C-1"].subject == "You"


def test_a_forgotten_entity_is_no_subject(memory: Memory, derek: ScopedMemory, path: Path) -> None:
    say(derek, "c", "he called", "and sang")
    memory.store.user("derek").apply([Put(entity("q", "Quorblatt", aliases=("Quibbs",)))])
    mine(memory, "c", topic("Call of Quibbs", 0, 0, "Quorblatt"), topic("Song", 1, 1, "Quibbs"))
    derek.forget("q")
    assert left_in(path, "quorblatt", "quibbs") == []
    assert [(c.subject, c.slug) for c in closets(memory).values()] == [("", "")] * 2
    assert [c.title for c in closets(memory).values()] == [UNTITLED, "Song"]
    say(derek, "c", "again")
    mine(memory, "c", topic("Again", 2, 2, "Quorblatt"))
    assert [place.name for place in derek.palace()][-1] == "Quorblatt"


def test_everything(memory: Memory, derek: ScopedMemory) -> None:
    say(derek, "c", "x")
    mine(memory, "c", topic("X", 0, 0))
    derek.forget(everything=True)
    assert closets(memory) == {}


def test_an_export_takes_the_palace_along_and_gives_nobody_anothers_place(
    memory: Memory, derek: ScopedMemory
) -> None:
    say(derek, "c", "x", "y")
    mine(memory, "c", topic("X", 0, 1))
    lines = list(derek.export())
    ann = memory.scope("ann")
    ann.import_(lines)
    assert ann.drawer("W-1/R-1/D-2").turn.content == "y"
    derek.forget(conversation="c")
    husk = closets(memory)
    derek.import_(lines)
    assert closets(memory) == husk
