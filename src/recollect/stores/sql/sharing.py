"""Which records have most of the words of a text, asked of many texts at once.

A record that has at least six tenths of ten words lacks four of them at most: of any six it has two. So the
six rarest are looked up, and what has two of them is found. Words that very many documents have are left
out, or a text would cost the more the more there is; instead, half of the other words have to be there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil

import numpy as np
from numpy.typing import NDArray

from recollect.model.search import Words
from recollect.stores.sql import schema
from recollect.stores.sql.backend import Backend
from recollect.stores.sql.codec import decode_text
from recollect.stores.sql.rows import UserRows, own_select

HITS = 2
"""How many of the words that are looked up have to be there. With more, more would be looked up; with fewer,
much would be found that has not enough of them."""
RARE, COMMON = 128, 2048
"""How many documents a rare word has at most; and one that is looked up when there are no rarer ones."""
MORE = 16
"""So many times as many documents are read of words when those with fewer do not suffice."""
MARGIN = 4
"""How many times as many as are wanted are held against kind and channel."""

Documents = NDArray[np.int64]

_FIRST = np.ones(1, np.bool_)

_CHUNKS = schema.chunks.c
_OWNERS = own_select(
    schema.chunks, _CHUNKS.doc, _CHUNKS.owner, _CHUNKS.kind, _CHUNKS.channel, _CHUNKS.terms
).order_by(_CHUNKS.doc)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A text: its words, each once, and how many of them a record may lack."""

    terms: frozenset[str]
    lacking: int
    length: int


@dataclass(frozen=True, slots=True)
class _Found:
    """Documents that have some of a text's words, and how many of those that were looked up."""

    docs: Documents
    hits: Documents


def sharing(
    backend: Backend, rows: UserRows, asked: Sequence[Words], share: float, limit: int
) -> list[list[str]]:
    found = rows.all(own_select(schema.users, schema.users.c.number))
    if not found:
        return [[] for _ in asked]
    texts = [_asked(words, share) for words in asked]
    known = _known(backend, rows, found[0]["number"], texts)
    likely = [_likely(text, known, limit * MARGIN) for text in texts]
    docs = np.unique(np.concatenate([some.docs for some in likely])) if likely else np.empty(0, np.int64)
    chunks = rows.all_in(_OWNERS, _CHUNKS.doc, docs.tolist())
    there = np.array([row["doc"] for row in chunks], np.int64)
    lengths = np.array([row["terms"] for row in chunks], np.int64)
    homes = [(row["kind"], decode_text(row["channel"])) for row in chunks]
    owners: list[str] = [row["owner"] for row in chunks]
    results: list[list[str]] = []
    for words, text, some in zip(asked, texts, likely, strict=True):
        places = np.searchsorted(there, some.docs)
        order: list[int] = places[np.lexsort((np.abs(lengths[places] - text.length), -some.hits))].tolist()
        fitting = (owners[n] for n in order if homes[n] == (words.kind, words.channel))
        results.append([*islice(dict.fromkeys(fitting), limit)])
    return results


def _asked(words: Words, share: float) -> _Asked:
    terms = frozenset(words.terms)
    return _Asked(terms, len(terms) - ceil(share * len(terms)), len(words.terms))


def _known(backend: Backend, rows: UserRows, number: int, texts: Sequence[_Asked]) -> dict[str, Documents]:
    """The documents of the rarest words of each text, of as many words as it takes."""
    known: dict[str, Documents] = {}
    most = RARE
    while unsure := [text for text in texts if _is_unsure(text, known, most)]:
        wanted = sorted({term for text in unsure for term in text.terms if term not in known})
        for term, docs in zip(wanted, backend.having(rows, number, wanted, most + 1), strict=True):
            if len(docs) <= most:
                known[term] = _each_once(docs)
        most *= MORE
    return known


def _each_once(docs: Documents) -> Documents:
    """Written out: there are many short ones, and NumPy's own ways take several times as long."""
    return docs[np.concatenate((_FIRST, docs[1:] != docs[:-1]))] if len(docs) > 1 else docs


def _is_unsure(text: _Asked, known: dict[str, Documents], most: int) -> bool:
    """Whether words that so many documents have are to be looked up as well."""
    there = [len(known[term]) for term in text.terms if term in known]
    enough = min(len(text.terms), text.lacking + HITS)
    return len(there) < enough and (most <= COMMON or min(there, default=most) > COMMON)


def _likely(text: _Asked, known: dict[str, Documents], most: int) -> _Found:
    """Documents with enough of the words that were looked up: all that have all of them, or so many."""
    postings = sorted((known[term] for term in text.terms if term in known), key=len)
    if not postings:
        return _Found(np.empty(0, np.int64), np.empty(0, np.int64))
    rare = sum(len(some) <= COMMON for some in postings) or len(postings)
    # Whatever is lacking, one of the first is there. In the others, which are longer, only that is looked for
    # which may still have enough.
    first = min(text.lacking + 1, rare)
    docs, hits = np.unique(np.concatenate(postings[:first]), return_counts=True)
    for number, some in enumerate(postings[first:], first + 1):
        hits += some[np.searchsorted(some, docs).clip(max=len(some) - 1)] == docs
        able = hits >= number - text.lacking
        docs, hits = docs[able], hits[able]
    kept = np.argsort(-hits, kind="stable")[: max(most, np.count_nonzero(hits == len(postings)))]
    kept = kept[hits[kept] * 2 >= rare]
    return _Found(docs[kept], hits[kept])
