"""The newest of several turns that say something of the same matter comes first.

"I have three bikes" in March and "I have four bikes now" in May are about as near to "How many bikes do I
have?"; which of them holds, no score can tell, but the calendar can. Only the order of the hits changes,
never what is among them.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple

from recollect.model.recollection import Hit
from recollect.recall.entities import names_in
from recollect.recall.question import Asked
from recollect.text.analyse import query_terms
from recollect.text.sentences import sentences

LOOKED_AT = 10
"""How many hits are put in order so."""
READ = 1000
"""How many characters of each are read."""
WORDS = 2
"""How many words of the question a sentence must have to be about its matter."""
SHARED = 0.8
"""The part of those words that another one must have to be about the same."""
NEAR = 0.7
"""The part of the older one's score that the newer one must have."""
APART = timedelta(days=1)
"""How much later it must have been said."""
_PAST = re.compile(
    r"^\s*(?:when|why|(?:what|who|where|which|how)\b(?! many| much| often| long)[^?]{0,40}?\bdid)\b|"
    r"\b(?:initially|originally|at first|first|before|previous(?:ly)?|formerly|used to|earlier|back then|"
    r"in the past|over time|history|changed?)\b",
    re.IGNORECASE,
)
"""Questions about what was, or about one event among others."""


class _Said(NamedTuple):
    hit: Hit
    words: frozenset[str]
    """The words of the question that the best sentence of a turn of the user's has."""


def newest_first(hits: Sequence[Hit], asked: Asked) -> list[Hit]:
    """The hits, a newer turn before an older one about the same. A question about the past wants no such
    order, nor does one about a time."""
    filter = asked.filter
    if any((filter.as_of, filter.known_at, filter.since, filter.until)) or _PAST.search(asked.query):
        return list(hits)
    if sum(hit.role == "user" for hit in hits[:LOOKED_AT]) < 2:
        return list(hits)
    # Whom a question names says nothing of its matter: much is said of everybody.
    named = {term for name in names_in(asked.query) for term in query_terms(name)}
    wanted = frozenset(query_terms(asked.query)) - named
    order = [_Said(hit, _matched(hit, wanted)) for hit in hits[:LOOKED_AT]]
    place = 0
    while place < len(order):
        later = [said for said in order[place + 1 :] if _updates(said, order[place])]
        if later:
            newest = max(later, key=lambda said: said.hit.at)
            order.remove(newest)
            score = order[place].hit.score
            order.insert(place, newest._replace(hit=replace(newest.hit, score=score)))
            place += 1
        place += 1
    return [*(said.hit for said in order), *hits[LOOKED_AT:]]


def _matched(hit: Hit, wanted: frozenset[str]) -> frozenset[str]:
    if hit.role != "user":
        return frozenset()
    text = hit.excerpt[:READ]
    if len(_words(text, wanted)) < WORDS:
        return frozenset()
    return max((_words(sentence, wanted) for sentence in sentences(text)), key=len, default=frozenset[str]())


def _words(text: str, wanted: frozenset[str]) -> frozenset[str]:
    """Those of the stems that words of a text begin with: few stand behind anything but a space."""
    spaced = f" {text.casefold()}"
    return frozenset(term for term in wanted if f" {term}" in spaced)


def _updates(newer: _Said, older: _Said) -> bool:
    """Whether one turn says of the same matter what was said in another conversation before."""
    return (
        len(older.words) >= WORDS
        and len(newer.words & older.words) >= SHARED * len(older.words)
        and newer.hit.conversation != older.hit.conversation
        and newer.hit.at - older.hit.at >= APART
        and newer.hit.score >= NEAR * older.hit.score
    )
