"""Which records have most of the words of a text, asked of many texts at once.

A record that has at least six tenths of ten words lacks four of them at most: of any six it has two. So the
six rarest are looked up, and what has two of them is found. Common words, whose postings grow with all that
was ever said, are seldom read.
"""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.model.search import Words
from recollect.stores.sql import schema
from recollect.stores.sql.backend import Backend
from recollect.stores.sql.codec import decode_text
from recollect.stores.sql.rows import UserRows, own_select

HITS = 2
"""How many of the words that are looked up have to be there. With more, more words would be looked up; with
fewer, much would be found that has not enough of them."""
RARE = 64
"""How many documents a rare word has."""
LESS_RARE = 16
"""So many times as many are tried where rare words do not suffice."""
MARGIN = 4
"""How many times as many as are wanted are held against kind and channel."""

Documents = NDArray[np.int64]

_CHUNKS = schema.chunks.c
_OWNERS = own_select(schema.chunks, _CHUNKS.doc, _CHUNKS.owner, _CHUNKS.kind, _CHUNKS.channel)


def sharing(
    backend: Backend, rows: UserRows, asked: Sequence[Words], share: float, limit: int
) -> list[list[str]]:
    found = rows.all(own_select(schema.users, schema.users.c.number))
    if not found:
        return [[] for _ in asked]
    known = _known(backend, rows, found[0]["number"], asked, share)
    best = [_best(words, known, share, limit * MARGIN) for words in asked]
    docs = np.unique(np.concatenate(best)) if best else np.empty(0, np.int64)
    by_doc = {row["doc"]: row for row in rows.all_in(_OWNERS, _CHUNKS.doc, docs.tolist())}
    return [
        _owners(words, [by_doc[doc] for doc in docs.tolist() if doc in by_doc], limit)
        for words, docs in zip(asked, best, strict=True)
    ]


def _lacking(words: Words, share: float) -> int:
    """How many of its words a text may lack, at most, that has this share of them."""
    return len(words.terms) - ceil(share * len(words.terms))


def _known(
    backend: Backend, rows: UserRows, number: int, asked: Sequence[Words], share: float
) -> dict[str, Documents]:
    """The documents of the rarest words of each text, of as many as it takes."""
    known: dict[str, Documents] = {}
    most = RARE
    while unsure := [words for words in asked if _is_unsure(words, known, share)]:
        wanted = sorted({term for words in unsure for term in words.terms if term not in known})
        for term, docs in zip(wanted, backend.having(rows, number, wanted, most + 1), strict=True):
            if len(docs) <= most:
                known[term] = docs[np.diff(docs, prepend=-1) > 0]
        most *= LESS_RARE
    return known


def _is_unsure(words: Words, known: Mapping[str, Documents], share: float) -> bool:
    enough = min(len(words.terms), _lacking(words, share) + HITS)
    return len(known.keys() & words.terms) < enough


def _best(words: Words, known: Mapping[str, Documents], share: float, limit: int) -> Documents:
    """Documents with enough of the words that are known, those with the most first."""
    postings = sorted((known[term] for term in words.terms if term in known), key=len)
    if not postings:
        return np.empty(0, np.int64)
    lacking = _lacking(words, share)
    # Whatever a text lacks, it has one of the first; in the others, which are longer, only that is looked for
    # which may still have enough.
    docs, hits = np.unique(np.concatenate(postings[: lacking + 1]), return_counts=True)
    for left, some in enumerate(postings[lacking + 1 :], 1):
        hits += some[np.searchsorted(some, docs).clip(max=len(some) - 1)] == docs
        able = hits > left
        docs, hits = docs[able], hits[able]
    return docs[np.argsort(-hits, kind="stable")][:limit]


def _owners(words: Words, rows: Sequence[Mapping[str, Any]], limit: int) -> list[str]:
    """The records behind documents, of the kind and channel that are asked for."""
    here = words.kind, words.channel
    fitting = (row["owner"] for row in rows if (row["kind"], decode_text(row["channel"])) == here)
    return list(dict.fromkeys(fitting))[:limit]
