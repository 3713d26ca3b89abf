"""When conversations are mined, in which windows, and what becomes of those that cannot be."""

from collections.abc import Callable
from typing import Any

import pytest

from recollect import Memory, ModelError, SettingsError
from recollect.mine.extracted import Extraction, Window
from recollect.mine.windows import Span, spans
from recollect.ports.tending import PARKED_AFTER
from recollect.testing.store_samples import ManualClock
from recollect.workspace import Workspace
from tests.unit.mining import Scripted, facts, say
from tests.unit.support import OpenMemory

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
    found = [*spans(7, 7 + count, 50, 10)]
    assert len(found) == expected
    assert [n for part in found for n in range(part.start, part.stop)] == list(range(7, 7 + count))
    if count > 50:
        assert all(8 <= part.stop - part.start <= 10 for part in found)


def test_spans_of_nothing() -> None:
    assert [*spans(3, 3, 50, 10)] == []
    assert [*spans(0, 1, 50, 10)] == [Span(0, 1)]


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
    stats = memory.store.stats()
    assert stats["waiting"]["mine"]["conversations"] == 1
    assert stats["parked"]["mining"] == {"The model is down.": 1}
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
    stats = memory.store.stats()
    assert (stats["waiting"]["mine"]["conversations"], stats["parked"]["mining"]) == (0, {})
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


def days(memory: Memory, clock: ManualClock, count: int) -> None:
    for _ in range(count):
        clock.advance(days=1, seconds=1)
        memory.tend()


def poisoned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Have mining fail where no model is at fault; is told each time that it is tried."""
    from recollect.mine import pipeline

    tried: list[str] = []

    def fail(work: Workspace, window: Window) -> Extraction:
        tried.append(window.conversation.id)
        raise ZeroDivisionError

    monkeypatch.setattr(pipeline, "_extracted", fail)
    return tried


@pytest.mark.parametrize("again", ["retry", "spoken", "asked"])
def test_a_poisoned_conversation_is_parked(
    open_memory: OpenMemory, clock: ManualClock, monkeypatch: pytest.MonkeyPatch, again: str
) -> None:
    memory = open_memory(conclude=False)
    derek = memory.scope("derek")
    say(derek, "I live in Lyon.")
    with monkeypatch.context() as context:
        tried = poisoned(context)
        days(memory, clock, PARKED_AFTER + 5)
        assert len(tried) == PARKED_AFTER
    stats = memory.store.stats()
    assert stats["parked"]["mining"] == {"ZeroDivisionError": 1}
    assert stats["waiting"]["mine"]["conversations"] == 0
    match again:
        case "retry":
            assert memory.store.unpark() == 1
        case "spoken":
            say(derek, "I have a dog.")
        case _:
            assert [mined.problem for mined in derek.mine()] == [None]
    days(memory, clock, 1)
    assert "The user lives in Lyon." in facts(derek)
    assert memory.store.stats()["parked"]["mining"] == {}


def test_a_model_that_is_down_parks_no_conversation(
    open_memory: OpenMemory, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    down = ModelError("The model is down.")
    memory = open_memory(model=Scripted(*[down] * (PARKED_AFTER + 4)), conclude=False)
    say(memory.scope("derek"), "I live in Lyon.")
    days(memory, clock, PARKED_AFTER + 5)
    assert memory.store.stats()["parked"]["mining"] == {}
    assert [talk.mined_to for talk in memory.scope("derek").conversations()] == [1]


def test_what_is_parked_is_concluded(
    open_memory: OpenMemory, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    poisoned(monkeypatch)
    memory = open_memory(auto_mine=False)
    derek = memory.scope("derek", conversation="a")
    for role, text in (("user", "Where do I live?"), ("assistant", "In Lyon.")):
        derek.record(role, text)
    for _ in range(PARKED_AFTER):
        derek.mine()
    days(memory, clock, 1)
    assert [talk.concluded_to for talk in derek.conversations()] == [2]


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
