"""The text index: a tsvector for each chunk, whose words carry the user's number.

A word of user 7 is stored as `7_budget`, so that the index (GIN) keeps each user's postings apart; when it
occurs twice in its chunk, also as `7_budget^2`, and so on. A posting list is thus all that a score needs.

PostgreSQL checks row-level security before any operator that might tell on the rows it sees, and `@@`
counts as one, so with the wall in place the index could not be used. The function `recollect_matches`
therefore reads with the workers' rights, and takes the user from the wall's own setting.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from struct import Struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from psycopg import Cursor
from sqlalchemy import Connection

from recollect.stores.sql.arrays import ColumnValues
from recollect.stores.sql.codec import encode_text
from recollect.stores.sql.rows import UserRows
from recollect.text.bm25 import COUNT_LIMIT

_TSVECTOR_BYTES = 1_000_000
_COUNT = Struct(">i")
_NOWHERE = "\0\0\0"
_SURELY_FITS = 3000
"""So many words of any length fit into a tsvector."""
_OFTEN = ("", *(f"^{count}" for count in range(2, COUNT_LIMIT + 1)))
"""What a word ends with: for its first occurrence nothing."""

# The user comes second, so that the planner does not read all of a user's entries beside a term's postings.
TABLE = """
CREATE TABLE texts (
    user_id text COLLATE "C" NOT NULL,
    doc bigint NOT NULL,
    length integer NOT NULL,
    terms tsvector NOT NULL,
    PRIMARY KEY (doc, user_id)
) PARTITION BY HASH (user_id)
"""
# Without the list of what is still to be indexed: every search would read it, whoever wrote it.
INDEX = "CREATE INDEX ix_texts_terms ON texts USING gin (terms) WITH (fastupdate = off)"
# Without a `most`, all. The user is written out, so that the planner looks at one partition only. It does not
# know how rare a term is: it is kept from reading all of the user's rows for each term instead of the term's
# postings.
FUNCTION = """
CREATE OR REPLACE FUNCTION recollect_matches(
    wanted text[], most bigint DEFAULT NULL, OUT places bigint[], OUT docs bigint[], OUT lengths integer[]
)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET enable_seqscan = off SET cpu_index_tuple_cost = 1 AS $$
BEGIN
    EXECUTE format(
        'SELECT array_agg(place), array_agg(doc), array_agg(length) '
        'FROM unnest($1) WITH ORDINALITY AS asked (term, place) CROSS JOIN LATERAL '
        '(SELECT doc, length FROM texts WHERE user_id = %L AND terms @@ asked.term OFFSET 0 LIMIT $2) found',
        current_setting('recollect.user')
    ) INTO places, docs, lengths USING wanted::tsquery[], most;
END
$$
"""


_IN_DOCUMENTS = """
SELECT array_agg(asked.place), array_agg(found.doc), array_agg(found.length)
FROM unnest(%(docs)s::bigint[]) AS wanted (doc) CROSS JOIN LATERAL (
    SELECT doc, length, terms FROM texts WHERE user_id = %(user)s AND doc = wanted.doc OFFSET 0
) found CROSS JOIN unnest(%(wanted)s::tsquery[]) WITH ORDINALITY AS asked (term, place)
WHERE found.terms @@ asked.term
"""


def add_text(rows: UserRows, number: int, documents: Sequence[tuple[int, list[str]]]) -> None:
    if not documents:
        return
    docs = [doc for doc, _ in documents]
    lengths = [len(words) for _, words in documents]
    vectors = [tsvector(number, stored_words(rows, words)) for _, words in documents]
    rows.connection.exec_driver_sql(
        "INSERT INTO texts (user_id, doc, length, terms) "
        "SELECT %s, * FROM unnest(%b::bigint[], %b::integer[], %b::tsvector[])",
        (
            rows.user,
            ColumnValues("bigint", docs),
            ColumnValues("integer", lengths),
            ColumnValues("tsvector", vectors),
        ),
    )


def stored_words(rows: UserRows, words: Sequence[str]) -> Sequence[str]:
    """The words as the index has them."""
    seal = rows.seal
    return words if seal is None else [seal.word(rows.user, word) for word in words]


def tsvector(number: int, words: Sequence[str]) -> bytes:
    """The words as PostgreSQL receives a tsvector, which has room for some hundred thousand."""
    if not "".join(words).isalnum():  # nearly all are, and it is quick to tell
        words = [encode_text(word) for word in words]
    counted = Counter(words)
    parts = [*counted]
    if len(parts) < len(words):
        often = [(word, min(count, COUNT_LIMIT)) for word, count in counted.items() if count > 1]
        parts += (word + end for word, count in often for end in _OFTEN[1:count])
    if len(parts) > _SURELY_FITS:
        sizes = accumulate(len(f"{number}_{part}".encode()) for part in parts)
        parts = [part for part, size in zip(parts, sizes, strict=True) if size < _TSVECTOR_BYTES]
    if not parts:
        return _COUNT.pack(0)
    # Each ends with a zero, and with how often its places are told: never.
    listed = f"{_NOWHERE}{number}_".join(parts)
    return _COUNT.pack(len(parts)) + f"{number}_{listed}{_NOWHERE}".encode()


def _quoted(number: int, word: str, end: str) -> str:
    """A word of a question, which the server reads as text."""
    if not word.isalnum():
        word = encode_text(word.replace("\\", "\\\\").replace("'", "''"))
    return f"'{number}_{word}{end}'"


def remove_text(rows: UserRows, documents: Sequence[int]) -> None:
    if documents:
        statement = "DELETE FROM texts WHERE user_id = %s AND doc = ANY(%s)"
        rows.connection.exec_driver_sql(statement, (rows.user, list(documents)))


def clear_text(connection: Connection) -> None:
    connection.exec_driver_sql("DELETE FROM texts")


class Occurrences(NamedTuple):
    """Each occurrence of a word in a document of the user's: which of the words, which document, and how
    many terms that has."""

    words: NDArray[np.int64]
    docs: NDArray[np.int64]
    lengths: NDArray[np.int64]


def occurrences(cursor: Cursor[Any], number: int, words: Sequence[str]) -> Occurrences:
    """All of them."""
    return _occurrences(
        cursor.execute("SELECT * FROM recollect_matches(%s)", (_wanted(number, words),), binary=True)
    )


def occurrences_in(
    cursor: Cursor[Any], user: str, number: int, words: Sequence[str], docs: NDArray[np.int64]
) -> Occurrences:
    """Those in these documents."""
    given = {"user": user, "docs": docs.tolist(), "wanted": _wanted(number, words)}
    return _occurrences(cursor.execute(_IN_DOCUMENTS, given, binary=True))


def _wanted(number: int, words: Sequence[str]) -> list[str]:
    return [_quoted(number, word, end) for word in words for end in _OFTEN]


def _occurrences(cursor: Cursor[Any]) -> Occurrences:
    assert cursor.pgresult is not None
    places, docs, lengths = (
        _numbers(cursor.pgresult.get_value(0, column), size) for column, size in enumerate((8, 8, 4))
    )
    return Occurrences((places - 1) // len(_OFTEN), docs, lengths)


def having(cursor: Cursor[Any], number: int, words: Sequence[str], most: int) -> list[NDArray[np.int64]]:
    """For each word documents of the user's that have it, ascending, at most so many."""
    wanted = [_quoted(number, word, "") for word in words]
    found = cursor.execute(
        "SELECT places, docs FROM recollect_matches(%s, %s)", (wanted, most), binary=True
    ).pgresult
    assert found is not None
    places, docs = (_numbers(found.get_value(0, column), 8) for column in range(2))
    order = np.lexsort((docs, places))
    bounds = np.searchsorted(places[order], np.arange(1, len(wanted)) + 1)
    return np.split(docs[order], bounds)


def _numbers(array: bytes | None, size: int) -> NDArray[np.int64]:
    """An array as the server sends it: a head of 20 bytes, then each number behind its size."""
    layout = np.dtype([("size", ">i4"), ("number", f">i{size}")])
    return np.frombuffer(array or b"", layout, offset=20 if array else 0)["number"].astype(np.int64)
