"""What happened when, and finding one's way through what is stored."""

from datetime import datetime, timedelta

import pytest

from recollect import Event, Invalid, Memory, NotFound, ScopedMemory
from recollect.model.changes import Put
from recollect.model.records import Relation
from recollect.testing.store_samples import START, ManualClock, entity


def told(events: list[Event]) -> list[tuple[int, str, str]]:
    """Day, what happened, and to what."""
    return [((event.at - START).days, event.what, event.content) for event in events]


def day(number: int) -> datetime:
    return START + timedelta(days=number)


def test_everything_in_order_with_corrections(derek: ScopedMemory, clock: ManualClock) -> None:
    turn = derek.record("user", "Hello")
    clock.advance(days=1)
    old = derek.remember("Lives in Lisbon")
    clock.advance(days=2)
    new = derek.correct(old.id, "Lives in Porto")
    derek.record("user", "Said before", at=day(-1))
    events = [event for event in derek.timeline() if event.metadata.get("role") != "note"]
    assert told(events) == [
        (-1, "said", "Said before"),
        (0, "said", "Hello"),
        (1, "learnt", "Lives in Lisbon"),
        (3, "ended", "Lives in Lisbon"),
        (3, "corrected", "Lives in Porto"),
    ]
    assert [event.id for event in events[1:]] == [turn.id, old.id, old.id, new.id]
    assert events[0].metadata == {"role": "user"}


def test_a_span_and_a_limit(derek: ScopedMemory) -> None:
    for number in range(6):
        derek.record("user", str(number), at=day(number))
    assert [e.content for e in derek.timeline(since=day(1), until=day(4))] == ["1", "2", "3"]
    assert [e.content for e in derek.timeline(since=day(1), limit=2)] == ["1", "2"]
    assert [e.content for e in derek.timeline(until=day(5), limit=2, latest=True)] == ["3", "4"]
    assert [e.content for e in derek.timeline(as_of=day(3), limit=2, latest=True)] == ["2", "3"]
    assert derek.timeline(latest=True) == derek.timeline()
    with pytest.raises(Invalid, match="time zone"):
        derek.timeline(since=datetime(2026, 1, 1))  # noqa: DTZ001


def test_only_the_channels_that_are_read_here(memory: Memory) -> None:
    for channel in ("_global", "work", "home"):
        memory.scope("derek", channel=channel).record("user", channel)
    events = memory.scope("derek", channel="work").timeline()
    assert [e.content for e in events] == ["_global", "work"]
    assert memory.scope("ann").timeline() == []


def test_an_entitys_own(derek: ScopedMemory, memory: Memory, clock: ManualClock) -> None:
    job = derek.remember("Ann works at Acme", about=["Ann", "Acme"])
    derek.remember("Bob is tall", about=["Bob"])
    ann, acme = job.about
    clock.advance(days=5)
    derek.correct(job.id, "Ann works at Initech", since=day(4))
    works = {"source": ann, "type": "WORKS_FOR", "target": acme, "recorded_at": START}
    memory.store.user("derek").apply(
        [
            Put(entity(ann, "Ann", aliases=("Annie",))),
            Put(Relation(id="r1", valid_from=day(-9), valid_to=day(4), **works)),
        ]
    )
    expected = [
        (-9, "began", "Ann WORKS_FOR Acme"),
        (0, "learnt", "Ann works at Acme"),
        (4, "ended", "Ann works at Acme"),
        (4, "corrected", "Ann works at Initech"),
        (4, "ended", "Ann WORKS_FOR Acme"),
    ]
    for name in ("Ann", ann, "annie", "ANN"):
        assert sorted(told(derek.timeline(name))) == sorted(expected)
    assert [e.at for e in derek.timeline("Ann")] == sorted(e.at for e in derek.timeline("Ann"))
    assert "Bob is tall" not in [e.content for e in derek.timeline("Acme")]


def test_as_things_stood_at_a_time(derek: ScopedMemory, memory: Memory, clock: ManualClock) -> None:
    lives = derek.remember("Ann lives in Lyon", about=["Ann", "Lyon"])
    ann, lyon = lives.about
    clock.advance(days=10)
    moved = derek.correct(lives.id, "Ann lives in Porto")
    bond = {"source": ann, "type": "LIVES_IN", "target": lyon, "recorded_at": START}
    memory.store.user("derek").apply(
        [
            Put(
                Relation(
                    id="r1", valid_from=day(0), valid_to=day(10), retired_at=day(10), sources=("t",), **bond
                )
            ),
            Put(Relation(id="r2", valid_from=day(0), retired_at=day(1), **bond)),  # never was so
        ]
    )
    assert sorted(told(derek.timeline("Ann", as_of=day(5)))) == [
        (0, "began", "Ann LIVES_IN Lyon"),
        (0, "learnt", "Ann lives in Lyon"),
    ]
    assert [e.id for e in derek.timeline("Ann", as_of=day(10))] == [moved.id]
    assert derek.timeline("Ann", as_of=day(-1)) == []
    assert {e.id for e in derek.timeline("Ann")} == {lives.id, moved.id, "r1", "r2"}
    with pytest.raises(Invalid, match="time zone"):
        derek.timeline("Ann", as_of=datetime(2026, 1, 1))  # noqa: DTZ001


def test_events_say_until_when_and_from_which_turns(derek: ScopedMemory, clock: ManualClock) -> None:
    turn = derek.record("user", "Hello")
    saved = derek.remember("Ann is away", about=["Ann"], valid_to=day(3))
    began, ended = derek.timeline("Ann")
    assert (began.valid_to, began.sources, began.what) == (day(3), saved.sources, "learnt")
    assert (ended.at, ended.sources, ended.what) == (day(3), saved.sources, "ended")
    clock.advance(days=1)
    later = derek.record("user", "Later")
    told_then = derek.timeline(as_of=day(0))
    assert turn.id in {event.id for event in told_then}
    assert later.id not in {event.id for event in told_then}
    assert next(event for event in told_then if event.id == turn.id).sources == (turn.id,)


def test_an_entity_in_the_channels_that_are_read_here(memory: Memory) -> None:
    work, home = (memory.scope("derek", channel=name) for name in ("work", "home"))
    saved = work.remember("Ann is at work", about=["Ann"])
    home.remember("Ann is at home", about=["Ann"])
    bond = {"source": saved.about[0], "type": "KNOWS", "target": saved.about[0], "recorded_at": START}
    memory.store.user("derek").apply([Put(Relation(id="r", valid_from=START, channel="home", **bond))])
    assert [e.content for e in work.timeline("Ann")] == ["Ann is at work"]
    assert {e.content for e in home.timeline("ann")} == {"Ann is at home", "Ann KNOWS Ann"}


def test_nobody_by_that_name(derek: ScopedMemory, memory: Memory) -> None:
    hers = memory.scope("ann").remember("x", about=["Zed"])
    for name in ("Zed", hers.about[0], "nobody"):
        with pytest.raises(NotFound):
            derek.timeline(name)


def test_pages_join_without_a_gap_or_a_repeat(derek: ScopedMemory) -> None:
    saved = [memory.id for memory in derek.remember_many([f"fact {i}" for i in range(23)])]
    for oldest_first, expected in ((True, saved), (False, saved[::-1])):
        seen: list[str] = []
        while page := derek.list(limit=5, after=seen[-1] if seen else None, oldest_first=oldest_first):
            assert len(page) <= 5
            seen += [record.id for record in page]
        assert seen == expected
    assert len(derek.list()) == 23
    assert derek.list(limit=0) == []


def test_lists_are_narrowed_by_field(derek: ScopedMemory) -> None:
    old = derek.remember("old")
    new = derek.correct(old.id, "new")
    derek.record("assistant", "said", conversation="c")
    assert [r.id for r in derek.list("fact", superseded_by=None)] == [new.id]
    assert [r.id for r in derek.list("fact", supersedes=old.id)] == [new.id]
    assert len(derek.list("turn", role="assistant")) == 1
    assert len(derek.list("turn", conversation=["c", "_notes"])) == 3
    with pytest.raises(Invalid, match="colour"):
        derek.list("fact", colour="red")
    with pytest.raises(Invalid, match="sources"):
        derek.list("fact", sources="x")
    with pytest.raises(Invalid, match="opinion"):
        derek.list("opinion")
    with pytest.raises(NotFound):
        derek.list("fact", after="missing")


def test_conversations_by_name_in_pages(derek: ScopedMemory) -> None:
    for name in ("b", "a", "c"):
        derek.record("user", "x", conversation=name)
    assert [c.id for c in derek.conversations(limit=2)] == ["a", "b"]
    assert [c.id for c in derek.conversations(after="b")] == ["c"]


def test_anothers_id_is_answered_like_a_missing_one(memory: Memory, derek: ScopedMemory) -> None:
    ann = memory.scope("ann", conversation="c")
    turn = ann.record("user", "hers")
    fact = ann.remember("hers", about=["Her"])
    ids = [turn.id, fact.id, fact.about[0], ann.add_goal("hers").id, ann.record_tool("t", 1).id, "c"]
    messages: set[str] = set()
    for id in (*ids, "missing"):
        with pytest.raises(NotFound) as missing:
            derek.get(id)
        messages.add(str(missing.value).replace(repr(id), "…"))
    assert len(messages) == 1
    for id in (fact.id, "missing"):
        for verb in (
            derek.pin,
            lambda id: derek.correct(id, "mine"),
            lambda id: derek.list("fact", after=id),
        ):
            with pytest.raises(NotFound):
                verb(id)
    assert derek.conversation("c") == []
    assert derek.counts() == {}
    assert ann.get(fact.id) == fact
