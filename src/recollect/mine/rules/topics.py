"""What a conversation is about, turn by turn: it changes where the words do."""

import re
from collections import Counter
from collections.abc import Sequence

from recollect.mine.extracted import Mention, Topic
from recollect.mine.rules.wordlist import listed
from recollect.model.records import Role, Turn
from recollect.text.analyse import REQUEST_WORDS, STOP_WORDS, terms

_READ = 600
_READ_ANSWER = 300
"""What an answer is about it says first."""
_LEAST = 2
"""Turns in a topic; a single one is part of what is around it."""
_SHORT = 4
_BACK = 6
_ALIKE = 0.08
_TITLE_WORDS = 3
_IDLE = (
    STOP_WORDS
    | REQUEST_WORDS
    | listed(
        "also really like love want need know think make sure help get got good great thanks thank new one "
        "two use using way try trying looking look find time lot bit much many more most some any other "
        "here there now then well still even back going im ive ill id dont doesnt didnt cant wont isnt "
        "youre thats lets its let see say said tell give take go come keep put yes no ok okay sure please "
        "hi hello hey actually maybe probably first last next day days week today yesterday tomorrow user "
        "options option different specific around consider considering start ensure provide example based "
        "best feel things thing work something anything everything people important recommend "
        "recommendations tips"
    )
)


_IDLE_TERMS = frozenset(term for word in _IDLE for term in terms(word))
Terms = dict[str, int]
_CONTRACTED = re.compile(r"\w+n't\b|'\w{0,2}\b|'")


def topics(turns: Sequence[Turn], mentions: Sequence[Mention]) -> tuple[Topic, ...]:
    """The topics of a window, in order; each turn is in one of them."""
    if not turns:
        return ()
    said = [_terms(turn) for turn in turns]
    starts = [0] if len(turns) <= _SHORT else _starts(turns, said)
    ends = [*(start - 1 for start in starts[1:]), len(turns) - 1]
    return tuple(_topic(turns, said, mentions, first, last) for first, last in zip(starts, ends, strict=True))


def _read(turn: Turn) -> str:
    return turn.content[: _READ if turn.role is Role.USER else _READ_ANSWER]


def _terms(turn: Turn) -> Terms:
    """The telling words of a turn; what a user says counts for more than how it is answered."""
    weight = 3 if turn.role is Role.USER else 1
    counts: Terms = {}
    text = _read(turn)
    if "'" in text:  # words without any are split far faster, and what is left out tells nothing
        text = _CONTRACTED.sub("", text)
    for term, times in Counter(terms(text)).items():
        if len(term) > 2 and term not in _IDLE_TERMS and not term.isdigit():
            counts[term] = min(times, 3) * weight
    return counts


def _starts(turns: Sequence[Turn], said: list[Terms]) -> list[int]:
    """A topic starts with a user's turn that shares next to nothing with the turns before it."""
    starts = [0]
    for at in range(_LEAST, len(turns) - _LEAST + 1):
        if turns[at].role is not Role.USER or at - starts[-1] < _LEAST:
            continue
        before = {term for terms_of in said[max(starts[-1], at - _BACK) : at] for term in terms_of}
        if said[at] and _overlap(said[at], before) < _ALIKE and _overlap(said[at + 1], before) < 2 * _ALIKE:
            starts.append(at)
    return starts


def _overlap(these: Terms, those: set[str]) -> float:
    total = sum(these.values())
    return sum(count for term, count in these.items() if term in those) / total if total else 0.0


def _topic(
    turns: Sequence[Turn], said: list[Terms], mentions: Sequence[Mention], first: int, last: int
) -> Topic:
    weights: Terms = {}
    spread: Terms = {}
    for counts in said[first : last + 1]:
        for term, count in counts.items():
            weights[term] = weights.get(term, 0) + count
            spread[term] = spread.get(term, 0) + 1
    ids = {turn.id for turn in turns[first : last + 1]}
    central = max(
        (mention for mention in mentions if not ids.isdisjoint(mention.turns)),
        key=lambda mention: len(ids.intersection(mention.turns)),
        default=None,
    )
    ranked = sorted(weights, key=lambda term: (-weights[term] * spread[term], term))[:_TITLE_WORDS]
    title = ", ".join(_written(ranked, turns[first : last + 1])) or "Conversation"
    return Topic(
        title=title[0].upper() + title[1:],
        first=turns[first].index,
        last=turns[last].index,
        subject=central.name if central is not None else "",
    )


_WORD = re.compile(r"[^\W_][\w'-]{2,30}")


def _written(ranked: list[str], turns: Sequence[Turn]) -> list[str]:
    """Each term as it was first written; the first word of a turn without its capital."""
    forms: dict[str, str] = {}
    begins = {term[:2] for term in ranked}
    for turn in turns:
        for found in _WORD.finditer(_read(turn)):
            word = found.group()
            if word[:2].lower() not in begins:
                continue
            for term in ranked:
                if term not in forms and word[:2].lower() == term[:2] and term in terms(word):
                    forms[term] = word.lower() if found.start() == 0 else word.removesuffix("'s")
        if len(forms) == len(ranked):
            break
    return [forms.get(term, term) for term in ranked]
