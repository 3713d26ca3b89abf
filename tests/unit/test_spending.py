"""What models use is counted for the user they worked for, later, and costs what the prices say (C9)."""

import threading
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from recollect import Invalid, Memory, ModelError, ScopedMemory, SettingsError, Spending
from recollect.memory import FLUSH_AT
from recollect.metering import MOST
from recollect.ports.language_model import ChatMessage, Reply, Tokens
from recollect.record.spending import Price, prices
from recollect.testing.store_samples import START, ManualClock
from tests.unit.support import OpenMemory, SwitchedEmbedder

DAY = START.date()
SPACE = "hashing-1-384"


class Clerk:
    """The `LanguageModel` port: says what it was given, or nothing, and bills three tokens and one."""

    name = "clerk"

    def __init__(self, *said: str) -> None:
        self.said = list(said)
        self.tokens = Tokens(3, 1)

    def ask(self, messages: Sequence[ChatMessage], **options: Any) -> Reply:
        if not self.said:
            raise ModelError("Nothing to say.", self.tokens)
        return Reply(self.said.pop(0), self.tokens)

    def close(self) -> None:
        pass


class Judge:
    """The `Reranker` port, which tells nothing of what it uses."""

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        return [0.5] * len(texts)

    def close(self) -> None:
        pass


def totals(scope: ScopedMemory) -> dict[tuple[str, str], tuple[int, int, int]]:
    return {(s.source, s.model): (s.calls, s.prompt, s.completion) for s in scope.spending()}


def test_recording_and_recalling_are_counted(derek: ScopedMemory) -> None:
    derek.record("user", "four words of tea")  # 17 characters
    derek.recall("tea?")
    assert derek.spending() == [Spending(DAY, "memory_embed", SPACE, 2, 5 + 1, 0, None)]


def test_users_and_days_stay_apart(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    other = memory.scope("other")
    derek.record("user", "tea")
    other.record("user", "tea")
    clock.advance(days=1)
    derek.record("user", "tea")
    derek.record("user", "tea")
    assert [(one.day, one.calls) for one in derek.spending()] == [(DAY, 1), (DAY + timedelta(days=1), 2)]
    assert [(one.day, one.calls) for one in other.spending()] == [(DAY, 1)]
    assert [one.day for one in derek.spending(DAY + timedelta(days=1))] == [DAY + timedelta(days=1)]
    assert memory.scope("nobody").spending() == []


def test_a_day_is_one_of_utc(open_memory: OpenMemory) -> None:
    east = datetime(2026, 3, 16, 1, tzinfo=timezone(timedelta(hours=5)))
    derek = open_memory(clock=ManualClock(east)).scope("derek")
    derek.record("user", "tea")
    assert [one.day for one in derek.spending()] == [east.astimezone(UTC).date()] == [date(2026, 3, 15)]


def test_what_the_background_embeds_is_counted(open_memory: OpenMemory) -> None:
    memory = open_memory(embed_on_write=False)
    for user, words in (("derek", 2), ("other", 1)):
        for _ in range(words):
            memory.scope(user).record("user", "green tea")
    assert memory.scope("derek").spending() == []
    memory.tend()
    assert memory.store.user("derek").spending()[0].prompt == 6
    assert totals(memory.scope("other")) == {("memory_embed", SPACE): (1, 3, 0)}


def test_what_fails_is_not_counted(derek: ScopedMemory, embedder: SwitchedEmbedder) -> None:
    embedder.down = True
    derek.record("user", "tea")
    derek.recall("tea")
    assert derek.spending() == []


def test_each_question_to_a_model_is_counted_also_in_vain(open_memory: OpenMemory) -> None:
    model = Clerk("no JSON", "none again")
    derek = open_memory(model=model).scope("derek")
    derek.record("user", "tea")
    assert derek.recall("And it?", history=["Tea?"], techniques={"rewrite": True}).problems
    assert totals(derek)["memory_query", "clerk"] == (2, 6, 2)
    derek.recall("And it?", history=["Tea?"], techniques={"rewrite": True})
    assert totals(derek)["memory_query", "clerk"] == (3, 9, 3)


@pytest.mark.parametrize("used", [Tokens(-5, -1), Tokens(1 << 70, 1 << 70)])
def test_a_count_that_cannot_be_is_brought_within_bounds(open_memory: OpenMemory, used: Tokens) -> None:
    model = Clerk()
    model.tokens = used
    derek = open_memory(model=model).scope("derek")
    derek.record("user", "tea")
    derek.recall("And it?", history=["Tea?"], techniques={"rewrite": True})
    expected = 0 if used.prompt < 0 else MOST
    assert totals(derek)["memory_query", "clerk"] == (1, expected, expected)


def test_a_reranker_that_tells_nothing(open_memory: OpenMemory) -> None:
    derek = open_memory(reranker=Judge()).scope("derek")
    derek.record_many({"role": "user", "content": text} for text in ("green tea", "black tea"))
    derek.recall("tea")
    assert totals(derek)["memory_rerank", "Judge"] == (1, 0, 0)


def test_closing_writes_it(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.scope("derek").record("user", "tea")
    memory.close()
    assert [one.calls for one in open_memory().scope("derek").spending()] == [1]


def test_it_does_not_pile_up(memory: Memory, derek: ScopedMemory) -> None:
    for _ in range(FLUSH_AT):
        derek.record("user", "tea", conversation="c")
    for thread in threading.enumerate():
        if thread.name == "recollect-count":
            thread.join()
    assert [one.calls for one in memory.store.user("derek").spending()] == [FLUSH_AT]


def test_many_at_once_lose_nothing(memory: Memory) -> None:
    scopes = [memory.scope(f"user-{n % 4}") for n in range(8)]
    for scope in scopes:
        scope.record("user", "tea")

    def ask(scope: ScopedMemory) -> None:
        for _ in range(60):
            scope.recall("tea")

    threads = [threading.Thread(target=ask, args=(scope,)) for scope in scopes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    memory.flush()
    assert [one.calls for n in range(4) for one in memory.scope(f"user-{n}").spending()] == [122] * 4


def test_counting_never_brings_an_erased_user_back(memory: Memory, derek: ScopedMemory) -> None:
    derek.record("user", "tea")
    derek.forget(everything=True)
    assert derek.spending() == []
    assert memory.store.stats()["rows"]["users"] == 0


def test_what_cannot_be_written_is_dropped_and_no_request_fails(
    memory: Memory, derek: ScopedMemory, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    derek.record("user", "tea")
    assert derek.recall("tea").hits
    memory.store.close()
    for file in path.parent.glob("memory.db*"):
        file.unlink()
    path.mkdir()
    memory.flush()
    assert "What models used was not counted" in caplog.text
    caplog.clear()
    memory.flush()
    assert caplog.text == ""


# What it costs


def test_cost_is_worked_out_by_the_prices_of_now(open_memory: OpenMemory) -> None:
    model = Clerk("nothing")
    model.tokens = Tokens(2_000_000, 500_000)
    memory = open_memory(model=model)
    derek = memory.scope("derek")
    derek.record("user", "tea")
    derek.recall("And it?", history=["Tea?"], techniques={"rewrite": True})
    memory.close()
    again = open_memory(prices="clerk=0.5/2").scope("derek")
    assert {one.model: one.cost for one in again.spending()} == {
        SPACE: None,
        "clerk": 2 * (2 * 0.5 + 0.5 * 2),
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        (" , ", {}),
        ("gpt-4o-mini=0.15/0.6", {"gpt-4o-mini": Price(0.15, 0.6)}),
        ("a=1, org/b:free=0", {"a": Price(1.0, 0.0), "org/b:free": Price(0.0, 0.0)}),
        ("odd=name=2/3", {"odd=name": Price(2.0, 3.0)}),
    ],
)
def test_prices_are_read(text: str, expected: dict[str, Price]) -> None:
    assert prices(text) == expected


@pytest.mark.parametrize(
    "text", ["a", "a=", "=1", "a=x", "a=1/2/3", "a=-1", "a=nan", "a=inf", "a=1/", "a=1 b=2"]
)
def test_prices_that_cannot_be_read_are_refused_when_it_is_opened(open_memory: OpenMemory, text: str) -> None:
    with pytest.raises(SettingsError, match=r"RECOLLECT_PRICES has .*: write model=prompt/completion"):
        open_memory(prices=text)


def test_two_prices_of_one_model_are_refused(open_memory: OpenMemory) -> None:
    with pytest.raises(SettingsError, match="two prices of 'a'"):
        open_memory(prices="a=1,b=1,a=2")


@pytest.mark.parametrize("since", ["2026-03-15", START, 5])
def test_since_is_a_day(derek: ScopedMemory, since: Any) -> None:
    with pytest.raises(Invalid, match="since must be a date"):
        derek.spending(since)
