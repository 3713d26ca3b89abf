"""What the retention policy does has to come out the same on every engine, sealed or not."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from recollect import Entity, Invalid, Memory, NotFound, QuotaExceeded, ScopedMemory
from recollect.model.changes import Chunk, Put, Revise
from recollect.model.records import AuditEntry, Conversation, Fact, MemoryRecord, Tombstone, Turn
from recollect.model.searched import searchable_text
from recollect.ports.store import Usage
from recollect.testing.store_samples import START, ManualClock
from tests.contract.postgres import new_database
from tests.contract.test_mine_engines import ENGINES, NAMES
from tests.unit.mining import facts, say

DAY = timedelta(days=1)


@pytest.fixture(scope="module", params=ENGINES, ids=NAMES)
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """The address of a database that the tests of an engine share, and its key."""
    engine, key = request.param
    if engine == "sqlite":
        yield {"db": str(tmp_path_factory.mktemp("kept") / "memory.db"), "key": key}
        return
    with new_database(request.getfixturevalue("server"), f"recollect_kept_{len(key)}") as url:
        yield {"db": url, "key": key}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def memory(place: dict[str, str], clock: ManualClock) -> Iterator[Memory]:
    with Memory.open(embedder="hashing", clock=clock, **place) as memory:  # type: ignore[arg-type]
        yield memory
        for user in list(memory.store.users()):
            memory.scope(user).forget(everything=True)


@pytest.fixture
def derek(memory: Memory, request: pytest.FixtureRequest) -> ScopedMemory:
    return memory.scope(request.node.originalname)


def pass_time(clock: ManualClock, time: timedelta) -> None:
    clock.advance(seconds=time.total_seconds())


def returned(memory: Memory, user: ScopedMemory, record: Any, times: int) -> None:
    given = {record.id: (record.kind, times, memory.clock.now())}
    memory.store.user(user.scope.user).touch(given)


def usage(memory: Memory, user: ScopedMemory, id: str) -> Usage:
    return memory.store.user(user.scope.user).usage([id])[id]


def planned(memory: Memory) -> list[tuple[str, str, str]]:
    """What the chores would do, without mining: action, id, why."""
    return [(step.action, step.id, step.why) for step in memory.tending() if step.action != "mine"]


def tended(memory: Memory) -> list[tuple[str, str, str]]:
    """Tend once: what was done is what was told, and there is nothing left to do."""
    told = planned(memory)
    problems = [outcome.problem for outcome in memory.tend() if outcome.problem]
    assert problems == []
    return told


def audited(user: ScopedMemory, operation: str) -> list[AuditEntry]:
    found = user.list("audit", limit=1000, operation=operation, oldest_first=True)
    return [entry for entry in found if isinstance(entry, AuditEntry)]


def a_fact(user: ScopedMemory, id: str) -> MemoryRecord:
    found = user.get(id)
    assert isinstance(found, MemoryRecord)
    return found


# Expiry


def test_a_memory_expires_or_is_renewed(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    derek.set_retention(expire=True, ttl_days=15.0, popular=10)
    plain = derek.remember("The gate code is 4711.")
    loved = derek.remember("Derek takes the window seat.")
    kept = derek.remember("Derek is allergic to peanuts.", pinned=True)
    own = derek.remember("The parking spot is 12.", expires_at=START + 2 * DAY)
    assert plain.expires_at == loved.expires_at == START + 15 * DAY
    assert kept.expires_at is None
    returned(memory, derek, loved, 10)
    returned(memory, derek, own, 50)  # its end was set by somebody, and stays
    returned(memory, derek, plain, 9)

    pass_time(clock, 2 * DAY)
    assert [(action, id) for action, id, _ in tended(memory)] == [("expire", own.id)]
    pass_time(clock, 12 * DAY + timedelta(hours=1))  # it would run out before anybody looks again
    assert [(action, id) for action, id, _ in tended(memory)] == [("renew", loved.id)]
    assert a_fact(derek, loved.id).expires_at == START + 30 * DAY
    assert (usage(memory, derek, loved.id).since_renewal, usage(memory, derek, loved.id).count) == (0, 10)
    pass_time(clock, DAY)
    assert [(action, id) for action, id, _ in tended(memory)] == [("expire", plain.id)]
    with pytest.raises(NotFound):
        derek.get(plain.id)
    assert any(hit.id == loved.id for hit in derek.recall("window seat").hits)
    pass_time(clock, 15 * DAY)
    assert [(action, id) for action, id, _ in tended(memory)] == [("expire", loved.id)]
    assert [entry.details["popular"] for entry in audited(derek, "renew")] == [10]
    pass_time(clock, 1000 * DAY)
    tended(memory)
    assert a_fact(derek, kept.id).pinned


def test_unpinned_it_lives_on_from_there(derek: ScopedMemory, clock: ManualClock) -> None:
    derek.set_retention(expire=True)
    kept = derek.remember("Derek is allergic to peanuts.")
    derek.pin(kept.id)
    pass_time(clock, 100 * DAY)
    assert [hit.id for hit in derek.recall("peanuts").hits] == [kept.id]
    assert derek.pin(kept.id, False).expires_at == clock.now() + 15 * DAY
    assert [hit.id for hit in derek.recall("peanuts").hits] == [kept.id]


def test_what_expires_brings_nothing_back(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    old = derek.remember("The budget is $10,000.")  # before there was a policy
    derek.set_retention(expire=True)
    derek.correct(old.id, "The budget is $12,500.")
    pass_time(clock, 20 * DAY)
    assert {action for action, _, _ in tended(memory)} == {"expire"}
    assert facts(derek) == []


def test_what_has_expired_is_not_mined_again_unless_it_is_said_again(
    memory: Memory, derek: ScopedMemory, clock: ManualClock
) -> None:
    derek.set_retention(expire=True)
    say(derek, "I live in Lyon.")
    derek.mine()
    pass_time(clock, 20 * DAY)
    tended(memory)
    assert facts(derek) == []
    store = memory.store.user(derek.scope.user)
    store.apply([Revise("conversation", "a", {"mined_to": 0})])
    derek.mine()
    assert facts(derek) == []
    say(derek, "I live in Lyon.")
    derek.mine()
    assert len(facts(derek)) == 1


def test_said_again_it_lives_as_long_as_a_new_one(derek: ScopedMemory, clock: ManualClock) -> None:
    derek.set_retention(expire=True)
    say(derek, "I live in Lyon.")
    derek.mine()
    pass_time(clock, 10 * DAY)
    say(derek, "I live in Lyon.")
    derek.mine()
    (fact,) = derek.list("fact")
    assert isinstance(fact, Fact)
    assert fact.expires_at == clock.now() + 15 * DAY


# Decay


def test_an_entity_fades_and_comes_back(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    say(derek, "My sister Anna works at Acme.")
    derek.mine()
    before = {e.name: e for e in derek.list("entity") if isinstance(e, Entity)}
    acme = before["Acme"]
    pass_time(clock, 14 * DAY)
    told = tended(memory)
    assert {action for action, _, _ in told} == {"decay"}
    faded = derek.get(acme.id)
    assert isinstance(faded, Entity)
    assert faded.initial == acme.salience
    assert faded.salience == pytest.approx(acme.salience * 0.95**14.04, rel=0.01)
    seq = memory.store.user(derek.scope.user).seq()
    pass_time(clock, DAY / 100)
    memory.tend()
    assert memory.store.user(derek.scope.user).seq() == seq  # computed from what it was at first

    say(derek, "Anna likes it at Acme.")
    say(derek, "I work at Acme.")
    derek.mine()
    again = derek.get(acme.id)
    assert isinstance(again, Entity)
    assert again.initial is None
    assert again.salience > acme.salience
    assert again.last_seen is not None
    assert clock.now() - again.last_seen < timedelta(hours=1)


def test_what_is_recalled_counts_as_before(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    anna = Entity(id="anna", name="Anna", description="plays the cello", first_seen=START)
    memory.store.user(derek.scope.user).apply([Put(anna, (Chunk(0, len(searchable_text(anna))),))])
    pass_time(clock, 20 * DAY)
    tended(memory)
    faded = derek.get(anna.id)
    returned(memory, derek, anna, 1)
    pass_time(clock, DAY)
    tended(memory)
    found = derek.get(anna.id)
    assert isinstance(faded, Entity)
    assert isinstance(found, Entity)
    assert faded.salience < anna.salience == found.salience


def inferred(memory: Memory, user: ScopedMemory, **given: Any) -> Fact:
    fact = Fact(
        id=given.pop("id", "0195a3c2-0000-7000-8000-000000000001"),
        content=given.pop("content", "Derek may like jazz."),
        recorded_at=memory.clock.now(),
        valid_from=memory.clock.now(),
        **{"confidence": 0.7, "origin": "rules", **given},
    )
    memory.store.user(user.scope.user).apply([Put(fact, ())])
    return fact


def test_what_was_inferred_grows_unsure(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    fact = inferred(memory, derek)
    sure = inferred(memory, derek, id="0195a3c2-0000-7000-8000-000000000002", confidence=0.95)
    kept = inferred(memory, derek, id="0195a3c2-0000-7000-8000-000000000003", pinned=True)
    said = derek.remember("Derek likes rock.", confidence=0.5)
    pass_time(clock, 70 * DAY)
    assert [(action, id) for action, id, _ in tended(memory)] == [("decay", fact.id)]
    assert a_fact(derek, fact.id).confidence == pytest.approx(0.7 * 0.95**10)
    assert a_fact(derek, fact.id).initial == 0.7
    assert [a_fact(derek, m.id) for m in (sure, kept, said)] == [sure, kept, said]


def test_nothing_fades_where_that_is_off(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    derek.set_retention(decay=False)
    inferred(memory, derek)
    pass_time(clock, 1000 * DAY)
    assert tended(memory) == []


# Cleanup


def test_old_conversations_are_archived_until_they_go_on(
    memory: Memory, derek: ScopedMemory, clock: ManualClock
) -> None:
    say(derek, "Nice weather.")
    pass_time(clock, 89 * DAY)
    assert tended(memory) == []
    pass_time(clock, DAY)
    assert [(action, id) for action, id, _ in tended(memory)] == [("archive", "a")]
    pass_time(clock, DAY)
    assert tended(memory) == []
    say(derek, "Still nice.")
    pass_time(clock, DAY)
    assert [(action, id) for action, id, _ in tended(memory)] == [("unarchive", "a")]
    found = derek.get("a")
    assert isinstance(found, Conversation)
    assert found.archived_at is None


def test_an_entity_goes_when_nothing_is_about_it(
    memory: Memory, derek: ScopedMemory, clock: ManualClock
) -> None:
    derek.remember("Anna plays the cello.", about=["Anna"])
    gone = derek.remember("Globex is a customer.", about=["Globex"])
    store = memory.store.user(derek.scope.user)
    lonely = Entity(id="lonely", name="Nobody", first_seen=START, salience=0.05)
    young = Entity(id="young", name="Somebody", first_seen=START + 20 * DAY, salience=0.05)
    store.apply([Put(lonely, ()), Put(young, ())])
    pass_time(clock, 40 * DAY)
    assert ("prune", "lonely") in [(action, id) for action, id, _ in tended(memory)]
    assert {e.name for e in derek.list("entity") if isinstance(e, Entity)} == {"Anna", "Globex", "Somebody"}
    store.apply([Revise("fact", gone.id, {"retired_at": clock.now(), "valid_to": clock.now()})])
    pass_time(clock, 60 * DAY)
    tended(memory)
    assert [e.name for e in derek.list("entity") if isinstance(e, Entity)] == ["Anna"]


def test_turns_go_after_so_many_days_with_what_rests_on_them(
    memory: Memory, derek: ScopedMemory, clock: ManualClock
) -> None:
    derek.set_retention(turn_days=30.0)
    say(derek, "I live in Lyon.", conversation="old")
    say(derek, "I have a dog.", conversation="kept")
    note = derek.remember("Derek is allergic to peanuts.")
    derek.mine()
    dog = next(f for f in derek.list("fact") if isinstance(f, Fact) and "dog" in f.content)
    derek.pin(dog.id)
    pass_time(clock, 20 * DAY)
    say(derek, "Hello.", conversation="new")
    pass_time(clock, 10 * DAY)
    assert [action for action, _, _ in tended(memory)].count("erase") == 1
    assert derek.conversation("old") == []
    assert [turn.content for turn in derek.conversation("kept")] == ["I have a dog."]
    assert len(derek.conversation("new")) == 1
    assert facts(derek) == sorted([dog.content, note.content])
    pass_time(clock, DAY)
    assert ("erase", "old") in [(action, id) for action, id, _ in tended(memory)]
    with pytest.raises(NotFound):
        derek.get("old")


# Quotas


def test_turns_over_the_quota_are_refused(derek: ScopedMemory) -> None:
    derek.set_retention(turn_quota=2)
    derek.set_retention(channel="side", channel_turn_quota=1)
    say(derek, "One.", "Two.")
    with pytest.raises(QuotaExceeded, match="turn_quota"):
        say(derek, "Three.")
    assert len(derek.conversation("a")) == 2
    assert derek.record("user", "Two.", conversation="a", index=1).index == 1  # it is there already


def test_a_channel_has_a_quota_of_its_own(memory: Memory, derek: ScopedMemory) -> None:
    derek.set_retention(channel="side", channel_turn_quota=1)
    side = memory.scope(derek.scope.user, "side")
    say(side, "One.", conversation="s")
    with pytest.raises(QuotaExceeded, match="channel_turn_quota"):
        say(side, "Two.", conversation="s")
    say(derek, "Two.", "Three.")


def many(memory: Memory, user: ScopedMemory, count: int, **given: Any) -> list[Fact]:
    return [
        inferred(
            memory,
            user,
            id=f"0195a3c2-0000-7000-8000-{number:012}",
            content=f"Number {number}.",
            salience=0.1 + number / 100,
            **given,
        )
        for number in range(count)
    ]


def test_the_least_valuable_mined_memories_go(memory: Memory, derek: ScopedMemory) -> None:
    derek.set_retention(memory_quota=5)
    mined = many(memory, derek, 5)
    saved = [derek.remember(f"Saved {n}.", salience=0.01) for n in range(1)]
    assert [f.id for f in derek.list("fact", oldest_first=True, origin="rules")] == [f.id for f in mined[1:]]
    many(memory, derek, 5)  # mining is never refused
    pinned = mined[1]
    derek.pin(pinned.id)
    returned(memory, derek, mined[2], 50)
    memory.tend()
    left = {fact.id for fact in derek.list("fact")}
    assert len(left) == 5
    assert {saved[0].id, pinned.id} <= left
    assert mined[0].id not in left


def test_nothing_that_was_saved_goes_for_something_to_be_saved(derek: ScopedMemory) -> None:
    derek.set_retention(memory_quota=2)
    derek.remember("One.")
    derek.remember("Two.")
    with pytest.raises(QuotaExceeded, match="memory_quota"):
        derek.remember("Three.")
    assert len(facts(derek)) == 2


def test_a_warning_once_until_it_falls_below(
    memory: Memory, derek: ScopedMemory, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    derek.set_retention(memory_quota=10, decay=False)
    saved = [derek.remember(f"Saved {n}.") for n in range(8)]

    def day() -> list[str]:
        pass_time(clock, DAY)
        return [action for action, _, _ in tended(memory)]

    assert day() == ["quota_warning"]
    assert "nearly used up: 8 of 10 memories" in caplog.text
    derek.remember("One more.")
    assert day() == []
    for gone in saved[:4]:
        derek.forget(gone.id)
    assert day() == ["quota_normal"]
    for n in range(4):
        derek.remember(f"Again {n}.")
    assert day() == ["quota_warning"]
    warning = audited(derek, "quota_warning")[0]
    assert warning.details == {"used": 8, "quota": 10}


# Promotion


def promotable(memory: Memory, user: ScopedMemory) -> MemoryRecord:
    """A fact of a channel that was said in two conversations and returned five times."""
    say(user, "I live in Lyon.", conversation="first")
    say(user, "I live in Lyon.", conversation="second")
    user.mine()
    found = user.list("fact", channel=user.scope.channel)
    (fact,) = [f for f in found if isinstance(f, MemoryRecord)]
    assert fact.confidence >= 0.85
    returned(memory, user, fact, 5)
    return fact


def test_a_fact_that_matters_is_promoted_and_still_corrected(
    memory: Memory, derek: ScopedMemory, clock: ManualClock
) -> None:
    user = derek.scope.user
    work, home = memory.scope(user, "work"), memory.scope(user, "home")
    fact = promotable(memory, work)
    assert [(action, id) for action, id, _ in tended(memory)] == [("promote", fact.id)]
    moved = a_fact(derek, fact.id)
    assert (moved.channel, moved.promoted_from) == ("_global", "work")
    assert fact.id in [hit.id for hit in home.recall("Where do I live?").hits]
    details = audited(derek, "promote")[0].details
    assert details["promote_count"] == 5
    assert details["conversations"] == 2

    say(work, "I live in Lyon.", conversation="third")
    work.mine()
    assert len(derek.list("fact")) == 1
    assert len(a_fact(derek, fact.id).sources) == 3

    pass_time(clock, DAY)
    say(work, "I moved to Porto.", conversation="third")
    work.mine()
    (now,) = [f for f in derek.list("fact", superseded_by=None, tense="current") if isinstance(f, Fact)]
    assert "Porto" in now.content
    assert (now.channel, now.promoted_from, now.supersedes) == ("_global", "work", fact.id)

    pass_time(clock, DAY)
    say(derek, "I moved to Rome.", conversation="fourth")
    derek.mine()
    pass_time(clock, DAY)
    say(work, "I moved to Oslo.", conversation="fifth")
    work.mine()
    held = [f for f in derek.list("fact", superseded_by=None, tense="current") if isinstance(f, Fact)]
    assert ["Oslo" in f.content for f in held] == [True]
    assert len(derek.list("fact", tense="current")) == 4


def test_what_is_not_sure_or_not_asked_for_stays(memory: Memory, derek: ScopedMemory) -> None:
    work = memory.scope(derek.scope.user, "work")
    say(work, "I live in Lyon.", conversation="first")
    work.mine()
    (fact,) = work.list("fact")
    returned(memory, work, fact, 5)
    assert tended(memory) == []  # said in one conversation only
    derek.set_retention(promote_conversations=1, promote_count=6)
    assert [a for a, _, _ in planned(memory)] == []
    derek.set_retention(promote_count=5, promote=False)
    assert [a for a, _, _ in planned(memory)] == []


def test_nothing_is_promoted_beside_what_answers_the_same(
    memory: Memory, derek: ScopedMemory, clock: ManualClock
) -> None:
    work = memory.scope(derek.scope.user, "work")
    fact = promotable(memory, work)
    say(derek, "I live in Rome.", conversation="elsewhere")
    derek.mine()
    assert [a for a, _, _ in planned(memory) if a == "promote"] == []
    with pytest.raises(Invalid, match="answers the same"):
        work.promote(fact.id)


def test_promoted_and_taken_back_by_hand(memory: Memory, derek: ScopedMemory) -> None:
    work = memory.scope(derek.scope.user, "work")
    fact = promotable(memory, work)
    assert work.promote(fact.id).channel == "_global"
    with pytest.raises(Invalid, match="already"):
        work.promote(fact.id)
    assert work.promote(fact.id, False).channel == "work"
    with pytest.raises(Invalid, match="was not promoted"):
        work.promote(fact.id, False)
    assert [a for a, _, _ in planned(memory) if a == "promote"] == []  # somebody wants it there


def test_an_isolated_channel_is_apart(memory: Memory, derek: ScopedMemory) -> None:
    user = derek.scope.user
    derek.remember("The safe is behind the mirror.", about=["Anna"])
    apart = memory.scope(user, "apart")
    assert len(apart.recall("Where is the safe?").hits) == 1
    derek.set_retention(channel="apart", isolated=True)
    assert apart.recall("Where is the safe?").hits == ()
    assert apart.timeline() == []
    fact = promotable(memory, apart)
    say(apart, "My sister Anna works at Acme.", conversation="third")
    apart.mine()
    assert {e.channel for e in apart.list("entity", name="Anna") if isinstance(e, Entity)} == {
        "_global",
        "apart",
    }
    assert [a for a, _, _ in tended(memory) if a == "promote"] == []
    with pytest.raises(Invalid, match="isolated"):
        apart.promote(fact.id)


# All of it


def test_a_dry_run_tells_and_changes_nothing(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    derek.set_retention(expire=True)
    derek.remember("The gate code is 4711.", about=["Gate"])
    say(derek, "Nice weather.")
    derek.mine()
    pass_time(clock, 100 * DAY)
    store = memory.store.user(derek.scope.user)
    before = (store.seq(), list(derek.export()))
    told = planned(memory)
    assert {action for action, _, _ in told} == {"expire", "archive", "decay"}
    assert not any("4711" in why or "Gate" in why for _, _, why in told)
    assert (store.seq(), list(derek.export())) == before
    memory.tend()
    assert store.seq() > before[0]
    assert memory.store.user(derek.scope.user).count(Tombstone) == 1
    assert not derek.list("fact")
    assert store.count(Turn, {"role": "note"}) == 0
