"""How well a user's documents match the words of a question, from as little of the index as that takes.

A word that very many documents have takes longest to read and says least. Once it is known how many have it,
documents are found by the rarer words, until the common ones together could lift no other document among the
best (MaxScore); then it is looked up which of the common words those have that were found.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from psycopg import Cursor

from recollect.stores.postgres.text import Occurrences, occurrences, occurrences_in
from recollect.text.bm25 import Postings, most, scores

COMMON = 2000
"""Documents with a word from which on it is worth remembering that it is common."""
STALE = 0.1
"""By which share a user's documents may grow or shrink until what is known of their words is read anew."""
KNOWN = 100_000
"""Words of which a process remembers how common they are."""
LOOK_UP = 8
"""How many times as long it takes to look for words in a document as to read it in the list of a word."""
NOWHERE = Occurrences(*(np.empty(0, np.int64) for _ in Occurrences._fields))


class Question(NamedTuple):
    """The words that a user asks for, none twice, and how many documents with how many terms they have."""

    cursor: Cursor[Any]
    user: str
    number: int
    words: Sequence[str]
    documents: int
    terms: int


class Ranked(NamedTuple):
    """Documents, ascending, with their scores: the whole of those that share a word, or the best of them and
    some others."""

    docs: NDArray[np.int64]
    scores: NDArray[np.float32]
    whole: bool

    def best(self, most: int) -> NDArray[np.int64]:
        """The best in order: all of them, or so many."""
        order = np.argsort(-self.scores)
        return self.docs[order if self.whole else order[:most]]

    def of(self, wanted: Sequence[int]) -> list[float]:
        """The scores of the wanted documents; 0 for one that shares no word."""
        if not len(self.docs):
            return [0.0] * len(wanted)
        places = np.searchsorted(self.docs, wanted).clip(max=len(self.docs) - 1)
        return np.where(self.docs[places] == wanted, self.scores[places], 0.0).tolist()


class Frequencies:
    """How many documents have a common word, as far as it was read before, by this process."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], tuple[int, int]] = {}

    def of(self, question: Question) -> NDArray[np.int64]:
        """For each of the words; 0 for one that is rare or not known."""
        return np.array([self._of(question, word) for word in question.words], np.int64)

    def _of(self, question: Question, word: str) -> int:
        frequency, documents = self._known.get((question.number, word), (0, 0))
        fresh = abs(question.documents - documents) <= STALE * documents
        return min(frequency, question.documents) if fresh else 0

    def learn(self, question: Question, place: int, frequency: int) -> None:
        """So many have the word of this place."""
        if frequency >= COMMON:
            if len(self._known) >= KNOWN:
                self._known.clear()
            self._known[question.number, question.words[place]] = frequency, question.documents


def ranked(question: Question, known: Frequencies, best: int, also: Sequence[int]) -> Ranked:
    """The best so many at least, and of the documents `also` those that share a word."""
    frequencies = known.of(question)
    unread = [int(place) for place in np.argsort(frequencies, kind="stable") if frequencies[place]]
    rare = [place for place in range(len(question.words)) if not frequencies[place]]
    found = _read(question, frequencies, rare)
    while unread:
        docs = _contenders(question, frequencies, found, unread, best)
        if docs is not None:
            found = _looked_up(question, found, unread, np.union1d(docs, np.array(also, np.int64)))
            break
        found = _joined(found, _read(question, frequencies, [unread.pop(0)]))
    for place in set(range(len(question.words))).difference(unread):
        known.learn(question, place, int(frequencies[place]))
    return Ranked(*_scored(question, frequencies, found), whole=not unread)


def _contenders(
    question: Question, frequencies: NDArray[np.int64], found: Occurrences, unread: Sequence[int], best: int
) -> NDArray[np.int64] | None:
    """The documents among which the best so many are, whichever of the unread words they have; None when
    others could be, or when to read the next word is less work than to look for it in each of them."""
    docs, known = _scored(question, frequencies, found)
    if len(docs) <= best:
        return None
    first = docs[np.argpartition(-known, best)[:best]]
    bar = _scored(question, frequencies, _looked_up(question, found, unread, np.sort(first)))[1].min()
    missing = sum(most(int(frequencies[place]), question.documents) for place in unread)
    contending = docs[known + missing >= bar]
    if missing >= bar or LOOK_UP * len(contending) > frequencies[unread[0]]:
        return None
    return contending


def _read(question: Question, frequencies: NDArray[np.int64], places: Sequence[int]) -> Occurrences:
    """All occurrences of the words of these places; how many documents have each is noted."""
    words = [question.words[place] for place in places]
    found = occurrences(question.cursor, question.number, words) if words else NOWHERE
    for number, place in enumerate(places):
        frequencies[place] = len(np.unique(found.docs[found.words == number]))
    return _placed(found, places)


def _looked_up(
    question: Question, found: Occurrences, places: Sequence[int], docs: NDArray[np.int64]
) -> Occurrences:
    """What was found in these documents, and what occurs there of the words of these places."""
    words = [question.words[place] for place in places]
    more = occurrences_in(question.cursor, question.user, question.number, words, docs)
    kept = np.isin(found.docs, docs)
    return _joined(Occurrences(*(array[kept] for array in found)), _placed(more, places))


def _placed(found: Occurrences, places: Sequence[int]) -> Occurrences:
    """With the words' places in the question."""
    return found._replace(words=np.array(places, np.int64)[found.words])


def _joined(*parts: Occurrences) -> Occurrences:
    return Occurrences(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _scored(
    question: Question, frequencies: NDArray[np.int64], found: Occurrences
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The documents, ascending, and their scores by what was found in them."""
    docs, first, which = np.unique(found.docs, return_index=True, return_inverse=True)
    shape = len(question.words), len(docs)
    counts = np.bincount(found.words * len(docs) + which, minlength=shape[0] * shape[1]).reshape(shape)
    postings = [_postings(*one) for one in zip(counts, frequencies.tolist(), strict=True)]
    lengths = found.lengths[first].astype(np.int32)
    return docs, scores(postings, lengths, question.documents, question.terms)


def _postings(counts: NDArray[np.int64], frequency: int) -> Postings:
    places = counts.nonzero()[0]
    return Postings(places, counts[places], frequency)
