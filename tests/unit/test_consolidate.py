"""Near-duplicates become one memory, and each of them can still be forgotten (D10)."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import Fact, Memory, ScopedMemory
from recollect.model.changes import Put
from recollect.model.records import MINED, MemoryRecord, Tense
from recollect.model.scope import Scope
from recollect.ports.tending import Mark
from recollect.record.retention import TTL
from recollect.tend.consolidate import plan_consolidation
from recollect.tend.wordings import (
    MOST_WORDINGS,
    is_mergeable,
    is_same,
    may_merge,
    merged,
    others,
    survivor,
    unsaid_by,
)
from recollect.testing.store_samples import START, ManualClock
from tests.unit.learning import carried_out, tend
from tests.unit.mining import facts, in_force, say
from tests.unit.support import OpenMemory, contents


def fact(id: str, content: str = "Derek likes green tea", **given: Any) -> Fact:
    return Fact(
        **{
            "id": id,
            "content": content,
            "recorded_at": START,
            "valid_from": START,
            "sources": (f"turn-{id}",),
            **given,
        }
    )


@pytest.mark.parametrize(
    ("one", "other", "near", "same"),
    [
        ("Derek likes green tea", "derek likes green tea.", False, True),
        ("Derek likes green tea", "Derek likes green tea a lot", True, True),
        ("Derek likes green tea", "Derek likes green tea a lot", False, False),
        ("The code is 4711", "The code is 4712", True, False),
        ("Derek eats meat", "Derek never eats meat", True, False),
        ("She met Anna in May", "She met Bob in May", True, False),
        ("?!", "!?", False, False),
        ("Anna lives in a big old house in Lyon", "Bert lives in a big old house in Lyon", True, False),
    ],
)
def test_what_says_the_same(one: str, other: str, near: bool, same: bool) -> None:
    assert is_same(fact("a", one), fact("b", other), near) is same
    assert is_same(fact("b", other), fact("a", one), near) is same


def test_what_was_and_what_is_are_not_the_same() -> None:
    assert not is_same(fact("a"), fact("b", tense=Tense.PAST), near=True)
    assert not is_same(
        fact("a", slot="x", metadata={MINED: {"since": "2024"}}), fact("b", slot="y"), near=True
    )
    value: dict[str, Any] = {"metadata": {MINED: {"value": "tea"}}}
    coffee: dict[str, Any] = {"metadata": {MINED: {"value": "coffee"}}}
    assert not is_same(fact("a", "likes it", **value), fact("b", "likes it so", **coffee), near=True)


def test_what_can_be_merged() -> None:
    now = START
    assert is_mergeable(fact("a"), now)
    changed: list[dict[str, Any]] = [
        {"retired_at": now},
        {"superseded_by": "x"},
        {"valid_to": now},
        {"expires_at": now},
        {"origin": "learnt"},
        {"metadata": {MINED: {"contradicts": "x"}}},
    ]
    for given_ in changed:
        assert not is_mergeable(fact("a", **given_), now)


def test_which_one_stays() -> None:
    plain, twice = fact("plain", origin="rules"), fact("twice", origin="rules", sources=("x", "y"))
    older = fact("older", origin="rules", recorded_at=START - timedelta(days=1))
    explicit, pinned = fact("explicit"), fact("pinned", origin="rules", pinned=True)
    order = [pinned, explicit, twice, older, plain]
    for place, one in enumerate(order):
        for other in order[place + 1 :]:
            assert survivor(one, other) == survivor(other, one) == (one, other)


def test_what_stays_apart() -> None:
    assert may_merge(fact("a"), fact("b"))
    assert not may_merge(fact("a", pinned=True), fact("b", pinned=True))
    assert not may_merge(fact("a"), fact("b", supersedes="x"))
    assert may_merge(fact("a", supersedes="x"), fact("b"))
    assert not may_merge(fact("a"), fact("b", metadata={"from": "crm"}))
    assert may_merge(fact("a", metadata={"from": "crm"}), fact("b", metadata={"from": "crm"}))
    assert not may_merge(
        fact("a", sources=tuple(map(str, range(150)))),
        fact("b", sources=tuple("ab" * 60)[:2] + tuple(map(str, range(150, 210)))),
    )
    assert not may_merge(fact("a"), fact("b", "x " * 400))


def test_all_that_was_known_is_kept() -> None:
    end = START + timedelta(days=3)
    one = fact("a", confidence=0.5, initial=0.9, salience=0.2, about=("x",), expires_at=end)
    other = fact("b", "Derek likes green tea a lot", confidence=0.7, salience=0.6, about=("y",), slot="s")
    made = merged(one, other)
    assert (made.id, made.content) == ("a", one.content)
    assert (made.confidence, made.initial, made.salience) == (0.7, 0.9, 0.6)
    assert (made.sources, made.about) == (("turn-a", "turn-b"), ("x", "y"))
    assert (made.expires_at, made.slot) == (None, "s")
    assert [w["content"] for w in others(made)] == ["Derek likes green tea a lot"]


def mortal(id: str, days: int) -> Fact:
    """One that lives for so many days by the policy."""
    return fact(id, expires_at=START + timedelta(days=days), metadata={TTL: days})


def test_how_long_both_live_by_the_policy() -> None:
    short, long, undying = mortal("short", 3), mortal("long", 30), fact("undying")
    for one, other in ((short, long), (long, short)):
        assert may_merge(one, other)
        made = merged(one, other)
        assert (made.expires_at, made.metadata) == (long.expires_at, {TTL: 30})
    for one, other in ((short, undying), (undying, short)):
        assert may_merge(one, other)
        assert (merged(one, other).expires_at, merged(one, other).metadata) == (None, {})


def test_an_end_of_its_own_is_not_lost() -> None:
    end = START + timedelta(days=3)
    own = fact("own", expires_at=end)
    for other in (fact("b"), fact("b", expires_at=end + timedelta(days=1)), mortal("b", 3)):
        assert not may_merge(own, other)
        assert not may_merge(other, own)
    assert may_merge(own, fact("b", expires_at=end))
    assert merged(own, fact("b", expires_at=end)).expires_at == end


def test_they_are_merged_whatever_the_policy_was_when_they_came(
    memory: Memory, derek: ScopedMemory, clock: ManualClock
) -> None:
    policies: list[dict[str, Any]] = [{"expire": True}, {"ttl_days": 30}, {"expire": False}]
    for policy in policies:
        derek.set_retention(**policy)
        derek.remember("Derek likes green tea")
    derek.remember("Derek likes green tea", expires_at=START + timedelta(days=3))
    assert tend(memory, clock)["consolidate"] == 2
    assert sorted(str(found.expires_at) for found in in_force(derek)) == [
        str(START + timedelta(days=3)),
        "None",
    ]


WORDS = [
    "Derek likes green tea",
    "derek likes green tea!",
    "Derek really likes green tea",
    "He likes green tea",
]


@given(st.lists(st.sampled_from(WORDS), min_size=2, max_size=MOST_WORDINGS), st.data())
def test_what_is_left_was_said_by_who_is_left(contents_: list[str], data: st.DataObject) -> None:
    said = [fact(str(n), content) for n, content in enumerate(contents_)]
    made: MemoryRecord = said[0]
    for one in said[1:]:
        made = merged(*survivor(made, one))
    gone = data.draw(st.sets(st.sampled_from(made.sources), max_size=len(said) - 1))
    left = unsaid_by(made, gone)
    staying = [one for one in said if one.sources[0] not in gone]
    assert {*left.sources} == {one.sources[0] for one in staying}
    words = {_bare(one.content) for one in staying}
    assert {_bare(left.content), *(_bare(w["content"]) for w in others(left))} == words


def _bare(text: str) -> str:
    return text.lower().rstrip("!")


def test_the_same_saved_twice_is_one(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    first = derek.remember("The door code is 4711", about=["Door"])
    derek.remember("the door code is 4711.", confidence=1.0, about=["House"])
    derek.remember("The door code is 4712")
    assert len(derek.recall("door code", top_k=9).hits) == 3
    assert tend(memory, clock)["consolidate"] == 1
    kept = [f for f in in_force(derek) if "4711" in f.content]
    assert [(f.id, f.confidence, len(f.sources), len(f.about)) for f in kept] == [(first.id, 1.0, 2, 2)]
    assert len(facts(derek)) == 2
    assert tend(memory, clock)["consolidate"] == 0


def test_counts_are_pooled(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    one = derek.remember("Derek likes green tea")
    two = derek.remember("Derek likes green tea.")
    store = memory.store.user("derek")
    later = START + timedelta(hours=1)
    store.touch({one.id: ("fact", 3, START), two.id: ("fact", 4, later)})
    tend(memory, clock)
    usage = store.usage([one.id, two.id])
    assert {id: (u.count, u.since_renewal, u.last_at) for id, u in usage.items()} == {one.id: (7, 7, later)}


def test_mined_and_saved_become_one(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    say(derek, "I live in Lyon.")
    derek.mine()
    saved = derek.remember("The user lives in Lyon.")
    assert len(facts(derek)) == 2
    tend(memory, clock)
    (one,) = in_force(derek)
    assert (one.id, one.origin, len(one.sources)) == (saved.id, "explicit", 2)
    assert one.slot
    say(derek, "I live in Porto.", conversation="b")
    derek.mine()
    assert facts(derek) == ["The user lives in Porto."]


def test_channels_and_kinds_stay_apart(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    derek.remember("Deploy with docker")
    derek.remember("Deploy with docker", kind="procedure")
    memory.scope("derek", "work").remember("Deploy with docker")
    memory.scope("ann").remember("Deploy with docker")
    for n in range(2):
        derek.remember("Deployed with docker", kind="episode", goal=str(n))
    before = derek.counts()
    tend(memory, clock)
    after = derek.counts()
    assert {k: after[k] for k in ("fact", "procedure", "episode")} == {
        k: before[k] for k in ("fact", "procedure", "episode")
    }


def test_procedures_add_up(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    for well in (2, 3):
        derek.remember("Deploy with docker", kind="procedure", successes=well, failures=1)
    tend(memory, clock)
    (one,) = derek.list("procedure")
    assert (one.successes, one.failures) == (5, 2)  # type: ignore[attr-defined]


def test_two_pinned_stay(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    for _ in range(2):
        derek.remember("Derek likes green tea", pinned=True)
    assert tend(memory, clock)["consolidate"] == 0
    assert len(facts(derek)) == 2


def test_only_what_changed_is_compared(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    derek.remember("Derek likes green tea")
    derek.remember("derek likes green tea")
    work = memory._workspace(Scope("derek"))
    assert len(list(plan_consolidation(work, Mark()))) == 2
    assert list(plan_consolidation(work, Mark(seq=work.store.seq()))) == []


def test_two_workers_merge_once(memory: Memory, derek: ScopedMemory) -> None:
    for n in range(4):
        derek.remember(f"Derek likes green tea{'.' * n}")
    work = memory._workspace(Scope("derek"))
    plans = [list(plan_consolidation(work, Mark())) for _ in range(2)]
    tallies = [carried_out(work, plan) for plan in plans]
    assert [(tally.done, tally.problem) for tally in tallies] == [(3, None), (0, None)]
    (one,) = in_force(derek)
    assert len(one.sources) == 4


def test_a_correction_is_not_merged_away(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    old = derek.remember("Derek likes black tea")
    new = derek.correct(old.id, "Derek likes green tea")
    derek.remember("Derek likes green tea!", pinned=True)
    derek.remember("Derek likes green tea.")
    tend(memory, clock)
    assert new.id in {f.id for f in in_force(derek)}
    assert derek.get(old.id).superseded_by == new.id  # type: ignore[attr-defined]
    assert len(facts(derek)) == 2


def test_each_is_forgotten_with_its_words(open_memory: OpenMemory, clock: ManualClock, path: Path) -> None:
    memory = open_memory(same_similarity=0.3)
    derek = memory.scope("derek")
    one = memory.scope("derek", conversation="one").remember(
        "Derek greatly enjoys xylophone music with green tea"
    )
    memory.scope("derek", conversation="two").remember("Derek greatly enjoys marimba music with green tea")
    tend(memory, clock)
    (kept,) = in_force(derek)
    assert (kept.id, len(kept.sources)) == (one.id, 2)
    derek.forget(conversation="one")
    (left,) = in_force(derek)
    assert (left.id, left.content) == (one.id, "Derek greatly enjoys marimba music with green tea")
    assert len(left.sources) == 1
    assert contents(derek.recall("marimba")) == [left.content]
    memory.tend()
    memory.close()
    for file in path.parent.glob(f"{path.name}*"):
        data = file.read_bytes()
        assert b"xylophone" not in data
        assert b"marimba" in data or file != path


def test_the_other_way_round(open_memory: OpenMemory, clock: ManualClock, path: Path) -> None:
    memory = open_memory(same_similarity=0.3)
    derek = memory.scope("derek")
    memory.scope("derek", conversation="one").remember("Derek greatly enjoys xylophone music with green tea")
    memory.scope("derek", conversation="two").remember("Derek greatly enjoys marimba music with green tea")
    tend(memory, clock)
    derek.forget(conversation="two")
    assert facts(derek) == ["Derek greatly enjoys xylophone music with green tea"]
    assert all("wordings" not in f.metadata for f in in_force(derek))
    memory.tend()
    memory.close()
    for file in path.parent.glob(f"{path.name}*"):
        assert b"marimba" not in file.read_bytes()


def test_forgotten_as_a_whole_its_notes_go(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    one = derek.remember("Derek likes green tea")
    derek.remember("derek likes green tea.")
    tend(memory, clock)
    derek.forget(one.id)
    assert derek.counts().keys() & {"fact", "turn"} == set()


def test_undone_mining_leaves_what_was_saved(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    say(derek, "I live in Lyon.")
    derek.mine()
    derek.remember("The user lives in Lyon.")
    tend(memory, clock)
    derek.unmine("a")
    assert facts(derek) == ["The user lives in Lyon."]


def test_replacing_keeps_other_fields() -> None:
    one = fact("a", pinned=True)
    assert replace(merged(one, fact("b")), sources=one.sources) == one


@pytest.mark.parametrize(
    "odd",
    [
        "x",
        {},
        {"own": 5, "others": []},
        {"own": ["t"], "others": [{"content": 1}]},
        {"own": ["t"], "others": "no"},
        {"own": [1], "others": [], "slot": 4},
    ],
)
def test_metadata_of_somebody_elses_is_in_nobodys_way(
    memory: Memory, derek: ScopedMemory, clock: ManualClock, odd: object
) -> None:
    for content in ("Derek likes green tea", "derek likes green tea."):
        derek.remember(content, metadata={"wordings": odd, "mined": odd, "learnt": odd})
    tend(memory, clock)
    derek.forget(conversation="_notes")
    assert facts(derek) == []


def test_a_correction_has_words_of_its_own(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    made = merged(fact("a"), fact("b", "Derek likes green tea a lot"))
    memory.store.user("derek").apply([Put(made, ())])
    fixed = derek.correct("a", "Derek likes coffee")
    assert fixed.metadata == {}
