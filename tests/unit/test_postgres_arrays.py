"""Columns as arrays: what the driver reads of them is what was sent."""

from typing import Any

import pytest

psycopg = pytest.importorskip("psycopg")

from psycopg.adapt import Transformer  # noqa: E402
from psycopg.pq import Format  # noqa: E402

from recollect.stores.postgres.arrays import encoded  # noqa: E402
from recollect.stores.postgres.text import tsvector  # noqa: E402

NUMBERS = {"boolean": (16, 1000), "bytea": (17, 1001), "bigint": (20, 1016), "integer": (23, 1007)}
NUMBERS |= {"text": (25, 1009), "float": (701, 1022)}


@pytest.mark.parametrize(
    ("type", "values"),
    [
        ("bigint", [1, -(2**63), 2**63 - 1]),
        ("bigint", [None, 5, None]),
        ("integer", [7, 7, 7]),
        ("integer", [0, -1]),
        ("float", [1, 2.5, -1e300]),
        ("float", [None, 0.25]),
        ("text", ["tea", "", "Tee mit Süßholz 🍵", None]),
        ("text", ["same", "same"]),
        ("text", [None, None]),
        ("text", []),
        ("boolean", [True, False, None]),
        ("bytea", [b"\0\1", b"", None]),
    ],
)
def test_what_is_sent_is_what_is_read(type: str, values: list[Any]) -> None:
    number, array = NUMBERS[type]
    assert Transformer().get_loader(array, Format.BINARY).load(encoded(type, number, values)) == values


def test_a_word_is_told_as_often_as_it_occurs_up_to_a_limit() -> None:
    sent = tsvector(7, ["tea", "it's", "tea", *["milk"] * 9])
    listed = sent[4:].split(b"\0\0\0")[:-1]
    assert int.from_bytes(sent[:4], "big") == len(listed)
    assert {*listed} == {b"7_tea", b"7_tea^2", b"7_it's", b"7_milk", b"7_milk^2", b"7_milk^3", b"7_milk^4"}
    assert tsvector(7, []) == b"\0\0\0\0"
    assert b"\0" not in tsvector(7, ["nul\0word"])[4:].removesuffix(b"\0\0\0")
