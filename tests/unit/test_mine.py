"""Mining through the verbs, on a real SQLite file, by rules or by a model that says what it is told."""

import json
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest

from recollect import Memory, ModelError, NotFound, ScopedMemory, SettingsError
from recollect.mine.windows import Span, spans
from recollect.model.records import RECORD_TYPES, Conversation, Fact, MemoryRecord, Relation, mined
from recollect.ports.language_model import ChatMessage, Reply, Schema, Source, Tokens
from recollect.testing.store_samples import ManualClock
from tests.unit.support import OpenMemory, contents


class Scripted:
    """A `LanguageModel` that answers what it is told to, or raises it, and counts."""

    name = "scripted"

    def __init__(self, *answers: dict[str, Any] | Exception) -> None:
        self.answers = list(answers)
        self.asked = 0

    def ask(
        self,
        messages: Sequence[ChatMessage],
        *,
        source: Source,
        max_tokens: int,
        schema: Schema | None = None,
        within: float | None = None,
    ) -> Reply:
        self.asked += 1
        answer = self.answers.pop(0) if self.answers else NOTHING
        if isinstance(answer, Exception):
            raise answer
        return Reply(json.dumps(answer), Tokens(10, 5))

    def close(self) -> None: ...


NOTHING: dict[str, Any] = {"entities": [], "facts": [], "relations": [], "topics": []}


def say(user: ScopedMemory, *texts: str, conversation: str = "a") -> None:
    for text in texts:
        user.record("user", text, conversation=conversation)


def facts(user: ScopedMemory) -> list[str]:
    return sorted(fact.content for fact in in_force(user))


def in_force(user: ScopedMemory) -> list[MemoryRecord]:
    found = user.list("fact", limit=1000, superseded_by=None)
    return [fact for fact in found if isinstance(fact, MemoryRecord)]


def rows(user: ScopedMemory) -> dict[str, int]:
    return user.counts()


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
    (event,) = derek.list("audit")
    assert (event.operation, event.conversation, event.count) == ("mine", "a", 1)  # type: ignore[attr-defined]
    assert event.metadata["turns"] == 1
    assert "Lyon" not in json.dumps(dict(event.metadata))
    derek.forget(conversation="a")
    assert [e.operation for e in derek.list("audit")] == ["forget"]  # type: ignore[attr-defined]


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


# When


def test_the_background_mines_what_is_quiet(memory: Memory, clock: ManualClock) -> None:
    derek = memory.scope("derek")
    say(derek, "I live in Lyon.")
    assert _mined(memory) == 0
    clock.advance(seconds=memory.settings.mine_quiet_seconds)
    assert _mined(memory) == 1
    assert _mined(memory) == 0
    assert facts(derek) == ["The user lives in Lyon."]


def _mined(memory: Memory) -> int:
    return next(outcome.done for outcome in memory.tend() if outcome.job == "mine")


def test_the_background_mines_five_turns_of_the_user(memory: Memory) -> None:
    derek = memory.scope("derek")
    for number in range(4):
        say(derek, f"I have {number} dogs.")
        derek.record("assistant", "I see.", conversation="a")
    assert _mined(memory) == 0
    say(derek, "I live in Lyon.")
    assert _mined(memory) == 9


@pytest.mark.parametrize("wishes", [{"auto_mine": False}, {"enabled": False}])
def test_who_does_not_want_it_is_mined_on_demand_only(
    memory: Memory, clock: ManualClock, wishes: dict[str, bool]
) -> None:
    derek = memory.scope("derek")
    derek.update_settings(**wishes)
    say(derek, "I live in Lyon.")
    clock.advance(days=1)
    assert _mined(memory) == 0
    assert [m.added for m in derek.mine()] == [1]


def test_auto_mining_can_be_off_for_all(open_memory: OpenMemory, clock: ManualClock) -> None:
    memory = open_memory(auto_mine=False)
    say(memory.scope("derek"), "I live in Lyon.")
    clock.advance(days=1)
    assert _mined(memory) == 0


@pytest.mark.parametrize(
    ("count", "expected"), [(0, 0), (1, 1), (50, 1), (51, 6), (60, 6), (61, 7), (500, 50)]
)
def test_up_to_fifty_turns_are_one_window_and_more_are_windows_of_ten(count: int, expected: int) -> None:
    found = spans(7, 7 + count, 50, 10)
    assert len(found) == expected
    assert [n for part in found for n in range(part.start, part.stop)] == list(range(7, 7 + count))
    if count > 50:
        assert all(8 <= part.stop - part.start <= 10 for part in found)


def test_spans_of_nothing() -> None:
    assert spans(3, 3, 50, 10) == []
    assert spans(0, 1, 50, 10) == [Span(0, 1)]


@pytest.mark.parametrize(("turns", "calls"), [(50, 1), (60, 2), (120, 8)])
def test_one_call_of_a_model_for_a_window(open_memory: OpenMemory, turns: int, calls: int) -> None:
    model = Scripted()
    derek = open_memory(model=model).scope("derek")
    say(derek, *(f"Line {number}." for number in range(turns)))
    (done,) = derek.mine()
    assert (model.asked, done.turns, done.way) == (calls, turns, "scripted")


def test_notes_and_system_prompts_are_not_mined(open_memory: OpenMemory) -> None:
    model = Scripted()
    derek = open_memory(model=model).scope("derek")
    derek.remember("Derek is allergic to peanuts")
    derek.record("system", "You live in Lyon.", conversation="s")
    derek.mine()
    assert model.asked == 0


# Failing


def test_a_model_that_fails_is_asked_again_later(open_memory: OpenMemory, clock: ManualClock) -> None:
    model = Scripted(ModelError("The model is down."), ModelError("The model is down."))
    memory = open_memory(model=model)
    derek = memory.scope("derek")
    say(derek, "I live in Lyon.")
    (done,) = derek.mine()
    assert done.problem == "The model is down."
    assert memory.store.stats()["mining"] == {"waiting": 1, "problems": {"The model is down.": 1}}
    (conversation,) = derek.conversations()
    assert (conversation.mined_to, conversation.mining_failures) == (0, 1)

    assert _mined(memory) == 0  # not yet
    clock.advance(seconds=memory.settings.mine_retry_seconds)
    outcome = next(o for o in memory.tend() if o.job == "mine")
    assert outcome.problem == "The model is down."
    clock.advance(seconds=memory.settings.mine_retry_seconds)
    assert model.asked == 2
    assert _mined(memory) == 0  # twice as long
    clock.advance(days=1)
    assert _mined(memory) == 1
    assert memory.store.stats()["mining"] == {"waiting": 0, "problems": {}}
    (conversation,) = derek.conversations()
    assert conversation.mining_problem is None


def test_one_bad_conversation_holds_up_no_other(open_memory: OpenMemory) -> None:
    derek = open_memory(model=Scripted(ModelError("no"))).scope("derek")
    say(derek, "One.", conversation="a")
    say(derek, "Two.", conversation="b")
    assert [m.problem for m in derek.mine()] == ["no", None]


def test_a_fault_of_ours_is_parked_like_any(open_memory: OpenMemory) -> None:
    derek = open_memory(model=Scripted(ZeroDivisionError("secret words"))).scope("derek")
    say(derek, "One.")
    (done,) = derek.mine()
    assert done.problem
    assert "secret words" not in done.problem  # it may quote what was said


def test_without_a_model_it_cannot_be_mined_by_one(open_memory: OpenMemory) -> None:
    derek = open_memory(miner="model").scope("derek")
    say(derek, "One.")
    with pytest.raises(SettingsError, match="RECOLLECT_MODEL"):
        derek.mine()


def test_a_failing_embedder_delays_nothing_but_vectors(open_memory: OpenMemory, embedder: Any) -> None:
    memory = open_memory()
    derek = memory.scope("derek")
    say(derek, "I live in Lyon.")
    embedder.down = True
    assert [m.added for m in derek.mine()] == [1]
    embedder.down = False
    memory.tend()
    assert memory.store.stats()["rows"]["chunks_waiting_for_a_vector"] == 0


@pytest.mark.parametrize("act", ["record", "mine", "forget"])
def test_what_others_do_meanwhile_is_neither_lost_nor_doubled(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    """While one is thinking, another speaks, mines the same, or has the turn erased."""
    derek, other = open_memory().scope("derek"), open_memory().scope("derek")
    say(derek, "I live in Lyon.", "I have a dog.")
    turn = derek.conversation("a")[0]
    acts: dict[str, Callable[[], Any]] = {
        "record": lambda: say(other, "I love tea."),
        "mine": other.mine,
        "forget": lambda: other.forget(turn.id),
    }
    from recollect.mine import pipeline

    def thinking(*args: Any) -> Any:
        monkeypatch.setattr(pipeline, "embedded", embedded)
        acts[act]()
        return embedded(*args)

    embedded = pipeline.embedded
    monkeypatch.setattr(pipeline, "embedded", thinking)
    derek.mine()
    derek.mine()
    expected = {"record": ["dog", "Lyon", "tea"], "mine": ["dog", "Lyon"], "forget": ["dog"]}[act]
    found = facts(derek)
    assert len(found) == len(expected)
    assert all(any(word in fact for fact in found) for word in expected)


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
