"""Mining through the verbs, on a real SQLite file, by rules or by a model that says what it is told."""

import json
from datetime import timedelta

import pytest

from recollect import Memory, NotFound, ScopedMemory
from recollect.model.records import RECORD_TYPES, Conversation, Fact, Relation, mined
from recollect.testing.store_samples import ManualClock
from tests.unit.mining import facts, in_force, rows, say
from tests.unit.support import OpenMemory, contents


def test_what_was_said_becomes_facts_that_cite_it(derek: ScopedMemory) -> None:
    turn = derek.record("user", "My budget for the Hawaii trip is $10,000.", conversation="a")
    (done,) = derek.mine()
    assert (done.conversation, done.turns, done.added, done.way) == ("a", 1, 1, "rules")
    (fact,) = in_force(derek)
    assert fact.content == "The user's budget for the Hawaii trip is $10,000."
    assert (fact.sources, fact.origin, fact.confidence) == ((turn.id,), "rules", 0.95)


def test_an_empty_conversation_is_left_alone(derek: ScopedMemory) -> None:
    assert derek.mine() == []
    with pytest.raises(NotFound, match="There is no conversation 'a'"):
        derek.mine("a")


def test_mining_twice_changes_no_row(derek: ScopedMemory) -> None:
    say(derek, "I live in Lyon.", "My sister Anna loves tea.")
    derek.mine()
    before = rows(derek)
    assert derek.mine() == []
    assert [(m.turns, m.added) for m in derek.mine("a")] == [(0, 0)]
    assert rows(derek) == before


def test_only_new_turns_are_mined(derek: ScopedMemory) -> None:
    say(derek, "I live in Lyon.")
    derek.mine()
    say(derek, "I have a dog.")
    (done,) = derek.mine()
    assert (done.turns, done.added) == (1, 1)


def test_ten_copies_are_one_memory_with_ten_sources(derek: ScopedMemory) -> None:
    for number in range(10):
        say(derek, "I love green tea.", conversation=f"talk-{number}")
    derek.mine()
    (fact,) = in_force(derek)
    assert len(fact.sources) == 10


def test_moving_ends_where_somebody_lived(derek: ScopedMemory, clock: ManualClock) -> None:
    say(derek, "I live in Lyon.")
    derek.mine()
    clock.advance(days=30)
    say(derek, "I moved from Lyon to Porto.", conversation="b")
    derek.mine()
    found = derek.recall("Where do I live?")
    assert found.hits[0].content == "The user lives in Porto."
    for hit in found.hits[1:]:
        assert "Lyon" not in hit.content or "Porto" in hit.content or hit.valid_to or "lived" in hit.content
    homes = [
        r for r in derek.list("relation", limit=100) if isinstance(r, Relation) and r.type == "LOCATED_IN"
    ]
    assert [r.valid_to is None for r in homes] == [True, False]
    then = derek.recall("Where do I live?", as_of=clock.now() - timedelta(days=10), kinds=["fact"])
    assert contents(then)[0] == "The user lives in Lyon."


def test_what_was_forgotten_is_not_mined_again(derek: ScopedMemory) -> None:
    say(derek, "I love green tea.")
    derek.mine()
    derek.forget(in_force(derek)[0].id)
    derek.unmine("a")
    derek.mine("a")
    assert facts(derek) == []


def test_what_a_person_corrected_stays_corrected(derek: ScopedMemory, clock: ManualClock) -> None:
    say(derek, "I live in Lyon.")
    derek.mine()
    clock.advance(hours=1)
    derek.correct(in_force(derek)[0].id, "The user lives in Villeurbanne.")
    say(derek, "Nice weather here.", conversation="a")
    derek.mine()
    derek.unmine("a")
    derek.mine("a")
    assert facts(derek) == ["The user lives in Villeurbanne."]


def test_undoing_takes_out_what_came_from_there_alone(derek: ScopedMemory, clock: ManualClock) -> None:
    say(derek, "I live in Lyon.", "I love green tea.")
    derek.mine()
    before, facts_before = derek.counts(), facts(derek)
    clock.advance(days=1)
    say(derek, "I moved to Porto.", "I love green tea.", "I have a dog.", conversation="b")
    derek.mine()
    assert "The user lives in Lyon." not in facts(derek)
    derek.unmine("b")
    assert facts(derek) == facts_before
    kept = {"audit", "closet", "turn", "conversation"}
    now = {kind: count for kind, count in derek.counts().items() if kind not in kept}
    assert now == {kind: count for kind, count in before.items() if kind not in kept}
    homes = [r for r in derek.list("relation") if isinstance(r, Relation)]
    assert all(r.valid_to is None for r in homes)


def test_the_background_leaves_alone_what_was_undone(memory: Memory, clock: ManualClock) -> None:
    derek = memory.scope("derek")
    say(derek, "I live in Lyon.")
    derek.mine()
    derek.unmine("a")
    clock.advance(days=400)
    memory.tend()
    assert derek.mine() == []
    assert facts(derek) == []
    assert [m.added for m in derek.mine("a")] == [1]


def test_each_window_leaves_an_event(derek: ScopedMemory) -> None:
    say(derek, "I live in Lyon.")
    derek.mine()
    (event,) = derek.audit("mine")
    assert (event.subject, event.conversation, event.count) == ("conversation", "a", 1)
    assert event.details["turns"] == 1
    assert (event.details["miner"], event.details["pii"]) == ("auto", "redact")
    assert "Lyon" not in json.dumps(dict(event.details))
    derek.forget(conversation="a")
    assert [(e.operation, e.conversation) for e in derek.audit("mine")] == [("mine", None)]


def test_forgetting_a_conversation_forgets_what_was_mined_from_it(derek: ScopedMemory) -> None:
    say(derek, "I live in Lyon. My sister Anna lives in Berlin.")
    derek.mine()
    derek.forget(conversation="a")
    assert {kind for kind, count in derek.counts().items() if count} <= {"audit", "closet"}


def test_users_and_channels_are_mined_apart(memory: Memory) -> None:
    one, other = memory.scope("derek", channel="work"), memory.scope("derek", channel="home")
    say(one, "I live in Lyon.", conversation="w")
    say(other, "I live in Porto.", conversation="h")
    say(memory.scope("eve"), "I live in Rome.", conversation="w")
    memory.scope("derek").mine()
    found = {fact.content: fact.channel for fact in in_force(one)}
    assert found == {"The user lives in Lyon.": "work", "The user lives in Porto.": "home"}
    assert facts(memory.scope("eve")) == []


# What is kept out


@pytest.mark.parametrize(
    ("policy", "content", "tags"),
    [
        ("off", "anna@example.com", None),
        ("tag", "anna@example.com", ["e-mail"]),
        ("redact", "[e-mail]", None),
        ("drop", None, None),
    ],
)
def test_sensitive_data_is_treated_as_the_policy_says(
    open_memory: OpenMemory, policy: str, content: str | None, tags: list[str] | None
) -> None:
    derek = open_memory(pii=policy).scope("derek")
    say(derek, "My e-mail address is anna@example.com.")
    derek.mine()
    found = in_force(derek)
    assert [content in fact.content for fact in found if content] == ([True] if content else [])
    assert len(found) == (1 if content else 0)
    if found:
        assert mined(found[0]).get("sensitive") == tags


def test_every_kind_survives_an_export(derek: ScopedMemory, memory: Memory) -> None:
    say(derek, "I live in Lyon. My sister Anna lives in Berlin.", "I love tea.")
    derek.mine()
    lines = list(derek.export())
    copy = memory.scope("copy")
    copy.import_(lines)
    assert copy.counts() == derek.counts()
    assert [*copy.export()][1:] == lines[1:]
    assert {kind.kind for kind in RECORD_TYPES} >= {"closet"}


def test_a_conversation_that_never_was_mined_has_no_marks(derek: ScopedMemory) -> None:
    say(derek, "Hello.")
    (conversation,) = derek.conversations()
    assert isinstance(conversation, Conversation)
    assert (conversation.mined_to, conversation.mining_after) == (0, None)


def test_mined_facts_are_found(derek: ScopedMemory) -> None:
    say(derek, "I love green tea.")
    derek.mine()
    found = derek.recall("What does the user love?", kinds=["fact"])
    assert found.of("fact")
    assert isinstance(derek.get(found.hits[0].id), Fact)
