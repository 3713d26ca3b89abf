"""What in a turn its speaker states, cut into clauses: without code, quotes and pasted text, without
questions and suppositions."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from recollect.mine.rules import markers as m
from recollect.mine.rules.clauses import JOINT, shared, turned, with_subject
from recollect.mine.rules.pasted import own_words
from recollect.mine.rules.unmeant import is_figure, is_unmeant, puzzles
from recollect.text.sentences import sentences

TEXT_LIMIT = 12_000
"""How much of a turn is read: beyond it there is pasted text, not talk."""
SENTENCES_LIMIT = 120
LENGTH_LIMIT = 400


class Clause(NamedTuple):
    text: str
    doubtful: bool = False
    corrects: bool = False
    asked: bool = False
    """It stands in a question or a supposition: it tells of people at most, not of what is so."""


class Sentence(NamedTuple):
    clauses: tuple[Clause, ...]
    quotes: tuple[str, ...]

    def unmasked(self, text: str) -> str:
        """With what was quoted put back."""
        for number, quote in enumerate(self.quotes):
            text = text.replace(chr(_MASK + number), quote)
        return text.replace(_DOT, ".")

    def is_masked(self, text: str) -> bool:
        return _PRIVATE.search(text) is not None


_MASK = 0xE000
_MASKS = 64
_DOT = "\ue0ff"
_PRIVATE = re.compile("[\ue000-\ue0ff]")
_QUOTED = re.compile(r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|(?<![\w])'[^'\n]{2,400}'(?!\w)|`[^`\n]{1,400}`")
_FIRST = re.compile(r"\b(?:I|i|[Mm]y|[Ww]e|[Oo]ur|me|[Ii]'m)\b")
_ABBREVIATED = re.compile(r"\b(Mr|Mrs|Ms|Dr|Prof|St|vs|e\.g|i\.e|approx|Jr|Sr|Inc|Ltd|[A-Z](?=\.\s?[A-Z]))\.")
_SLIPS = (
    ("i", re.compile(r"\bi(?=['\s,])(?!\.e)"), "I"),
    ("m ", re.compile(r"\b[Ii]m\b(?=\s)"), "I'm"),
    ("ve ", re.compile(r"\b[Ii]ve\b(?=\s)"), "I've"),
    ("id ", re.compile(r"\bid (?=probably|love|like|rather|be\b)"), "I'd "),
    (
        "nt ",
        re.compile(
            r"\b([Dd]o|[Dd]oes|[Dd]id|[Cc]a|[Ii]s|[Aa]re|[Ww]o|[Hh]ave|[Hh]as|[Ww]as|[Cc]ould|[Ww]ould)nt\b"
        ),
        r"\1n't",
    ),
    ("onna ", re.compile(r"\b([Gg])onna\b"), r"\1oing to"),
    ("anna ", re.compile(r"\b([Ww])anna\b"), r"\1ant to"),
    ("otta ", re.compile(r"\b[Gg]otta\b"), r"have to"),
    ("hats ", re.compile(r"\b([Tt])hats\b"), r"\1hat's"),
    ("cannot", re.compile(r"\bcannot\b"), "can't"),
    ("I am ", re.compile(r"\bI am\b"), "I'm"),
)
"""What is typed in haste, each with letters without which it need not be looked for."""
_KIN_IN_COMMAS = re.compile(r"\b([Mm]y|[Oo]ur) ([a-z-]+), ((?:Dr |Mrs? |Ms )?[A-Z][\w'-]+),")
_ASIDE = re.compile(r"\s*\(([^()]{8,200})\)")

_COLON = re.compile(
    r"[^:]{0,60}\b(?:plan|update|context|background|situation|know|remember|me|myself|anyway|facts?|note|"
    r"resolution|goal|news|character|reason): "
    r"(?=(?:I|my|we|our)\b)",
    re.IGNORECASE,
)
_WRONG = re.compile(
    r"\b(?:that|this|it)(?:'s| is| was) (?:wrong|not right|not correct|incorrect|not true)\b", re.IGNORECASE
)
_NO_VERB = re.compile(r"(?:[Mm]y|[Oo]ur) [a-z-]+(?: [A-Z][\w-]+)?")
_GIVEN = re.compile(
    r"(?:[Ss]ince|[Aa]s|[Bb]ecause|[Gg]iven that|[Nn]ow that|[Cc]onsidering) (?P<what>(?:I|my|we|our|I'm|"
    r"I've|we're)\b[^,]{4,120}), "
)
_STARTS = re.compile(r"(?:I|[Mm]y|[Ww]e|[Oo]ur|[Hh]e|[Ss]he|[Hh]is|[Hh]er|[Tt]hey)\b")


class Told(NamedTuple):
    """What was typed in a turn: its sentences, with each quotation as one character."""

    sentences: list[str]
    quotes: tuple[str, ...]


NOTHING = Told([], ())


def read(text: str) -> Told:
    """A turn without code, quotes and pasted text."""
    typed = _typed(text)
    if not typed or m.injects(typed) or puzzles(typed):
        return NOTHING
    masked, quotes = _masked(typed)
    return Told(_sentences(masked)[:SENTENCES_LIMIT], quotes)


def statements(told: Told) -> Iterator[Sentence]:
    """The sentences of a turn in which its speaker states something."""
    for sentence, after in zip(told.sentences, (*told.sentences[1:], ""), strict=False):
        if m.plays(sentence) or m.writes(sentence) or m.hands_over(sentence):
            return  # what follows is played, or to be written, or worked on
        if m.SUPPOSES_ALL.match(sentence) and not m.CONCLUDES.search(sentence):
            return  # what follows is supposed, too
        if (
            not 4 < len(sentence) <= LENGTH_LIMIT
            or is_unmeant(sentence)
            or m.TAKES_BACK.match(after)
            or m.SAID_BY.search(sentence)
            or _speaks_of_another(sentence, told.quotes)
        ):
            continue
        yield Sentence(tuple(_clauses(sentence)), told.quotes)


def plays(text: str) -> bool:
    """Whether a turn begins a play in which nobody speaks for themselves."""
    return m.plays(_straight(text[:TEXT_LIMIT]))


def plays_on(text: str) -> bool:
    """Whether the speaker goes on playing somebody in the turns that follow."""
    return m.plays_on(_straight(text[:TEXT_LIMIT]))


def stops_playing(text: str) -> bool:
    return m.ends_play(_straight(text[:TEXT_LIMIT]))


def _typed(text: str) -> str:
    """What was typed rather than pasted."""
    return own_words(_straight(_PRIVATE.sub("", text[:TEXT_LIMIT])))


def _straight(text: str) -> str:
    return text.replace("’", "'").replace("‘", "'")


def _masked(text: str) -> tuple[str, tuple[str, ...]]:
    """With each quotation as one character, so that nothing in it is taken for the speaker's own words."""
    quotes: list[str] = []

    def mask(match: re.Match[str]) -> str:
        if len(quotes) >= _MASKS:
            return "…"
        quotes.append(match.group())
        return chr(_MASK + len(quotes) - 1)

    return _QUOTED.sub(mask, text) if any(mark in text for mark in "\"“'`") else text, tuple(quotes)


def _sentences(text: str) -> list[str]:
    if "." in text:
        text = _ABBREVIATED.sub(lambda found: found[0].replace(".", _DOT), text)
    for hint, slip, right in _SLIPS:
        if hint in text:
            text = slip.sub(right, text)
    if "," in text:
        text = _KIN_IN_COMMAS.sub(r"\1 \2 \3", text)
    return sentences(text)


def _speaks_of_another(sentence: str, quotes: tuple[str, ...]) -> bool:
    """Whether words of somebody who says "I" are quoted in it."""
    if not quotes:
        return False
    here = [quotes[ord(char) - _MASK] for char in sentence if _MASK <= ord(char) < _MASK + _MASKS]
    return any(_FIRST.search(quote) for quote in here) and (
        m.REPORTS.search(sentence) is not None or ":" in sentence
    )


def _clauses(sentence: str) -> Iterator[Clause]:
    led = m.LEAD.match(sentence)
    start = led.end() if led else 0
    asked = m.ASKS.match(sentence) is not None or m.ASKS.match(sentence, start) is not None
    if sentence.endswith("?") and not asked:
        asked = m.TAG.search(sentence) is not None or not _STARTS.match(sentence, start)
    supposed = m.SUPPOSES.match(sentence, start) is not None
    if inside := m.ASKS_INSIDE.search(sentence):
        if asked:
            yield Clause(sentence, asked=True)
            return
        head = sentence[: inside.start()]
        yield Clause(sentence[inside.start() :].lstrip(" ,"), asked=True)
        sentence = head
    elif sentence.endswith("?") and not asked and not supposed and not _GIVEN.search(sentence):
        *stated, last = _split(sentence)  # "I quit smoking, but the cough got worse?": only the end is asked
        yield from stated
        yield last._replace(asked=True)
        return
    if asked or supposed or sentence.endswith("?"):
        yield Clause(sentence, asked=True)
        if not supposed and (given := _GIVEN.search(sentence)):
            yield from _split(given["what"])
        return
    yield from _split(_ASIDE.sub("", sentence))
    for aside in _ASIDE.finditer(sentence):
        yield from _split(aside[1])


def _split(sentence: str) -> Iterator[Clause]:
    corrects = m.CORRECTS.match(sentence) or m.NOT_BUT.match(sentence)
    for piece in _whole(JOINT.split(turned(m.NOT_BUT.sub(r"\g<what> is \g<new>", sentence)))):
        for part in shared(piece):
            clause = _clause(part.strip(" ,"), corrects is not None)
            if clause is None or is_figure(clause.text):
                continue
            if not clause.text.startswith(("I ", "I'")) and m.REPORTS.search(clause.text):
                wrong = _WRONG.search(sentence) is not None
                yield clause._replace(asked=True, corrects=clause.corrects or wrong)
                return  # the rest is what somebody said
            yield clause


def _whole(pieces: list[str]) -> list[str]:
    """ "My mother" alone says nothing: what comes after belongs to it."""
    for at in range(len(pieces) - 1, 0, -1):
        if _NO_VERB.fullmatch(pieces[at - 1]) and pieces[at].startswith(("my ", "our ")):
            pieces[at - 1 : at + 1] = [f"{pieces[at - 1]} and {pieces[at]}"]
    return pieces


def _clause(text: str, corrects: bool) -> Clause | None:
    if corrects and (marked := m.CORRECTS.match(text)):
        text = text[marked.end() :]
    if led := m.LEAD.match(text):
        text = text[led.end() :]
    if ": " in text and (colon := _COLON.match(text)):
        text = text[colon.end() :]
    doubtful = False
    if hedge := m.HEDGES.match(text):
        text, doubtful = text[hedge.end() :], True
    text = text.rstrip(" .,!…:;")
    if len(text) < 2:
        return None
    asked = m.SUPPOSES.match(text) is not None or m.WITH_IF.search(text) is not None
    return Clause(
        with_subject(text), doubtful or m.HEDGED_INSIDE.search(text, 0, 60) is not None, corrects, asked
    )
