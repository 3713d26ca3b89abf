"""The text index: a tsvector for each chunk, whose words carry the user's number.

A word of user 7 is stored as `7_budget`, so that the index (GIN) keeps each user's postings apart. How
often a word occurs in its chunk is its weight there: D once, C twice, B three times, A oftener.

PostgreSQL checks row-level security before any operator that might tell on the rows it sees, and `@@`
counts as one, so with the wall in place the index could not be used. The function `recollect_matches`
therefore reads with the workers' rights, and takes the user from the wall's own setting.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import Cursor
from sqlalchemy import Connection

from recollect.stores.sql.codec import encode_text
from recollect.stores.sql.rows import UserRows
from recollect.text.bm25 import COUNT_LIMIT, Postings

_WEIGHTS = ("", "", "C", "B", "A")
_BITS = 3
_TSVECTOR_BYTES = 1_000_000
_SURELY_FITS = 3000
"""So many words of any length fit into a tsvector."""
_TERMS_AT_ONCE = 20
"""How many counts fit into one number."""

TABLE = """
CREATE TABLE texts (
    user_id text COLLATE "C" NOT NULL,
    doc bigint NOT NULL,
    length integer NOT NULL,
    terms tsvector NOT NULL,
    PRIMARY KEY (user_id, doc)
) PARTITION BY HASH (user_id)
"""
# Without the list of what is still to be indexed: every search would read it, whoever wrote it.
INDEX = "CREATE INDEX ix_texts_terms ON texts USING gin (terms) WITH (fastupdate = off)"
FUNCTION = f"""
CREATE FUNCTION recollect_matches(
    wanted text[], OUT docs bigint[], OUT lengths integer[], OUT counts bigint[]
)
LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
DECLARE
    term text;
    place integer := 0;
    packed text[] := '{{}}';
    every text := '';
BEGIN
    FOREACH term IN ARRAY wanted LOOP
        IF place % {_TERMS_AT_ONCE} = 0 THEN
            packed := packed || '0'::text;
        END IF;
        term := '''' || replace(replace(term, '\\', '\\\\'), '''', '''''') || '''';
        packed[cardinality(packed)] := packed[cardinality(packed)] || format(
            ' + ((CASE WHEN NOT terms @@ %1$L::tsquery THEN 0'
            ' WHEN NOT terms @@ %2$L::tsquery THEN 1'
            ' WHEN terms @@ %3$L::tsquery THEN 4'
            ' WHEN terms @@ %4$L::tsquery THEN 3 ELSE 2 END)::bigint << %5$s)',
            term, term || ':ABC', term || ':A', term || ':B', place % {_TERMS_AT_ONCE} * {_BITS});
        every := every || CASE WHEN place > 0 THEN ' | ' ELSE '' END || term;
        place := place + 1;
    END LOOP;
    EXECUTE format(
        'SELECT array_agg(doc), array_agg(length), %s FROM (SELECT doc, length, %s FROM texts'
        ' WHERE user_id = %L AND terms @@ %L::tsquery) AS matched',
        (SELECT string_agg(format('array_agg(c%s)', n), ' || ') FROM generate_subscripts(packed, 1) n),
        (SELECT string_agg(format('%s AS c%s', packed[n], n), ', ') FROM generate_subscripts(packed, 1) n),
        current_setting('recollect.user'), every)
    INTO docs, lengths, counts;
END
$$
"""


def add_text(rows: UserRows, number: int, documents: Sequence[tuple[int, list[str]]]) -> None:
    if not documents:
        return
    docs = [doc for doc, _ in documents]
    lengths = [len(words) for _, words in documents]
    vectors = [_tsvector(number, words) for _, words in documents]
    rows.connection.exec_driver_sql(
        "INSERT INTO texts (user_id, doc, length, terms) "
        "SELECT %s, * FROM unnest(%s::bigint[], %s::integer[], %s::tsvector[])",
        (rows.user, docs, lengths, vectors),
    )


def _tsvector(number: int, words: list[str]) -> str:
    """The words as PostgreSQL reads a tsvector, which has room for some hundred thousand. No word of
    ours has a quote or a backslash in it."""
    parts = [
        f"'{number}_{encode_text(word)}':1{_WEIGHTS[min(count, COUNT_LIMIT)]}"
        for word, count in Counter(words).items()
    ]
    if len(parts) > _SURELY_FITS:
        sizes = accumulate(len(part.encode()) for part in parts)
        parts = [part for part, size in zip(parts, sizes, strict=True) if size < _TSVECTOR_BYTES]
    return " ".join(parts)


def remove_text(rows: UserRows, documents: Sequence[int]) -> None:
    if documents:
        statement = "DELETE FROM texts WHERE user_id = %s AND doc = ANY(%s)"
        rows.connection.exec_driver_sql(statement, (rows.user, list(documents)))


def clear_text(connection: Connection) -> None:
    connection.exec_driver_sql("DELETE FROM texts")


class Matches:
    """The user's documents in which a query's terms occur."""

    def __init__(self, cursor: Cursor[Any], number: int, terms: Sequence[str]) -> None:
        wanted = [encode_text(f"{number}_{term}") for term in terms]
        found = cursor.execute("SELECT * FROM recollect_matches(%s)", (wanted,), binary=True).fetchone()
        docs, lengths, counts = (np.array(part or (), np.int64) for part in found or ((), (), ()))
        self.docs = docs
        self.lengths = lengths.astype(np.int32)
        packed = counts.reshape(-(-len(wanted) // _TERMS_AT_ONCE), len(docs))
        self.postings = [
            _postings(packed[place // _TERMS_AT_ONCE], place % _TERMS_AT_ONCE) for place in range(len(wanted))
        ]


def _postings(packed: NDArray[np.int64], place: int) -> Postings:
    counts = packed >> (place * _BITS) & ((1 << _BITS) - 1)
    places = counts.nonzero()[0]
    return Postings(places, counts[places])
