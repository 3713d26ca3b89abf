"""The text index: an FTS5 table whose terms carry the user's number.

A term of user 7 is stored as `7_budget`. One user's search thus reads that user's postings and no
others, whatever the size of the file, and nobody's data moves another's ranking. FTS5 is asked for
postings through its vocabulary, not through its query language, so no text can be an operator.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from recollect.stores.sql.codec import encode_text
from recollect.stores.sql.rows import UserRows
from recollect.text.analyse import VERSION

_DOCUMENT_BITS = 32
_DOCUMENT_MASK = (1 << _DOCUMENT_BITS) - 1

_POSTINGS = f"(SELECT group_concat(doc & {_DOCUMENT_MASK}) FROM texts_terms WHERE term = ?)"
_FOUND = f"SELECT doc & {_DOCUMENT_MASK} AS doc FROM texts_terms WHERE term = ? LIMIT ?"
_SOME = f"(SELECT group_concat(doc) FROM ({_FOUND}))"
_TERMS_AT_ONCE = 32
_FROM = "SELECT rowid, terms FROM texts WHERE rowid BETWEEN ? AND ?"
_INDEX = "SELECT value, schema_version FROM meta, pragma_schema_version WHERE key = 'analyser'"


def create_text(connection: Connection) -> None:
    connection.exec_driver_sql(
        "CREATE VIRTUAL TABLE IF NOT EXISTS texts "
        "USING fts5(terms, columnsize=0, tokenize=\"ascii tokenchars '_'\")"
    )
    connection.exec_driver_sql(
        "CREATE VIRTUAL TABLE IF NOT EXISTS texts_terms USING fts5vocab(texts, instance)"
    )


def _driver(connection: Connection) -> Any:
    """Asked directly, as every write and every search does this."""
    return connection.connection.dbapi_connection


def add_text(connection: Connection, number: int, documents: Sequence[tuple[int, list[str]]]) -> None:
    if documents:
        base, glue = number << _DOCUMENT_BITS, f" {number}_"
        rows = [(base | doc, glue.join(["", *words])) for doc, words in documents]
        _driver(connection).executemany("INSERT INTO texts(rowid, terms) VALUES (?, ?)", rows)


def remove_text(connection: Connection, number: int, documents: Sequence[int]) -> None:
    if documents:
        rows = [(number << _DOCUMENT_BITS | doc,) for doc in documents]
        _driver(connection).executemany("DELETE FROM texts WHERE rowid = ?", rows)


def clear_text(connection: Connection) -> None:
    connection.exec_driver_sql("DROP TABLE texts_terms")
    connection.exec_driver_sql("DROP TABLE texts")
    create_text(connection)


def occurrences(
    rows: UserRows, number: int, terms: Sequence[str], most: int | None = None
) -> Iterator[NDArray[np.int64]]:
    """For each term the user's documents with it, ascending, once for each time it occurs, or the first so
    many."""
    for start in range(0, len(terms), _TERMS_AT_ONCE):
        some = [encode_text(f"{number}_{term}") for term in terms[start : start + _TERMS_AT_ONCE]]
        statement = f"SELECT {', '.join([_POSTINGS if most is None else _SOME] * len(some))}"
        given = some if most is None else [value for term in some for value in (term, most)]
        for found in _driver(rows.connection).execute(statement, given).fetchone():
            yield np.fromstring(found or "", np.int64, sep=",")


def documents_from(connection: Connection, number: int, first: int) -> Iterator[tuple[int, list[str]]]:
    """The user's documents from this one on, each with its terms."""
    base, start = number << _DOCUMENT_BITS, len(f"{number}_")
    for doc, terms in _driver(connection).execute(_FROM, (base | first, base | _DOCUMENT_MASK)):
        yield doc & _DOCUMENT_MASK, [term[start:] for term in terms.split(" ")[1:]]


def whole_index(connection: Connection) -> int | None:
    """A number of the index that is another one once it was made anew or the file rewritten; None while it is
    being filled, or is another analyser's."""
    ((version, number),) = _driver(connection).execute(_INDEX)
    return number if version == VERSION else None


def text_disagreements(connection: Connection) -> Iterator[tuple[str, int]]:
    """Where the text index and the chunks do not match: what, and how many."""
    indexed = "SELECT rowid FROM texts"
    stored = f"SELECT number << {_DOCUMENT_BITS} | doc FROM chunks JOIN users USING (user_id)"
    for what, statement in (
        ("chunks are not in the text index", f"{stored} EXCEPT {indexed}"),
        ("texts in the index belong to no chunk", f"{indexed} EXCEPT {stored}"),
    ):
        if count := connection.exec_driver_sql(f"SELECT count(*) FROM ({statement})").scalar():
            yield what, count
