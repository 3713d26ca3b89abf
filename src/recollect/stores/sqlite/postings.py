"""The postings of words that were asked for, kept in memory.

Reading those of common words takes FTS5 longer than all the rest of a search. A document's words never change
and its number is never given again, so what was read stays right: what came since is added, and what has gone
is known by nobody who looks it up.
"""

import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from recollect.stores.sql.in_process import UserState
from recollect.stores.sql.rows import UserRows
from recollect.stores.sqlite.text import documents_from, occurrences, whole_index
from recollect.text.bm25 import Occurring, occurring

CATCH_UP = 1000
"""With more new documents than this it is quicker to read a word's postings again."""
_USERS = 4
"""Of how many users there is room for the words, however many these are."""
_TERM_BYTES = 300
"""About what a word takes besides its postings."""


@dataclass(slots=True)
class _Kept:
    """Words of a user and where they occur, as of a place in the feed. Words are added, and nothing else is
    ever changed."""

    number: int
    index: int
    seq: int
    next_doc: int
    terms: dict[str, Occurring] = field(default_factory=dict[str, Occurring])
    size: int = 0

    def add(self, terms: Mapping[str, Occurring]) -> None:
        self.terms.update(terms)
        self.size += sum(one.docs.nbytes + one.counts.nbytes + _TERM_BYTES for one in terms.values())


class KeptPostings:
    """The words of users, those of whom nobody has asked for longest dropped over the limit. Safe in any
    thread."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._users: dict[str, _Kept] = {}
        self._size = 0

    def read(self, rows: UserRows, user: UserState, terms: Sequence[str]) -> list[Occurring]:
        """For each term the user's documents with it, in the state that the transaction sees."""
        index = whole_index(rows.connection)
        with self._lock:
            known = self._users.get(rows.user)
        current = None if index is None else _current(rows, user, index, known)
        if current is None:
            return [occurring(found) for found in occurrences(rows, user.number, terms)]
        missing = [term for term in terms if term not in current.terms]
        read = dict(zip(missing, map(occurring, occurrences(rows, user.number, missing)), strict=True))
        found = [read[term] if term in read else current.terms[term] for term in terms]
        self._keep(rows.user, current, read)
        return found

    def _keep(self, user: str, kept: _Kept, read: Mapping[str, Occurring]) -> None:
        with self._lock:
            self._drop(user)
            kept.add({term: found for term, found in read.items() if term not in kept.terms})
            self._users[user] = kept
            self._size += kept.size
            if kept.size > self._limit // _USERS:  # many words, or many documents that have gone since
                self._drop(user)
            while self._size > self._limit:
                self._drop(next(iter(self._users)))

    def _drop(self, user: str) -> None:
        if (known := self._users.pop(user, None)) is not None:
            self._size -= known.size


def _current(rows: UserRows, user: UserState, index: int, known: _Kept | None) -> _Kept | None:
    """What is known, brought up to the user's state; None where that is an older one."""
    if known is None or (known.number, known.index) != (user.number, index):
        return _Kept(user.number, index, user.seq, user.next_doc)
    if known.seq >= user.seq:
        return known if known.seq == user.seq else None
    if user.next_doc - known.next_doc > CATCH_UP:
        return _Kept(user.number, index, user.seq, user.next_doc)
    new: dict[str, list[int]] = defaultdict(list)
    for doc, words in documents_from(rows.connection, user.number, known.next_doc):
        for word in words:
            if word in known.terms:
                new[word].append(doc)
    current = _Kept(user.number, index, user.seq, user.next_doc)
    current.add({**known.terms, **{word: _longer(known.terms[word], docs) for word, docs in new.items()}})
    return current


def _longer(known: Occurring, docs: list[int]) -> Occurring:
    new = occurring(np.array(docs, np.int64))
    return Occurring(np.concatenate((known.docs, new.docs)), np.concatenate((known.counts, new.counts)))
