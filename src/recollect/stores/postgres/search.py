"""Exact search of one user's chunks, in the server.

By vector and by words the nearest are found first, a few times as many as are wanted, and only these
are held against the filter; when too few of them pass, more are tried. Postings come from the server and
are scored here, by the BM25 that every store shares.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import Cursor
from psycopg.rows import TupleRow

from recollect.model.search import Candidate, Search
from recollect.model.space import Space
from recollect.stores.postgres.filters import conditions
from recollect.stores.postgres.upkeep import OWNER
from recollect.stores.postgres.words import Frequencies, Question, Ranked, ranked
from recollect.stores.sql.codec import StoredVector, decode_time, encode_vector

MARGIN = 4
"""How many times as many as are wanted are held against the filter at first."""
SURE = 2
"""How many times as many as are wanted are known to be the best by words; of more, all are read."""
WIDTH = 400
"""How many of the nearest an index keeps in sight at least: twice as many cost a millisecond, and find what
half as many miss where vectors lie in groups."""

_STATE = """
SELECT u.number, u.documents, u.terms, s.id, s.model, s.dimensions, s.unrelated,
    u.documents > %s AND EXISTS (
        SELECT FROM pg_index
        WHERE indexrelid = to_regclass(format('large_%%s_%%s', u.number, s.id)) AND indisvalid
    )
FROM users u LEFT JOIN spaces s ON s.active WHERE u.user_id = %s
"""
_FOUND = "c.doc, c.kind, c.owner, c.start, c.stop, c.at, c.conversation, c.role, c.place, c.weight"
# Rows are looked up one by one. Of a join the planner thinks badly: no statistics are kept of whose rows
# there are, so it takes a user's for few and would rather read them all.
_DOT = """(
    SELECT -(v.vector <#> %(vector)s) FROM vectors v
    WHERE v.user_id = %(user)s AND v.space = %(space)s AND v.doc = c.doc
)"""
_NEAREST = f"""
SELECT {_FOUND}, -v.distance
FROM (
    SELECT doc, {{vector}} <#> %(vector)s AS distance FROM vectors
    WHERE user_id = %(user)s AND space = %(space)s AND vector IS NOT NULL{{owner}}
    ORDER BY distance LIMIT %(tried)s
) v CROSS JOIN LATERAL (
    SELECT * FROM chunks c WHERE c.user_id = %(user)s AND c.doc = v.doc AND {{where}} OFFSET 0
) c ORDER BY v.distance LIMIT %(limit)s
"""
_NEAREST_OF_FEW = f"""
SELECT * FROM (SELECT {_FOUND}, {_DOT} AS dot FROM chunks c WHERE c.user_id = %(user)s AND {{where}}) found
WHERE dot IS NOT NULL ORDER BY dot DESC LIMIT %(limit)s
"""
_PROPOSED = f"""
SELECT * FROM (
    SELECT {_FOUND}, {_DOT} AS dot FROM (
        SELECT unnest(%(docs)s::bigint[]) AS doc
        UNION SELECT doc FROM chunks WHERE user_id = %(user)s AND seq > %(known)s
    ) wanted CROSS JOIN LATERAL (
        SELECT * FROM chunks c WHERE c.user_id = %(user)s AND c.doc = wanted.doc AND {{where}} OFFSET 0
    ) c
) found WHERE dot IS NOT NULL ORDER BY dot DESC LIMIT %(limit)s
"""
# The planner takes sorting a user's rows for cheap as well.
_BY_INDEX = "SET LOCAL hnsw.iterative_scan = strict_order; SET LOCAL enable_sort = off"
_AMONG = f"""
SELECT {_FOUND}, {{dot}}
FROM unnest(%(docs)s::bigint[]) WITH ORDINALITY AS wanted (doc, place) CROSS JOIN LATERAL (
    SELECT * FROM chunks c WHERE c.user_id = %(user)s AND c.doc = wanted.doc AND {{where}} OFFSET 0
) c ORDER BY wanted.place LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class _State:
    """What the server knows of a user, and the question as it takes it."""

    number: int
    documents: int
    terms: int
    space: Space | None
    vector: StoredVector | None
    where: str
    values: dict[str, Any]


def candidates(
    cursor: Cursor[TupleRow], user: str, search: Search, index_over: int, known: Frequencies
) -> list[Candidate]:
    """The best by vector and the best by words, each with both scores."""
    row = cursor.execute(_STATE, (index_over, user)).fetchone()
    if row is None:
        return []
    number, documents, terms, space_id, model, dimensions, unrelated, indexed = row
    space = None if space_id is None else Space(model, dimensions, unrelated)
    vector = search.vector_in(space)
    where, values = conditions(search.filter)
    state = _State(
        number,
        documents,
        terms,
        space,
        None if vector is None else encode_vector(vector),
        where,
        {**values, "user": user, "space": space_id, "limit": search.limit},
    )
    near = _near(cursor, state, search, indexed=indexed) if vector is not None else []
    found = {row[0]: row for row in near}
    ranks, best = _by_words(cursor, state, search, list(found), known)
    for row in best:
        found.setdefault(row[0], row)
    return [
        Candidate(kind, owner, start, stop, _similarity(state, dot), words, decode_time(at), *rest)
        for (_, kind, owner, start, stop, at, *rest, dot), words in zip(
            found.values(), ranks.of(list(found)), strict=True
        )
    ]


def _similarity(state: _State, dot: float | None) -> float | None:
    return None if dot is None or state.space is None else state.space.similarity(dot)


def _near(cursor: Cursor[TupleRow], state: _State, search: Search, *, indexed: bool) -> list[TupleRow]:
    """The nearest of those that an index beside the database names, or of all."""
    if search.near is None:
        return _nearest(cursor, state, search, indexed=indexed)
    given = {"vector": state.vector, "docs": list(search.near.docs), "known": search.near.since}
    statement = _PROPOSED.format(where=state.where).encode()
    return _related(state, search, cursor.execute(statement, state.values | given).fetchall())


def _nearest(cursor: Cursor[TupleRow], state: _State, search: Search, *, indexed: bool) -> list[TupleRow]:
    """The nearest that pass the filter: found among the nearest of all, or, when few of those pass, by
    comparing all that pass."""
    tried = search.limit * MARGIN
    column, owner = "vector", ""
    if indexed and state.space is not None:
        column = f"vector::halfvec({state.space.dimensions})"  # as the index has it
        owner = f" AND hashtextextended(user_id, 0) = {OWNER}"
        cursor.execute(f"SET LOCAL hnsw.ef_search = {min(max(2 * tried, WIDTH), 1000)}".encode())
        cursor.execute(_BY_INDEX)
    values = state.values | {"vector": state.vector, "tried": tried}
    statement = _NEAREST.format(vector=column, owner=owner, where=state.where)
    rows = cursor.execute(statement.encode(), values).fetchall()
    near = _related(state, search, rows)
    if len(rows) < search.limit and len(near) == len(rows) and tried < state.documents:
        rows = cursor.execute(_NEAREST_OF_FEW.format(where=state.where).encode(), values).fetchall()
        return _related(state, search, rows)
    return near


def _related(state: _State, search: Search, rows: Sequence[TupleRow]) -> list[TupleRow]:
    return [row for row in rows if (_similarity(state, row[-1]) or 0.0) >= search.threshold]


def _by_words(
    cursor: Cursor[TupleRow], state: _State, search: Search, near: Sequence[int], known: Frequencies
) -> tuple[Ranked, Sequence[TupleRow]]:
    """Scores, and the best that pass the filter: found among the best of all, or, when too few of those pass,
    among all."""
    terms = list(dict.fromkeys(search.terms))
    question = Question(cursor, state.values["user"], state.number, terms, state.documents, state.terms)
    tried = search.limit * SURE
    ranks = ranked(question, known, tried, near)
    best = _best_by_words(cursor, state, search, ranks.best(tried))
    if len(best) < search.limit and not ranks.whole:
        ranks = ranked(question, Frequencies(), tried, near)
        best = _best_by_words(cursor, state, search, ranks.best(tried))
    return ranks, best


def _best_by_words(
    cursor: Cursor[TupleRow], state: _State, search: Search, docs: NDArray[np.int64]
) -> Sequence[TupleRow]:
    """Of documents in order of their scores, the first that pass the filter."""
    dot = "NULL" if state.vector is None else _DOT
    statement = _AMONG.format(where=state.where, dot=dot).encode()
    passed: list[TupleRow] = []
    start, size = 0, search.limit
    while start < len(docs) and len(passed) < search.limit:
        values = {"vector": state.vector, "docs": docs[start : start + size].tolist()}
        passed += cursor.execute(statement, state.values | values).fetchall()
        start, size = start + size, size * MARGIN
    return passed[: search.limit]
