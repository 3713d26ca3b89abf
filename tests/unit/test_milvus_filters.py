"""What Milvus is asked for passes just what the store of record lets through. Its expressions happen to be
Python's, too: here they are evaluated."""

from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.errors import SettingsError
from recollect.model.records import SEARCHABLE, Role
from recollect.model.search import Filter
from recollect.ports.stored import Searched
from recollect.stores.milvus.connecting import address, reason
from recollect.stores.milvus.filters import expression
from recollect.stores.milvus.rows import NOBODY, code, docs_of, key, row
from recollect.stores.sql.codec import encode_time
from recollect.stores.sql.columns import Columns

NUMBER = 7
START = datetime(2026, 1, 1, tzinfo=UTC)
TIMES = st.integers(0, 6).map(lambda day: START + timedelta(days=day))
MAYBE = st.none() | TIMES
NAMES = st.sampled_from(["work", "home", 'it"s \\ 1 or 1 == 1', "naïve 🙂"])
CHUNKS = st.builds(
    Searched,
    doc=st.integers(1, 9),
    kind=st.sampled_from(SEARCHABLE),
    channel=NAMES,
    agent=st.none() | NAMES,
    conversation=st.none() | NAMES,
    role=st.none() | st.sampled_from([str(role) for role in Role]),
    confidence=st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    at=TIMES,
    valid_from=TIMES,
    valid_to=MAYBE,
    stated_to=MAYBE,
    recorded_at=TIMES,
    retired_at=MAYBE,
    expires_at=MAYBE,
    corrects=st.booleans(),
    terms=st.just(()),
    vector=st.just(np.zeros(4, np.float32)),
)
FILTERS = st.builds(
    Filter,
    now=TIMES,
    kinds=st.just(SEARCHABLE) | st.lists(st.sampled_from(SEARCHABLE)).map(tuple),
    channels=st.none() | st.lists(NAMES).map(tuple),
    agent=st.none() | NAMES,
    conversation=st.none() | NAMES,
    exclude_conversation=st.none() | NAMES,
    roles=st.none() | st.lists(st.sampled_from([*Role])).map(tuple),
    since=MAYBE,
    until=MAYBE,
    as_of=MAYBE,
    known_at=MAYBE,
    min_confidence=st.sampled_from([0.0, 0.25, 0.75]),
    in_force=st.booleans(),
)


def stored(chunk: Searched) -> dict[str, Any]:
    """As the store of record has it."""
    times = ("at", "valid_from", "valid_to", "stated_to", "recorded_at", "retired_at", "expires_at")
    names = ("doc", "kind", "channel", "agent", "conversation", "role", "confidence")
    return {
        **{name: getattr(chunk, name) for name in names},
        **{name: None if (at := getattr(chunk, name)) is None else encode_time(at) for name in times},
        **dict.fromkeys(("seq", "terms", "start", "stop", "place"), 1),
        "weight": 1.0,
        "owner": "o",
        "supersedes": "another" if chunk.corrects else None,
        "vector": b"\0" * 8,
    }


@settings(max_examples=50, deadline=None)
@given(st.lists(CHUNKS, min_size=1, max_size=5), st.lists(FILTERS, min_size=1, max_size=5))
def test_the_same_documents_pass_as_in_the_store_of_record(
    chunks: list[Searched], filters: list[Filter]
) -> None:
    for chunk, filter in product(chunks, filters):
        allowed = bool(Columns(4).extended([stored(chunk)], (), 1).allowed(filter)[0])
        assert eval(expression(NUMBER, filter), {}, row(NUMBER, chunk)) == allowed


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1 << 40), st.text() | st.text(st.characters(codec=None)))
def test_whatever_something_is_called_an_expression_has_numbers_only(number: int, name: str) -> None:
    """So nothing can be said in it that the filter does not say."""
    asked = Filter(
        now=START,
        kinds=(name,),
        channels=(name, "x"),
        agent=name,
        conversation=name,
        exclude_conversation=name,
    )
    told = expression(number, asked)
    assert set(told) <= set("abcdefghijklmnopqrstuvwxyz_0123456789[](),-=<>!. ")
    assert NOBODY < code(number, name) < 1 << 63
    assert code(number, name) == code(number, name) != code(number + 1, name)


def test_a_document_is_found_by_its_key() -> None:
    assert docs_of(12, [key(12, 3456), key(12, 1)]) == [3456, 1]
    assert key(1, 23) != key(12, 3)
    assert len(key((1 << 63) - 1, (1 << 63) - 1)) <= 48


def test_what_others_wrote_names_no_document() -> None:
    others = ["", ":", "12:", "12:x", "12:-1", "12:1.5", "12:٣", f"12:{1 << 64}", "13:1", 7, None, "12:1\n"]
    assert docs_of(12, others) == []


@pytest.mark.parametrize(
    ("given", "shown", "lite"),
    [
        ("http://user:secret@host:19530", "http://host:19530", False),
        ("https://in.cloud.example/db?token=secret", "https://in.cloud.example", False),
        ("/var/lib/milvus.db", "/var/lib/milvus.db", True),
    ],
)
def test_an_address_is_shown_without_what_is_secret(given: str, shown: str, lite: bool) -> None:
    where = address(given)
    assert (where.shown, where.lite) == (shown, lite)


@pytest.mark.parametrize(
    "given",
    [
        "postgres://host",
        "milvus",
        "folder/milvus.sqlite",
        "http://u:hunter/2@host:1",
        "http://h:99999",
        "http://[h",
    ],
)
def test_what_is_no_address_is_refused(given: str) -> None:
    with pytest.raises(SettingsError, match="RECOLLECT_MILVUS") as told:
        address(given)
    assert "hunter" not in str(told.value)


def test_a_reason_is_one_short_line() -> None:
    assert reason(ValueError("a\n  b.")) == "a b"
    assert reason(ValueError()) == "ValueError"
    assert len(reason(ValueError("x" * 10_000))) == 300
