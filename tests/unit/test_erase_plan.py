"""However a chain of corrections is torn, what is left of it is a chain again."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from recollect.model.changes import Remove, Revise
from recollect.model.records import Fact, MemoryRecord, Record
from recollect.tend.rejoin import plan_erasure
from recollect.testing.store_samples import START, fact


def chain(length: int) -> list[Fact]:
    """Facts 0, 1, 2, …, each corrected by the next, a day later."""
    return [
        fact(
            str(i),
            valid_from=START + timedelta(days=i),
            recorded_at=START + timedelta(days=i),
            supersedes=str(i - 1) if i else None,
            **(
                {
                    "superseded_by": str(i + 1),
                    "valid_to": START + timedelta(days=i + 1),
                    "retired_at": START + timedelta(days=i + 1),
                }
                if i < length - 1
                else {}
            ),
        )
        for i in range(length)
    ]


def applied(facts: list[Fact], doomed: set[str]) -> dict[str, Fact]:
    """What is left after the plan is carried out."""
    all_of_them: dict[str, Fact] = {f.id: f for f in facts}
    gone: dict[str, Record] = {id: all_of_them[id] for id in sorted(doomed, reverse=True)}
    touching = {n for id in doomed for n in (all_of_them[id].supersedes, all_of_them[id].superseded_by) if n}
    neighbours: dict[str, MemoryRecord] = {id: all_of_them[id] for id in touching}
    left = dict(all_of_them)
    for change in plan_erasure(gone, neighbours):
        if isinstance(change, Revise):
            fields: dict[str, Any] = dict(change.fields)
            left[change.id] = replace(left[change.id], **fields)
        else:
            assert isinstance(change, Remove)
            for id in change.ids:
                del left[id]
    return left


@given(st.integers(1, 8).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1)))))
def test_what_is_left_is_a_chain_with_one_end_in_force(given: tuple[int, set[int]]) -> None:
    length, numbers = given
    left = applied(chain(length), {str(n) for n in numbers})
    expected = [str(i) for i in range(length) if i not in numbers]
    assert sorted(left) == expected
    for place, id in enumerate(expected):
        before = expected[place - 1] if place else None
        after = expected[place + 1] if place + 1 < len(expected) else None
        kept = left[id]
        assert (kept.supersedes, kept.superseded_by) == (before, after)
        if after is None:
            assert (kept.valid_to, kept.retired_at) == (None, None)
        else:
            assert kept.valid_to == left[after].valid_from
            assert kept.retired_at == left[after].recorded_at


@given(st.sets(st.integers(0, 5), min_size=1))
def test_every_doomed_record_is_removed_once(numbers: set[int]) -> None:
    facts = chain(6)
    doomed: dict[str, Record] = {str(n): facts[n] for n in numbers}
    removed = [id for c in plan_erasure(doomed, {}) if isinstance(c, Remove) for id in c.ids]
    assert sorted(removed) == sorted(doomed)


def test_a_chain_that_bites_its_tail_ends_too() -> None:
    """Such a chain can only come from an edited import; forgetting it must not hang."""
    a, b = fact("a", superseded_by="b"), fact("b", superseded_by="a")
    assert plan_erasure({"a": a, "b": b}, {"a": a, "b": b})[-1] == Remove("fact", ("a", "b"))
