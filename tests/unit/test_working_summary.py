"""Compressing working memory by rules: what survives, and how long it may be (E2)."""

from collections import Counter
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.model.working import ItemType, WorkingItem
from recollect.record.working_summary import (
    AGREED,
    DECIDED,
    LEAST,
    OF_THE_CONVERSATION,
    RESULT,
    SAID,
    SURVIVING,
    Line,
    content,
    counted,
    fitted,
    lines,
    of_the_conversation,
    older,
    room,
    token_limit,
)
from recollect.text.chunk import estimate_tokens

AT = datetime(2026, 3, 15, 9, 30, tzinfo=UTC)

types = st.sampled_from([kind for kind in ItemType if kind is not ItemType.SUMMARY])
texts = st.text(max_size=60) | st.sampled_from(
    [
        "x" * 3000,
        "We decided to use PostgreSQL. It is raining.",
        "folded: 3 said, 9 decided",
        "result: a\nsaid: b\r\x85\u2028\x1ccc",
        "日本語" * 200,
        "",
        " \n ",
        "lone \ud800",
    ]
)
told_lists = st.lists(st.tuples(types, texts), max_size=40)


def item(kind: ItemType, text: str, **metadata: object) -> WorkingItem:
    tokens = estimate_tokens(text)
    return WorkingItem(id="i", type=kind, content=text, at=AT, tokens=tokens, metadata=metadata)


def summary(text: str) -> WorkingItem:
    return item(ItemType.SUMMARY, text)


def compressed(items: list[WorkingItem], limit: int, keep: int, most: int = 1000) -> list[WorkingItem]:
    """As the verb does it, without a store."""
    old = older(items, limit, keep, most)
    newest = items[len(old) :]
    if not old:
        return items
    told = fitted([line for one in old for line in lines(one)], room(newest, limit))
    return [summary(content(told)), *newest]


def told(items: list[WorkingItem]) -> Counter[str]:
    return counted([line for one in items for line in lines(one)])


def tokens(items: list[WorkingItem]) -> int:
    return sum(one.tokens for one in items)


@given(told_lists, st.integers(1, 3000), st.integers(1, 10))
@example([(ItemType.OBSERVATION, "x" * 3000)] * 40, 2000, 6)
def test_the_newest_stay_and_the_rest_is_within_the_limit_with_all_accounted_for(
    given: list[tuple[ItemType, str]], limit: int, keep: int
) -> None:
    items = [item(kind, text) for kind, text in given]
    after = compressed(items, limit, keep)
    assert after[-keep:] == items[-keep:] or after == items
    if tokens(items) <= limit:
        assert after == items
    if tokens(items[-keep:]) + LEAST <= limit:
        assert tokens(after) <= limit
    assert told(after) == told(items)  # each one by its words, or counted
    assert compressed(after, limit, keep) == after
    assert compressed(items, limit, keep) == after


@given(told_lists, told_lists, st.integers(1, 1000), st.integers(1, 10))
def test_compressing_as_one_goes_loses_nothing_either(
    first: list[tuple[ItemType, str]], second: list[tuple[ItemType, str]], limit: int, keep: int
) -> None:
    items: list[WorkingItem] = []
    for kind, text in [*first, *second]:
        items = compressed([*items, item(kind, text)], limit, keep)
    assert told(items) == told([item(kind, text) for kind, text in [*first, *second]])
    assert sum(one.type is ItemType.SUMMARY for one in items) <= 1


@given(told_lists, st.integers(0, 2000))
def test_nothing_else_is_told_while_a_decision_or_result_is_only_counted(
    given: list[tuple[ItemType, str]], limit: int
) -> None:
    before = [line for kind, text in given for line in lines(item(kind, text))]
    after = fitted(before, limit)
    kinds = Counter(line.kind for line in after)
    missing = [kind for kind in SURVIVING if kinds[kind] < counted(before)[kind]]
    if missing:  # then these are as short as they get
        assert all(estimate_tokens(str(line)) <= 15 for line in after if line.kind in SURVIVING)
    assert estimate_tokens(content(after)) <= max(limit, LEAST)
    assert fitted(after, limit) == after


@given(told_lists, st.integers(50, 500))
def test_a_summary_is_read_as_it_was_written(given: list[tuple[ItemType, str]], limit: int) -> None:
    after = fitted([line for kind, text in given for line in lines(item(kind, text))], limit)
    if after:
        assert lines(summary(content(after))) == after


def test_decisions_and_results_survive_where_chatter_does_not() -> None:
    items = [item(ItemType.TURN, f"chatter {n} " * 20, role="user") for n in range(30)]
    items[3] = item(ItemType.OBSERVATION, "41 rows, error E-77 in row 9", tool="query")
    items[5] = item(ItemType.DECISION, "Use the blue database")
    items[7] = item(ItemType.THOUGHT, "Hm, nice. I decided to skip row 9. What else?")
    items[9] = item(ItemType.THOUGHT, "leave the index alone", decision=True)
    items[11] = item(ItemType.TURN, "Fine, we'll go with Lisbon.", role="user")
    (first, *newest) = compressed(items, 600, 6)
    assert newest == items[-6:]
    assert Line(RESULT, "query: 41 rows, error E-77 in row 9") in lines(first)
    assert Line(DECIDED, "Use the blue database") in lines(first)
    assert Line(DECIDED, "I decided to skip row 9.") in lines(first)
    assert Line(DECIDED, "leave the index alone") in lines(first)
    assert Line(AGREED, "user: Fine, we'll go with Lisbon.") in lines(first)
    assert lines(first)[0] == Line("folded", "18 said")  # the newest had room


@pytest.mark.parametrize("text", ["Should we go with Lisbon?", "The box was taken.", "Use it."])
def test_what_decides_nothing_is_no_decision(text: str) -> None:
    (line,) = lines(item(ItemType.TURN, text))
    assert line.kind == SAID


@pytest.mark.parametrize(
    ("window", "limit"), [(None, 2000), (10_000, 2000), (4000, 2000), (3999, 1999), (100, 50), (1, 0)]
)
def test_the_limit_is_the_lesser_of_the_two(window: int | None, limit: int) -> None:
    assert token_limit(2000, window) == limit


def test_too_many_items_are_compressed_however_short() -> None:
    items = [item(ItemType.TURN, "") for _ in range(11)]
    assert older(items, 2000, 6, 11) == []
    assert len(older(items, 2000, 6, 10)) == 5


@given(told_lists, st.integers(50, 500))
def test_without_the_trace_only_what_was_said_is_left(given: list[tuple[ItemType, str]], limit: int) -> None:
    before = fitted([line for kind, text in given for line in lines(item(kind, text))], limit)
    after = of_the_conversation(before)
    wanted = {kind: n for kind, n in counted(before).items() if kind in OF_THE_CONVERSATION}
    assert dict(counted(after)) == wanted


def test_results_are_only_counted_before_any_decision_is() -> None:
    told = [
        Line("decided", "go by train"),
        *(Line("result", f"page {n} of the timetable") for n in range(60)),
    ]
    kept = fitted(told, 200)
    assert Line("decided", "go by train") in kept
    assert kept[0].kind == "folded"
    assert kept[0].text.endswith("result")
