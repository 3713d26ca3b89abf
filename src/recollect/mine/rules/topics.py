"""What a conversation is about, turn by turn: it changes where the words do."""

import re
from collections import Counter
from collections.abc import Sequence

from recollect.mine.extracted import Mention, Topic
from recollect.mine.rules.wordlist import listed
from recollect.model.records import Role, Turn
from recollect.text.analyse import REQUEST_WORDS, STOP_WORDS, stem, words

_READ = 2_000
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


def topics(turns: Sequence[Turn], mentions: Sequence[Mention]) -> tuple[Topic, ...]:
    """The topics of a window, in order; each turn is in one of them."""
    if not turns:
        return ()
    said = [_terms(turn) for turn in turns]
    starts = [0] if len(turns) <= _SHORT else _starts(turns, said)
    ends = [*(start - 1 for start in starts[1:]), len(turns) - 1]
    return tuple(_topic(turns, said, mentions, first, last) for first, last in zip(starts, ends, strict=True))


def _terms(turn: Turn) -> Counter[str]:
    """The telling words of a turn; what a user says counts for more than how it is answered."""
    weight = 3 if turn.role is Role.USER else 1
    counts: Counter[str] = Counter()
    for word in words(turn.content[:_READ]):
        if len(word) > 2 and word not in _IDLE and not word.isdigit():
            counts[stem(word)] = min(counts[stem(word)] + weight, 3 * weight)
    return counts


def _starts(turns: Sequence[Turn], said: list[Counter[str]]) -> list[int]:
    """A topic starts with a user's turn that shares next to nothing with the turns before it."""
    starts = [0]
    for at in range(_LEAST, len(turns) - _LEAST + 1):
        if turns[at].role is not Role.USER or at - starts[-1] < _LEAST:
            continue
        before: Counter[str] = sum(said[max(starts[-1], at - _BACK) : at], Counter[str]())
        if said[at] and _overlap(said[at], before) < _ALIKE and _overlap(said[at + 1], before) < 2 * _ALIKE:
            starts.append(at)
    return starts


def _overlap(these: Counter[str], those: Counter[str]) -> float:
    total = sum(these.values())
    return sum(count for term, count in these.items() if term in those) / total if total else 0.0


def _topic(
    turns: Sequence[Turn], said: list[Counter[str]], mentions: Sequence[Mention], first: int, last: int
) -> Topic:
    inside: Counter[str] = sum(said[first : last + 1], Counter[str]())
    spread = Counter(term for counts in said[first : last + 1] for term in counts)
    ids = {turn.id for turn in turns[first : last + 1]}
    central = max(
        (mention for mention in mentions if ids.intersection(mention.turns)),
        key=lambda mention: len(ids.intersection(mention.turns)),
        default=None,
    )
    ranked = sorted(inside, key=lambda term: (-inside[term] * spread[term], term))
    written = _written(turns[first : last + 1])
    shown = [written[term] for term in ranked if term in written][:_TITLE_WORDS]
    title = ", ".join(dict.fromkeys(shown)) or "Conversation"
    return Topic(
        title=title[0].upper() + title[1:],
        first=turns[first].index,
        last=turns[last].index,
        subject=central.name if central is not None else "",
    )


_WORD = re.compile(r"[^\W_][\w'-]{2,30}")


def _written(turns: Sequence[Turn]) -> dict[str, str]:
    """Each term as it was first written, with a capital where it has one inside a sentence."""
    forms: dict[str, str] = {}
    for turn in turns:
        for found in _WORD.finditer(turn.content[:_READ]):
            word = found.group().removesuffix("'s")
            plain = words(word)
            if len(plain) != 1 or plain[0] in _IDLE:
                continue
            starts = turn.content[max(0, found.start() - 2) : found.start()].strip() in ("", ".", "!", "?")
            form = word.lower() if starts and found.start() == 0 else word
            forms.setdefault(stem(plain[0]), form)
    return forms
