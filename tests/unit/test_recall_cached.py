"""Answers out of a cache: as without one, never of another state of the memory, never past their time."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recollect.recall
from recollect import Memory, Recollection, ScopedMemory, StoreUnavailable
from recollect.model.search import Filter
from recollect.model.space import Space
from recollect.recall.cached import SETTINGS, answer_name, decoded, encoded, vector_name
from recollect.recall.question import Asked
from recollect.testing.store_samples import HARD_TEXTS, START, ManualClock
from recollect.wishes import Wishes
from tests.unit.caching import HeldCache
from tests.unit.support import OpenMemory, SwitchedEmbedder, contents
from tests.unit.test_metrics import samples

LATER = START + timedelta(days=3)
ASKED = Asked(
    query="tea",
    said=(),
    shown=frozenset(),
    filter=Filter(now=START),
    top_k=5,
    threshold=0.1,
    context_tokens=100,
    vector=None,
    on=frozenset(("words", "meaning", "gate")),
    include=frozenset(),
    explain=False,
)


@pytest.fixture
def cache(memory: Memory) -> HeldCache:
    memory.cache = cache = HeldCache()
    return cache


@pytest.fixture
def derek(memory: Memory, cache: HeldCache) -> ScopedMemory:
    return memory.scope("derek")


def name(asked: Asked = ASKED, at: str = "1.2", *more: Any) -> bytes:
    return answer_name(b"secret", at, asked, *more)


# Names


def test_the_time_and_the_order_of_sets_are_no_part_of_a_name() -> None:
    later = replace(ASKED, filter=Filter(now=LATER), on=frozenset(("gate", "meaning", "words")))
    assert name(later) == name()


OTHERS: dict[str, Any] = {
    "query": "coffee",
    "said": ("tea",),
    "shown": frozenset(("tea",)),
    "top_k": 6,
    "threshold": 0.2,
    "context_tokens": 101,
    "vector": np.ones(3, np.float32),
    "on": frozenset(("words",)),
    "include": frozenset(("goals",)),
    "explain": True,
    "rerank_model": "other",
    "kinds": ("fact",),
    "channels": ("work",),
    "agent": "a",
    "conversation": "c",
    "exclude_conversation": "c",
    "roles": ("user",),
    "since": START,
    "until": START,
    "as_of": START,
    "known_at": START,
    "min_confidence": 0.5,
    "in_force": False,
}


def test_whatever_is_asked_otherwise_has_another_name() -> None:
    asked = {one.name for one in fields(Asked)} - {"filter"}
    narrowed = {one.name for one in fields(Filter)} - {"now"}
    assert set(OTHERS) == asked | narrowed
    names = {name(replace(ASKED, **{field: OTHERS[field]})) for field in asked}
    names |= {name(replace(ASKED, filter=Filter(now=START, **{f: OTHERS[f]}))) for f in narrowed}
    assert len(names | {name()}) == len(OTHERS) + 1


def test_another_state_secret_wish_or_model_is_another_name() -> None:
    spaces = (Space("a", 3), Space("b", 3), Space("a", 4), None)
    names = {name(ASKED, "1.3"), name(ASKED, "2.2"), answer_name(b"other", "1.2", ASKED)}
    names |= {name(ASKED, "1.2", space) for space in spaces}
    names |= {name(ASKED, "1.2", Wishes(top_k=n)) for n in (None, 1)}
    names.add(name(ASKED, "1.2", Wishes(retention={"work": {"isolated": True}})))
    assert len(names) == 10


@pytest.mark.parametrize("text", HARD_TEXTS.values(), ids=HARD_TEXTS)
def test_any_text_has_a_name_that_does_not_hold_it(text: str) -> None:
    made = vector_name(b"secret", Space("a", 3), text)
    assert len(made) == len(name(replace(ASKED, query=text))) == 32
    assert made != vector_name(b"other", Space("a", 3), text)
    assert made != vector_name(b"secret", Space("b", 3), text)


# Checked into the question, or without a bearing on an answer that had no problems.
ELSEWHERE = {"top_k", "threshold", "context_tokens", "techniques", "query_limit", "model_timeout"}
ELSEWHERE |= {"cache_seconds"}


def test_every_setting_that_recall_reads_is_part_of_a_name() -> None:
    folder = Path(recollect.recall.__file__).parent
    read = {
        node.attr
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and ast.unparse(node.value).endswith("settings")
    }
    assert {"candidates", "top_k"} <= read
    assert read - ELSEWHERE <= set(SETTINGS)


# What is kept


def test_an_answer_comes_back_as_it_was_while_it_holds(derek: ScopedMemory) -> None:
    for text in ("I drink green tea \ud800", "I gave up tea in Lyon"):
        derek.record("user", text, conversation="c")
    derek.add_goal("Buy tea")
    derek.update_profile(preferences={"tea": "green"})
    derek.mine()
    found = derek.recall("tea", include=["goals", "profile"])
    assert found.hits
    assert found.goals
    data = encoded(found, START, LATER)
    assert decoded(data, START) == decoded(data, LATER - timedelta(seconds=1)) == replace(found, used=())
    assert decoded(data, LATER) is None
    assert decoded(data, START - timedelta(seconds=1)) is None


@pytest.mark.parametrize(
    "data", [b"", b"\xff", b"null", b"{}", b"[1]", b'{"made": 1, "until": 2, "found": {}}']
)
def test_rubbish_is_no_answer(data: bytes) -> None:
    assert decoded(data, START) is None


@pytest.fixture
def asked_twice(derek: ScopedMemory, cache: HeldCache) -> Iterator[Callable[..., Recollection]]:
    """Asks twice, and gives what came out of the cache."""

    def ask(query: str, **given: Any) -> Recollection:
        first, before = derek.recall(query, **given), cache.found
        again = derek.recall(query, **given)
        assert cache.found == before + 1
        assert replace(again, used=()) == replace(first, used=())
        return again

    yield ask
    assert cache.found


def test_the_same_question_is_answered_from_the_cache_and_says_so(
    derek: ScopedMemory, asked_twice: Callable[..., Recollection]
) -> None:
    derek.record("user", "I drink green tea")
    again = asked_twice("tea")
    assert [step.name for step in again.used] == ["gate", "cache"]
    assert (again.used[-1].found, again.used[-1].note) == (1, "answered a moment ago")
    asked_twice("tea", history=["I like it hot"], top_k=3)
    asked_twice("tea", include=["goals", "profile"])
    asked_twice("tea", vector=np.ones(384, np.float32))


CHANGES: dict[str, Callable[[ScopedMemory, str], object]] = {
    "record": lambda derek, _: derek.record("user", "I drink black tea"),
    "remember": lambda derek, _: derek.remember("I drink white tea"),
    "correct": lambda derek, id: derek.correct(id, "I drink red tea"),
    "forget": lambda derek, id: derek.forget(id),
    "pin": lambda derek, id: derek.pin(id),
    "channel": lambda derek, _: derek.forget(channel="_global"),
    "everything": lambda derek, _: derek.forget(everything=True),
    "mine": lambda derek, _: derek.mine(),
    "settings": lambda derek, _: derek.update_settings(top_k=1),
}


@pytest.mark.parametrize("change", CHANGES)
def test_any_change_is_seen_at_once(
    derek: ScopedMemory, memory: Memory, cache: HeldCache, change: str
) -> None:
    derek.record("user", "I like tea with milk", conversation="c")
    fact = derek.remember("I drink green tea")
    before = contents(derek.recall("tea"))
    assert "I drink green tea" in before
    CHANGES[change](derek, fact.id)
    found, kept = derek.recall("tea"), cache.found
    memory.cache = None
    assert kept == 0
    assert found.hits == memory.scope("derek").recall("tea").hits
    if change in ("forget", "channel", "everything"):
        assert "I drink green tea" not in contents(found)


@pytest.mark.parametrize("what", ["one", "conversation", "everything", "slot", "unmine"])
def test_what_is_erased_leaves_nothing_in_the_cache(
    derek: ScopedMemory, memory: Memory, cache: HeldCache, what: str
) -> None:
    derek.record("user", "I live in Lyon.", conversation="c")
    derek.mine()
    fact = derek.remember("I drink green tea", slot="app:tea")
    memory.scope("ana").record("user", "I like tea")
    for user in ("derek", "ana"):
        memory.scope(user).recall("tea or Lyon")
    assert {shelf.user for shelf, _ in cache.kept} == {"derek", "ana"}
    match what:
        case "one":
            derek.forget(fact.id)
        case "conversation":
            derek.forget(conversation="c")
        case "everything":
            derek.forget(everything=True)
        case "slot":
            derek.remember("I drink black tea", slot="app:tea")
        case _:
            derek.unmine("c")
    assert {shelf.user for shelf, _ in cache.kept} == {"ana"}


def test_somebody_who_comes_again_is_another(derek: ScopedMemory, cache: HeldCache) -> None:
    derek.record("user", "I drink green tea")
    derek.recall("tea")
    kept = dict(cache.kept)
    derek.forget(everything=True)
    derek.record("user", "I drink black tea")
    cache.kept |= kept  # as from a server that had been away
    assert contents(derek.recall("tea")) == ["I drink black tea"]


def test_others_never_share_an_answer_or_a_vector(memory: Memory, cache: HeldCache) -> None:
    for user in ("ana", "ben"):
        memory.scope(user).record("user", f"{user} drinks tea")
    assert contents(memory.scope("ana").recall("tea")) == ["ana drinks tea"]
    assert contents(memory.scope("ben").recall("tea")) == ["ben drinks tea"]
    assert len({key for _, key in cache.kept}) == len(cache.kept) == 4


# Time


def test_nothing_that_expired_or_ended_is_given(
    derek: ScopedMemory, cache: HeldCache, clock: ManualClock
) -> None:
    derek.remember("I drink green tea", expires_at=START + timedelta(seconds=100))
    kept = derek.remember("I drink white tea", expires_at=START + timedelta(seconds=50), pinned=True)
    derek.correct(kept.id, "I drink black tea", since=START + timedelta(seconds=200))
    assert contents(derek.recall("tea")) == ["I drink green tea", "I drink white tea"]
    clock.advance(seconds=99)
    derek.recall("tea")
    assert cache.found == 1
    clock.advance(seconds=1)
    assert contents(derek.recall("tea")) == ["I drink white tea"]
    clock.advance(seconds=99)
    derek.recall("tea")
    clock.advance(seconds=1)
    assert contents(derek.recall("tea")) == ["I drink black tea"]


def test_an_answer_is_given_for_so_long_and_not_before_it_was_made(
    derek: ScopedMemory, memory: Memory, cache: HeldCache, clock: ManualClock
) -> None:
    derek.record("user", "I drink tea")
    derek.recall("tea")
    clock.advance(seconds=memory.settings.cache_seconds - 1)
    derek.recall("tea")
    assert cache.found == 1
    clock.advance(seconds=1)
    assert [step.name for step in derek.recall("tea").used if step.name == "embed"]
    clock.advance(days=-1)
    assert [step.name for step in derek.recall("tea").used if step.name == "embed"]


@pytest.mark.parametrize(
    ("query", "given"),
    [
        ("What tea did I drink yesterday?", {}),
        ("Which tea did I try recently?", {}),
        ("Which tea do I drink since I moved to Lyon?", {}),
        ("tea", {"explain": True}),
        ("tea", {"include": ["related"]}),
    ],
)
def test_what_depends_on_the_time_or_is_explained_is_worked_out_each_time(
    derek: ScopedMemory, cache: HeldCache, query: str, given: dict[str, Any]
) -> None:
    derek.record("user", "I drink green tea")
    for _ in range(2):
        assert derek.recall(query, **given)
    assert cache.of("answers") == cache.found == 0


# What goes wrong, and what is counted


def test_an_answer_with_a_problem_is_not_kept(
    derek: ScopedMemory, cache: HeldCache, embedder: SwitchedEmbedder
) -> None:
    derek.record("user", "I drink green tea")
    embedder.down = True
    assert derek.recall("tea").problems
    assert cache.of("answers") == cache.of("vectors") == 0
    embedder.down = False
    assert not derek.recall("tea").problems
    assert cache.of("answers") == cache.of("vectors") == 1


def test_a_question_is_embedded_once_for_a_user(
    derek: ScopedMemory, memory: Memory, embedder: SwitchedEmbedder
) -> None:
    derek.record("user", "I drink green tea")
    first = derek.recall("green leaves")
    derek.record("user", "It rains")
    embedder.down = True  # what is not in the cache is not to be had
    again = derek.recall("green leaves", top_k=1)
    assert not again.problems
    assert again.hits[0].signals["semantic"] == first.hits[0].signals["semantic"]
    memory.scope("ana").record("user", "I drink green tea")
    assert memory.scope("ana").recall("green leaves").problems


def test_whatever_is_counted_is_counted_of_what_was_cached_too(
    open_memory: OpenMemory, derek: ScopedMemory
) -> None:
    memory = open_memory(audit="verbose")
    memory.cache = HeldCache()
    derek = memory.scope("derek")
    turn = derek.record("user", "I drink green tea")
    for _ in range(3):
        derek.recall("tea")
    found = samples(memory.metrics())
    assert (found["recall_seconds_count"], found["hits_total"]) == (3, 3)
    assert (found["recall_cache_hits_total"], found["recall_cache_misses_total"]) == (2, 1)
    assert (found["embedding_cache_hits_total"], found["embedding_cache_misses_total"]) == (0, 1)
    assert memory.store.user("derek").usage([turn.id])[turn.id].count == 3
    entries = [entry for entry in derek.audit() if entry.operation == "recall"]
    assert [entry.count for entry in entries] == [1, 1, 1]


def test_without_a_store_there_is_no_cache_either(derek: ScopedMemory, cache: HeldCache) -> None:
    assert not derek.recall("tea")  # nothing is stored of anybody
    assert not cache.kept


def test_a_store_that_does_not_answer_is_asked_once(
    derek: ScopedMemory, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    derek.record("user", "I drink green tea")
    derek.recall("coffee")
    asked: list[str] = []

    def broken(self: object, user: str | None = None) -> Any:
        asked.append(user or "")
        raise StoreUnavailable("The disk is gone.")

    monkeypatch.setattr(type(memory.store._backend), "read", broken)  # type: ignore[attr-defined]
    found = derek.recall("tea")
    assert found.problems == ("Nothing recalled: The disk is gone.",)
    assert asked == ["derek"]
