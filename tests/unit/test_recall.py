"""What is asked for is found, within the filters, best first (C4)."""

from datetime import datetime, timedelta

import pytest

from recollect import Invalid, Memory, ScopedMemory, TooLarge
from recollect.testing.store_samples import START
from tests.unit.support import OpenMemory, SwitchedEmbedder, contents


def test_the_best_comes_first_and_says_where_it_comes_from(derek: ScopedMemory) -> None:
    derek.record("assistant", "Tell me about the trip", conversation="march-15")
    turn = derek.record("user", "My budget for the Hawaii trip is $10,000", conversation="march-15")
    derek.record("user", "The garden needs water", conversation="other")
    found = derek.recall("What's my budget for the trip?")
    best = found.hits[0]
    assert (best.id, best.kind, best.role) == (turn.id, "turn", "user")
    assert (best.conversation, best.sources, best.at) == ("march-15", (turn.id,), START)
    assert best.content == turn.content
    assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)
    assert "$10,000" in found.context
    assert bool(found)
    assert found.problems == ()


def test_a_memory_says_how_sure_it_is_and_cites_its_note(derek: ScopedMemory) -> None:
    fact = derek.remember("Allergic to peanuts", confidence=0.7)
    (hit,) = derek.recall("peanuts").hits
    assert (hit.kind, hit.confidence, hit.sources) == ("fact", 0.7, fact.sources)
    assert (hit.at, hit.valid_from, hit.valid_to) == (START, START, None)


def test_the_threshold_drops_what_is_found_by_meaning_alone(
    derek: ScopedMemory, embedder: SwitchedEmbedder
) -> None:
    near, far = embedder.embed_query("one thing"), embedder.embed_query("quite another matter")
    alike = derek.record("user", "aaa", vector=near)
    derek.record("user", "bbb", vector=far)
    assert [h.id for h in derek.recall("", vector=near, threshold=0.9).hits] == [alike.id]
    assert len(derek.recall("", vector=near, threshold=-1).hits) == 2


@pytest.mark.parametrize("code", ["XK-4471-Q", "0f3a9c", "ORDER_99213", "§4711", "a.b.c_d"])
def test_an_exact_code_is_never_dropped_by_the_threshold(
    derek: ScopedMemory, embedder: SwitchedEmbedder, code: str
) -> None:
    opposite = -embedder.embed_query(code)
    turn = derek.record("user", f"The part is {code}", vector=opposite)
    derek.record_many({"role": "user", "content": f"The part is number {i}"} for i in range(200))
    (hit,) = derek.recall(code, threshold=1).hits
    assert hit.id == turn.id
    assert hit.signals["bm25"] > 0


def test_an_exact_code_is_not_crowded_out_by_what_looks_like_the_question(derek: ScopedMemory) -> None:
    turn = derek.record("user", "Ticket ZX81-44Q7 concerns the broken pump")
    derek.record_many(
        {"role": "user", "content": f"What is the state of the ticket about house {i}?"} for i in range(50)
    )
    assert turn.id in [hit.id for hit in derek.recall("What is the state of ticket ZX81-44Q7?").hits]


def test_top_k_is_five_unless_said_otherwise(derek: ScopedMemory) -> None:
    derek.record_many({"role": "user", "content": f"tea number {i}"} for i in range(60))
    assert len(derek.recall("tea").hits) == 5
    assert len(derek.recall("tea", top_k=1).hits) == 1
    assert len(derek.recall("tea", top_k=60).hits) == 60  # beyond the usual number of candidates
    assert len(derek.recall("tea", top_k=1000).hits) == 60
    with pytest.raises(Invalid, match="top_k"):
        derek.recall("tea", top_k=0)


def test_kinds_and_roles_narrow(derek: ScopedMemory) -> None:
    derek.record("user", "tea said")
    derek.record("assistant", "tea answered")
    derek.remember("tea known")
    derek.remember("tea learnt", kind="reflection")
    assert contents(derek.recall("tea", kinds=["fact"])) == ["tea known"]
    assert set(contents(derek.recall("tea", kinds=["fact", "reflection"]))) == {"tea known", "tea learnt"}
    assert contents(derek.recall("tea", roles=["assistant"])) == ["tea answered"]
    assert derek.recall("tea", kinds=[]).hits == ()
    with pytest.raises(Invalid, match=r"'goal'"):
        derek.recall("tea", kinds=["goal"])


def test_recall_reads_the_active_channel_and_the_global_one(memory: Memory) -> None:
    for channel in ("_global", "work", "home"):
        memory.scope("derek", channel=channel).record("user", f"tea in {channel}")
        memory.scope("derek", channel=channel).remember(f"fact of tea in {channel}")
    in_work = set(contents(memory.scope("derek", channel="work").recall("tea", top_k=10)))
    assert in_work == {"tea in work", "fact of tea in work", "tea in _global", "fact of tea in _global"}
    in_global = set(contents(memory.scope("derek").recall("tea", top_k=10)))
    assert in_global == {"tea in _global", "fact of tea in _global"}


def test_agents_are_read_together_unless_one_is_asked_for(memory: Memory) -> None:
    for agent in ("cook", "driver"):
        memory.scope("derek", agent=agent).record("user", f"tea for the {agent}")
    assert len(memory.scope("derek", agent="cook").recall("tea").hits) == 2
    (hit,) = memory.scope("derek").recall("tea", agent="cook").hits
    assert (hit.content, hit.agent) == ("tea for the cook", "cook")
    assert memory.scope("derek").recall("tea", agent="nobody").hits == ()


def test_a_conversation_and_a_span_of_time(derek: ScopedMemory) -> None:
    for day in range(4):
        derek.record("user", f"tea on day {day}", conversation=f"c{day}", at=START + timedelta(days=day))
    assert contents(derek.recall("tea", conversation="c2")) == ["tea on day 2"]
    found = derek.recall("tea", since=START + timedelta(days=1), until=START + timedelta(days=3))
    assert set(contents(found)) == {"tea on day 1", "tea on day 2"}  # until is not included
    with pytest.raises(Invalid, match="time zone"):
        derek.recall("tea", since=datetime(2026, 1, 1))  # noqa: DTZ001


def test_the_least_confidence(derek: ScopedMemory) -> None:
    derek.remember("tea for sure", confidence=0.9)
    derek.remember("tea perhaps", confidence=0.5)
    assert contents(derek.recall("tea", min_confidence=0.6)) == ["tea for sure"]


def test_another_user_is_never_found(memory: Memory, derek: ScopedMemory) -> None:
    memory.scope("ann").record("user", "the secret tea")
    memory.scope("ann").remember("the secret tea")
    assert derek.recall("secret tea", threshold=-1).hits == ()
    assert memory.scope("Derek").recall("secret tea", threshold=-1).hits == ()


def test_nothing_is_found_in_an_empty_memory_and_nobody_is_made(memory: Memory) -> None:
    found = memory.scope("nobody").recall("anything")
    assert (found.hits, found.context, found.problems, bool(found)) == ((), "", (), False)
    assert memory.store.stats()["rows"]["users"] == 0


def test_explain_names_every_hit_its_signals_and_sources(derek: ScopedMemory) -> None:
    fact = derek.remember("Allergic to peanuts")
    derek.record("user", "peanuts are bad")
    found = derek.recall("peanuts")
    told = found.explain()
    assert told.startswith("2 memories for 'peanuts'")
    for hit in found.hits:
        assert hit.id in told
        assert hit.content in told
        assert f"{hit.score:.3f}" in told
        assert f"semantic {hit.signals['semantic']:.3f}" in told
    assert f"from {fact.sources[0]}" in told
    assert "gather" in told


def test_a_long_query_is_answered_and_a_longer_one_refused(open_memory: OpenMemory) -> None:
    derek = open_memory().scope("derek")
    turn = derek.record("user", "the needle word")
    query = " ".join(f"hay{i}" for i in range(11_000))[:99_990] + " needle"
    assert [hit.id for hit in derek.recall(query, threshold=1).hits] == [turn.id]
    with pytest.raises(TooLarge, match="RECOLLECT_QUERY_LIMIT"):
        derek.recall("x" * 100_001)


def test_a_vector_of_another_size_is_refused(derek: ScopedMemory) -> None:
    derek.record("user", "hello")
    for vector in ([1.0], [float("nan")] * 384, [[1.0] * 384], "words", [0.0] * 384):
        with pytest.raises(Invalid):
            derek.recall("hello", vector=vector)  # type: ignore[arg-type]
