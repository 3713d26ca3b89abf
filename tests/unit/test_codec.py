"""Between records and rows: text, times, numbers, JSON, vectors, whole records."""

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import Invalid, StoreCorrupt
from recollect.model.records import RECORD_TYPES, Entity, Fact, Goal, GoalStatus, Record, Role, Turn
from recollect.stores.sql.codec import (
    decode_json,
    decode_text,
    decode_time,
    decode_vectors,
    encode_fields,
    encode_json,
    encode_number,
    encode_text,
    encode_time,
    encode_vector,
    from_row,
    link_fields,
    to_row,
)
from recollect.stores.sql.schema import RECORD_TABLES
from recollect.testing.store_samples import START, fact, sample

ANY_TEXT = st.text(st.characters(exclude_categories=()))
HARD_TEXT = st.text(
    st.sampled_from("\x00\x10\x0f\x11\ud800\udbff\udc00\udfff0123456789abcdefABCDEF\\u\U0001f600")
)

every_kind = pytest.mark.parametrize("kind", RECORD_TYPES, ids=lambda kind: kind.kind)


@given(st.one_of(ANY_TEXT, HARD_TEXT))
def test_text_round_trips_and_is_safe(text: str) -> None:
    encoded = encode_text(text)
    assert decode_text(encoded) == text
    assert "\x00" not in encoded
    encoded.encode("utf-8")  # no lone surrogates


@given(HARD_TEXT, HARD_TEXT)
def test_different_texts_stay_different(one: str, other: str) -> None:
    assert (encode_text(one) == encode_text(other)) == (one == other)
    assert encode_text(one + other) == encode_text(one) + encode_text(other)


def test_every_code_point_round_trips() -> None:
    text = "".join(map(chr, range(0x110000)))
    assert decode_text(encode_text(text)) == text


@given(st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00\x10")))
def test_ordinary_text_is_stored_as_it_is(text: str) -> None:
    assert encode_text(text) == text


@given(st.datetimes(timezones=st.just(UTC)))
def test_times_round_trip(at: datetime) -> None:
    assert decode_time(encode_time(at)) == at


def test_times_of_other_zones_are_the_same_moment() -> None:
    at = datetime(2026, 3, 15, 12, tzinfo=timezone(timedelta(hours=-7)))
    assert decode_time(encode_time(at)) == at
    assert decode_time(encode_time(at)).tzinfo is UTC


def test_times_without_a_zone_are_refused() -> None:
    with pytest.raises(Invalid, match="time zone"):
        encode_time(datetime(2026, 3, 15))  # noqa: DTZ001 - the point


JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), ANY_TEXT
    ),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(ANY_TEXT, inner)),
    max_leaves=12,
)


@given(JSON)
def test_json_round_trips_and_is_safe(value: Any) -> None:
    encoded = encode_json(value)
    assert decode_json(encoded) == value
    assert encoded.isascii()
    assert "\x00" not in encoded


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), {1, 2}, object(), {"a": START}, {("a",): 1}],
    ids=lambda value: type(value).__name__,
)
def test_what_is_not_json_is_refused(value: Any) -> None:
    with pytest.raises(Invalid, match="Not JSON"):
        encode_json(value)


@pytest.mark.parametrize("value", [0, -1, 2**31 - 1, -(2**31), 0.1, 1e300, True])
def test_numbers_that_fit(value: float) -> None:
    assert encode_number(value) == value


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, 10**400, float("nan"), float("inf"), float("-inf")])
def test_numbers_that_do_not(value: float) -> None:
    with pytest.raises(Invalid):
        encode_number(value)


@given(st.lists(st.lists(st.floats(-1, 1, width=16), min_size=4, max_size=4), max_size=5))
def test_vectors_round_trip(rows: list[list[float]]) -> None:
    blobs = [encode_vector(np.array(row, np.float32)) for row in rows]
    decoded = decode_vectors(blobs, 4)
    assert decoded.tolist() == rows
    assert decoded.shape == (len(rows), 4)
    assert decoded.dtype == np.float32


def test_no_vectors_of_no_dimensions() -> None:
    assert decode_vectors([], 0).shape == (0, 0)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e6])
def test_vectors_that_cannot_be_held_are_refused(value: float) -> None:
    with pytest.raises(Invalid):
        encode_vector(np.array([0.0, value], np.float32))


def stored(record: Record) -> Record:
    links = {name: getattr(record, name) for name in link_fields(type(record))}
    return from_row(type(record), to_row(record), links)


@every_kind
def test_every_record_round_trips(kind: type[Record]) -> None:
    assert stored(sample(kind)) == sample(kind)
    bare = replace(sample(kind), **{f.name: None for f in fields(kind) if f.default is None})
    assert stored(bare) == bare


@every_kind
def test_a_row_has_what_the_table_has(kind: type[Record]) -> None:
    columns = {column.name for column in RECORD_TABLES[kind.kind].c}
    assert set(to_row(sample(kind))) == columns - {"user_id", "seq"}


@every_kind
def test_a_row_holds_what_sql_databases_hold(kind: type[Record]) -> None:
    for value in to_row(sample(kind)).values():
        assert isinstance(value, str | int | float | None)
        if isinstance(value, str):
            value.encode("utf-8")
            assert "\x00" not in value


@given(ANY_TEXT, ANY_TEXT, st.sampled_from(Role))
def test_any_turn_round_trips(content: str, agent: str, role: Role) -> None:
    turn = replace(sample(Turn), content=content, agent=agent, role=role, metadata={content: agent})
    assert stored(turn) == turn


@pytest.mark.parametrize("id", ["a\x00", "\ud800", "\x10"])
def test_ids_that_would_need_escaping_are_refused(id: str) -> None:
    with pytest.raises(Invalid):
        to_row(fact(id))


def test_fields_for_a_filter() -> None:
    assert encode_fields(Turn, {"role": Role.USER, "at": START, "agent": None, "index": [1, 2]}) == {
        "role": "user",
        "at": encode_time(START),
        "agent": None,
        "index": [1, 2],
    }
    assert encode_fields(Goal, {"status": (GoalStatus.ACTIVE, None)}) == {"status": ["active", None]}
    assert encode_fields(Entity, {"aliases": ("a", "b")}) == {"aliases": '["a","b"]'}
    assert encode_fields(Fact, {"agent": "\x00"}) == {"agent": encode_text("\x00")}


@pytest.mark.parametrize("name", ["colour", "sources", "user_id", "seq", "details"])
def test_fields_that_are_no_columns_are_refused(name: str) -> None:
    with pytest.raises(Invalid, match=name):
        encode_fields(Fact, {name: "x"})


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [(Turn, "at", 5), (Turn, "content", 5), (Turn, "index", "x"), (Turn, "index", [None, {}])],
)
def test_values_that_a_field_cannot_have_are_refused(kind: type[Record], name: str, value: Any) -> None:
    with pytest.raises(Invalid, match=name):
        encode_fields(kind, {name: value})


@pytest.mark.parametrize(
    "damage",
    [
        {"role": "usex"},
        {"metadata": "{"},
        {"metadata": "[" * 100_000},
        {"at": "soon"},
        {"at": 2**62},
        {"content": 7},
        {"tokens": "many"},
    ],
    ids=lambda damage: str(damage)[:30],
)
def test_a_row_that_cannot_be_read_is_damage(damage: dict[str, Any]) -> None:
    with pytest.raises(StoreCorrupt):
        from_row(Turn, {**to_row(sample(Turn)), **damage}, {})
