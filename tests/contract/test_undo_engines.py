"""What was forgotten a moment ago comes back as it was, or not at all, on every engine."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect import Conflict, Invalid, Memory, NotFound, ScopedMemory
from recollect.model.records import MemoryRecord, Tombstone
from recollect.model.shapes import to_json
from recollect.tend.undo import FOR, MOST
from recollect.testing.store_samples import ManualClock
from tests.contract.keeping import pass_time, returned, usage
from tests.unit.mining import facts, say

Made = Callable[[ScopedMemory], str]


def exported(user: ScopedMemory) -> list[str]:
    """The whole memory; the order in which things were stored does not matter."""
    return sorted(user.export())


def taken_back(user: ScopedMemory, id: str, *, with_sources: bool = False) -> dict[str, int]:
    """Forget, and undo: everything is as it was."""
    before, found = exported(user), user.recall("Lyon tea Anna").hits
    gone = user.forget(id, undo=True, with_sources=with_sources)
    assert gone.undo
    assert exported(user) != before
    back = user.undo(gone.undo)
    assert exported(user) == before
    assert back == gone.counts
    assert {hit.id for hit in user.recall("Lyon tea Anna").hits} == {hit.id for hit in found}
    return back


def a_turn(user: ScopedMemory) -> str:
    say(user, "I live in Lyon. My sister Anna loves green tea.", "Anna works at Acme.", "Anna lives in Rome.")
    user.mine()
    return user.conversation("a")[0].id


def a_version(user: ScopedMemory) -> str:
    first = user.remember("Lives in Lyon", about=["Derek"])
    second = user.correct(first.id, "Lives in Porto")
    user.correct(second.id, "Lives in Rome")
    return second.id


def an_entity(user: ScopedMemory) -> str:
    say(user, "My sister Anna works at Acme.", "Anna lives in Lyon.", "My brother Ben works at Acme.")
    user.mine()
    user.remember("Anna likes tea", about=["Anna"])
    return next(one.id for one in user.neighbours("Anna").entities if one.name == "Anna")


def a_goal(user: ScopedMemory) -> str:
    first = user.add_goal("Sell the flat in Lyon", priority=2)
    user.add_goal("Move", blocked_by=[first.id])
    user.add_goal("Find a buyer", parent=first.id)
    return first.id


def a_procedure(user: ScopedMemory) -> str:
    return user.remember(
        "Warm the pot, then brew the tea", kind="procedure", tools=["kettle"], successes=3
    ).id


def an_episode(user: ScopedMemory) -> str:
    steps = {"goal": "tea", "steps": ["boil", "pour"], "outcome": "good", "lessons": "Warm the pot"}
    return user.remember("Made tea", kind="episode", success=True, **steps).id


def a_closet(user: ScopedMemory) -> str:
    a_turn(user)
    return user.list("closet")[0].id


@pytest.mark.parametrize("made", [a_turn, a_version, an_entity, a_goal, a_procedure, an_episode, a_closet])
def test_all_of_it_comes_back_as_it_was(memory: Memory, made: Made) -> None:
    user = memory.scope(made.__name__)
    assert taken_back(user, made(user))


def test_what_was_concluded_and_learnt_comes_back(memory: Memory, derek: ScopedMemory) -> None:
    talk = memory.scope(derek.scope.user, conversation="deploy")
    for text in ("Deploy the shop, please.", "First run the tests, then tag it.", "Thanks, it works."):
        turn = talk.record("user", text)
    talk.record_tool("git", {"tag": "v1"}, "done", turn=turn.id)
    talk.end(outcome="The shop is deployed", success=True)
    memory.tend()
    assert derek.counts()["episode"] == 1
    back = taken_back(derek, turn.id)
    assert back["turn"] == back["episode"] == back["tool_invocation"] == 1


def test_a_memory_and_the_turns_behind_it(derek: ScopedMemory) -> None:
    turn = a_turn(derek)
    fact = next(f for f in derek.list("fact") if isinstance(f, MemoryRecord) and turn in f.sources)
    assert taken_back(derek, fact.id) == {"fact": 1}
    assert taken_back(derek, fact.id, with_sources=True)["turn"] == 1


def test_how_often_it_was_returned_is_known_again(memory: Memory, derek: ScopedMemory) -> None:
    fact = derek.remember("Likes green tea")
    returned(memory, derek, fact, 7)
    before = usage(memory, derek, fact.id)
    derek.undo(derek.forget(fact.id, undo=True).undo or "")
    assert usage(memory, derek, fact.id) == before


def test_it_can_be_mined_again(memory: Memory, derek: ScopedMemory) -> None:
    say(derek, "I live in Lyon.")
    derek.mine()
    (fact,) = derek.list("fact")
    gone = derek.forget(fact.id, undo=True)
    store = memory.store.user(derek.scope.user)
    assert store.count(Tombstone) == 1
    derek.undo(gone.undo or "")
    assert store.count(Tombstone) == 0
    derek.unmine("a")
    derek.mine("a")
    assert facts(derek) == ["The user lives in Lyon."]


def test_only_for_a_minute_and_only_once(derek: ScopedMemory, clock: ManualClock) -> None:
    first, second = (derek.remember(text) for text in ("Likes tea", "Likes milk"))
    gone = derek.forget(first.id, undo=True)
    pass_time(clock, FOR)
    assert derek.undo(gone.undo or "") == gone.counts
    for token in (gone.undo or "", derek.forget(second.id, undo=True).undo or ""):
        pass_time(clock, FOR + timedelta(seconds=1))
        with pytest.raises(Invalid, match="time"):
            derek.undo(token)
    again = derek.forget(first.id, undo=True).undo or ""
    derek.undo(again)
    with pytest.raises(Conflict, match="cannot be undone"):
        derek.undo(again)
    assert [e.operation for e in derek.audit(limit=3)] == ["undo", "forget", "forget"]


def test_nobody_elses_and_nothing_made_up(memory: Memory, derek: ScopedMemory) -> None:
    fact = derek.remember("Likes tea")
    token = derek.forget(fact.id, undo=True).undo or ""
    body, _, seal = token.rpartition(".")
    eve = memory.scope("eve")
    eve.remember("Likes milk")
    for who, sent in (
        (eve, token),
        (derek, ""),
        (derek, "."),
        (derek, f"{body[:-4]}AAAA.{seal}"),
        (derek, f"{body}.{seal[:-1]}x"),
        (derek, body),
        (derek, "é\ud800.ß"),
        (derek, 5),
    ):
        before = exported(who)
        with pytest.raises(Invalid):
            who.undo(sent)  # type: ignore[arg-type]
        assert exported(who) == before
    assert derek.undo(token) == {"fact": 1, "turn": 1}


def test_whoever_has_the_secret_of_an_export_makes_up_nothing(derek: ScopedMemory) -> None:
    """No audit other than what was done, nothing past the limits; nor anything that cannot be read."""
    derek.forget(derek.remember("Likes tea").id)
    kept = derek.remember("Likes milk")
    header, *_ = derek.export()
    secret = bytes.fromhex(json.loads(header)["secret"])
    done = derek.audit(limit=1)[0]
    given = (derek.forget(kept.id, undo=True).undo or "").partition(".")[0]
    before = derek.audit()
    made_up = [
        json.dumps({"until": "2999-01-01T00:00:00+00:00", "steps": steps, "guards": [], "used": {}})
        for steps in ([[None, to_json(done)]], [[to_json(replace(done, id="made-up")), None]], [[None, None]])
    ]
    for told in (*made_up, "[]", "not json", 100_000 * "["):
        for receipt in (given, done.id, "none", ""):
            body = f"{receipt}.{base64.urlsafe_b64encode(told.encode()).decode()}"
            seal = hmac.new(secret, f"undo {body}".encode(), hashlib.sha256).hexdigest()
            with pytest.raises(Invalid):
                derek.undo(f"{body}.{seal}")
    assert derek.audit() == before


def its_source_forgotten(user: ScopedMemory, turn: str, entity: str) -> None:
    user.forget(turn)


def its_entity_forgotten(user: ScopedMemory, turn: str, entity: str) -> None:
    user.forget(entity)


def its_conversation_forgotten(user: ScopedMemory, turn: str, entity: str) -> None:
    user.forget(conversation="a")


def said_in_its_place(user: ScopedMemory, turn: str, entity: str) -> None:
    user.record("user", "Something else", conversation="a", index=0)


@pytest.mark.parametrize(
    ("which", "meanwhile"),
    [
        ("fact", its_source_forgotten),
        ("fact", its_entity_forgotten),
        ("turn", its_conversation_forgotten),
        ("turn", said_in_its_place),
    ],
)
def test_not_when_what_it_needs_is_gone_or_its_place_is_taken(
    memory: Memory, which: str, meanwhile: Callable[[ScopedMemory, str, str], None]
) -> None:
    user = memory.scope(f"needs_{meanwhile.__name__}")
    say(user, "My sister Anna plays chess.", "I have a dog.")
    user.mine()
    turn = user.conversation("a")[0].id
    facts = [f for f in user.list("fact") if isinstance(f, MemoryRecord) and f.sources == (turn,) and f.about]
    gone = user.forget(facts[0].id if which == "fact" else turn, undo=True)
    meanwhile(user, turn, facts[0].about[0])
    before = exported(user)
    with pytest.raises(Conflict, match="cannot be undone"):
        user.undo(gone.undo or "")
    assert exported(user) == before


def test_not_beside_what_answers_the_same_by_now(derek: ScopedMemory) -> None:
    tea = derek.remember("Green", slot="app:tea")
    gone = derek.forget(tea.id, undo=True)
    now = derek.remember("Black", slot="app:tea")
    with pytest.raises(Conflict):
        derek.undo(gone.undo or "")
    assert derek.list("fact", slot="app:tea") == [now]
    say(derek, "I live in Lyon.")
    derek.mine()
    home = next(f for f in derek.list("fact", origin="rules"))
    gone = derek.forget(home.id, undo=True, with_sources=True)
    say(derek, "I live in Porto.", conversation="b")
    derek.mine()
    with pytest.raises(Conflict):
        derek.undo(gone.undo or "")
    assert "The user lives in Lyon." not in facts(derek)


def test_not_when_what_it_touched_was_changed(derek: ScopedMemory) -> None:
    first = derek.remember("Lives in Lyon")
    second = derek.correct(first.id, "Lives in Porto")
    gone = derek.forget(second.id, undo=True)
    derek.pin(first.id)
    before = exported(derek)
    with pytest.raises(Conflict):
        derek.undo(gone.undo or "")
    assert exported(derek) == before
    with pytest.raises(NotFound):
        derek.get(second.id)


def test_what_is_too_much_is_told_before(memory: Memory, derek: ScopedMemory) -> None:
    talk = [{"role": "user", "content": f"turn {n}"} for n in range(MOST + 2)]
    turns = derek.record_many(talk, conversation="long")
    made = derek.remember("All of it", kind="episode")
    assert derek.forget(made.id, undo=True, dry_run=True).undoable is True
    assert derek.forget(made.id, dry_run=True).undoable is None
    wide = fact_of(memory, derek, [turn.id for turn in turns])
    assert derek.forget(wide, with_sources=True, undo=True, dry_run=True).undoable is False
    gone = derek.forget(wide, with_sources=True, undo=True)
    assert (gone.undo, gone.counts["turn"]) == (None, MOST + 2)


def fact_of(memory: Memory, user: ScopedMemory, sources: list[str]) -> str:
    from recollect.model.changes import Put
    from recollect.testing.store_samples import fact

    memory.store.user(user.scope.user).apply([Put(fact("wide", "All of it", sources=tuple(sources)), ())])
    return "wide"


def test_an_export_from_before_and_a_copy_are_as_good_as_ever(memory: Memory, derek: ScopedMemory) -> None:
    a_turn(derek)
    lines = [*derek.export()]
    turn = derek.conversation("a")[0]
    derek.undo(derek.forget(turn.id, undo=True).undo or "")
    assert derek.import_(lines).total == 0
    other = memory.scope(f"{derek.scope.user} too")
    other.import_(derek.export())
    assert sorted(json.loads(line)["id"] for line in [*other.export()][1:]) == sorted(
        json.loads(line)["id"] for line in lines[1:]
    )


SAID = st.sampled_from(
    [
        "I live in Lyon.",
        "I live in Porto.",
        "My sister Anna works at Acme.",
        "Anna lives in Rome.",
        "I love green tea.",
        "Actually, I live in Faro.",
        "I don't like coffee.",
    ]
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(SAID, st.sampled_from("ab")), min_size=1, max_size=6),
    st.integers(0, 1000),
    st.booleans(),
)
def test_whatever_was_said_and_forgotten(
    memory: Memory, said: list[tuple[str, str]], which: int, with_sources: bool
) -> None:
    user = memory.scope("anybody")
    user.forget(everything=True)
    for text, conversation in said:
        say(user, text, conversation=conversation)
    user.mine()
    kinds = ("turn", "fact", "entity", "relation", "closet")
    records = [record for kind in kinds for record in user.list(kind, limit=1000)]
    one = records[which % len(records)]
    before = exported(user)
    gone = user.forget(one.id, undo=True, with_sources=with_sources)
    user.undo(gone.undo or "")
    assert exported(user) == before
