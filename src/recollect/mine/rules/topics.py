"""What a conversation is about, turn by turn: it changes where the words do."""

import re
from collections import Counter
from collections.abc import Sequence

from recollect.mine.extracted import USER, Mention, Topic
from recollect.mine.rules.verbs import BASE, ING, PARTICIPLE, is_finite
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
_LIKELY = 12
"""Terms of which those of a title are chosen."""
_NAME, _NOUN, _OTHER = 3.0, 2.0, 0.2
_CENTRAL = 3
"""What a topic belongs to is named in one of so many of the user's turns."""
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
    about = turns[first : last + 1]
    likely = sorted(weights, key=lambda term: (-weights[term] * spread[term], term))[:_LIKELY]
    kinds = _kinds(likely, about, {part.lower() for mention in mentions for part in mention.name.split()})
    ranked = sorted(likely, key=lambda term: (-weights[term] * spread[term] * kinds[term], term))
    telling = [term for term in ranked if kinds[term] >= 1][:_TITLE_WORDS] or ranked[:1]
    title = ", ".join(_written(telling, about, kinds)) or "Conversation"
    return Topic(
        title=title[0].upper() + title[1:],
        first=turns[first].index,
        last=turns[last].index,
        subject=_central(about, mentions),
    )


def _central(turns: Sequence[Turn], mentions: Sequence[Mention]) -> str:
    """Whom or what most of the turns name; what is about nobody else is about the user."""
    ids = {turn.id for turn in turns}
    named = {mention.name: len(ids.intersection(mention.turns)) for mention in mentions}
    most = max(named, key=lambda name: named[name], default="")
    users = sum(1 for turn in turns if turn.role is Role.USER)
    return most if most and named[most] and named[most] * _CENTRAL >= users else USER


_WORD = re.compile(r"[^\W_][\w'-]{2,30}")
_BEFORE = re.compile(r"(?P<last>[\w']+) $")
_NEXT = re.compile(r" ([a-z]+)")
_OF_NOUNS = listed(
    "a an the my our your his her their this these some any no of for with about in at from new old two three"
)
_WHO_ACT = listed("i we you they he she who can will would could should did does do don't didn't please")


def _kinds(likely: list[str], turns: Sequence[Turn], named: set[str]) -> dict[str, float]:
    """How telling each term is: names and nouns are, verbs and adverbs say little of what a talk is about."""
    kinds = dict.fromkeys(likely, 0.0)
    wanted = {term[:2] for term in likely}
    known: dict[str, list[str]] = {}
    for turn in turns:
        text = _read(turn)
        for found in _WORD.finditer(text):
            word = found.group()
            if word[:2].lower() not in wanted:
                continue
            if word not in known:
                has = terms(word)
                known[word] = [term for term in likely if term in has]
            for term in known[word]:
                if kinds[term] < _NAME:
                    kinds[term] = max(kinds[term], _kind(word, text, found.start(), named))
    return kinds


def _kind(word: str, text: str, start: int, named: set[str]) -> float:
    low = word.lower().removesuffix("'s")
    before = _BEFORE.search(text, max(0, start - 16), start)
    if low in named or (word[0].isupper() and before is not None):
        return _NAME
    after = _NEXT.match(text, start + len(word))
    if word[0].isupper() and after and is_finite(after[1]) and not _acts(low):
        return _NAME
    if before is not None and before["last"].lower() in _OF_NOUNS:
        return _NOUN
    done = before is not None and (
        before["last"].lower() in _WHO_ACT or (before["last"] == "to" and after and after[1] in _OF_NOUNS)
    )
    return _OTHER if done or _acts(low) or low.endswith("ly") else 1.0


def _acts(low: str) -> bool:
    """Whether a word is, as far as is known, a form of a verb."""
    return low in BASE or low in ING or low in PARTICIPLE or is_finite(low)


def _written(ranked: list[str], turns: Sequence[Turn], kinds: dict[str, float]) -> list[str]:
    """Each term as it was first written; the first word of a turn without its capital, unless a name."""
    forms: dict[str, str] = {}
    begins = {term[:2] for term in ranked}
    for turn in turns:
        for found in _WORD.finditer(_read(turn)):
            word = found.group()
            if word[:2].lower() not in begins:
                continue
            for term in ranked:
                if term not in forms and word[:2].lower() == term[:2] and term in terms(word):
                    first = found.start() == 0 and kinds[term] < _NAME
                    forms[term] = word.lower() if first else word.removesuffix("'s")
        if len(forms) == len(ranked):
            break
    return [forms.get(term, term) for term in ranked]
