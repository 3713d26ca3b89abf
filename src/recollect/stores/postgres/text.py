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
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import Cursor
from sqlalchemy import Connection

from recollect.stores.sql.codec import encode_text
from recollect.stores.sql.rows import UserRows
from recollect.text.bm25 import COUNT_LIMIT, Postings, scores

_TSVECTOR_BYTES = 1_000_000
_SURELY_FITS = 3000
"""So many words of any length fit into a tsvector."""
_OFTEN = ("", *(f"^{count}" for count in range(2, COUNT_LIMIT + 1)))
"""What a word ends with: for its first occurrence nothing."""

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
# With each term written out, or the planner would not trust the index with it.
FUNCTION = """
CREATE FUNCTION recollect_matches(
    wanted text[], OUT places integer[], OUT docs bigint[], OUT lengths integer[]
)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET enable_seqscan = off AS $$
BEGIN
    EXECUTE (
        SELECT 'SELECT array_agg(place), array_agg(doc), array_agg(length) FROM (' || string_agg(format(
            'SELECT %s AS place, doc, length FROM texts WHERE user_id = %L AND terms @@ %L::tsquery',
            place, current_setting('recollect.user'), term), ' UNION ALL ') || ') AS found'
        FROM unnest(wanted) WITH ORDINALITY AS asked (term, place)
    ) INTO places, docs, lengths;
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
    """The words as PostgreSQL reads a tsvector, which has room for some hundred thousand."""
    parts = [
        _quoted(number, word, end)
        for word, count in Counter(words).items()
        for end in _OFTEN[: min(count, COUNT_LIMIT)]
    ]
    if len(parts) > _SURELY_FITS:
        sizes = accumulate(len(part.encode()) for part in parts)
        parts = [part for part, size in zip(parts, sizes, strict=True) if size < _TSVECTOR_BYTES]
    return " ".join(parts)


def _quoted(number: int, word: str, end: str) -> str:
    if "'" in word or "\\" in word:  # none of our analyser's has
        word = word.replace("\\", "\\\\").replace("'", "''")
    return f"'{number}_{encode_text(word)}{end}'"


def remove_text(rows: UserRows, documents: Sequence[int]) -> None:
    if documents:
        statement = "DELETE FROM texts WHERE user_id = %s AND doc = ANY(%s)"
        rows.connection.exec_driver_sql(statement, (rows.user, list(documents)))


def clear_text(connection: Connection) -> None:
    connection.exec_driver_sql("DELETE FROM texts")


class Matches:
    """The user's documents in which a query's terms occur, with their scores."""

    def __init__(self, cursor: Cursor[Any], number: int, terms: Sequence[str]) -> None:
        wanted = [_quoted(number, term, end) for term in terms for end in _OFTEN]
        asked = cursor.execute("SELECT * FROM recollect_matches(%s)", (wanted,), binary=True)
        places, docs, lengths = (np.array(part or (), np.int64) for part in asked.fetchone() or ((), (), ()))
        self.docs, first, which = np.unique(docs, return_index=True, return_inverse=True)
        self._lengths = lengths[first]
        cells = (places - 1) // len(_OFTEN) * len(self.docs) + which
        counts = np.bincount(cells, minlength=len(terms) * len(self.docs))
        self._counts = counts.reshape(len(terms), len(self.docs))

    def scores(self, documents: int, terms: int) -> NDArray[np.float32]:
        """One for each of `docs`, from the user's number of documents and terms."""
        postings = [_postings(counts) for counts in self._counts]
        return scores(postings, self._lengths.astype(np.int32), documents, terms)


def _postings(counts: NDArray[np.int64]) -> Postings:
    places = counts.nonzero()[0]
    return Postings(places, counts[places])
