"""What in a turn its speaker states: without code, quotes and pasted text, without questions and suppositions,
cut into clauses that can each be understood with the one before."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from recollect.mine.rules import markers as m
from recollect.mine.rules.verbs import ALIKE, BASE, ING, PAST
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


_MASK = 0xE000
_MASKS = 64
_DOT = "\ue0ff"
_PRIVATE = re.compile("[\ue000-\ue0ff]")
_QUOTED = re.compile(r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|(?<![\w])'[^'\n]{2,400}'(?!\w)|`[^`\n]{1,400}`")
_FIRST = re.compile(r"\b(?:I|i|[Mm]y|[Ww]e|[Oo]ur|me|[Ii]'m)\b")
_ABBREVIATED = re.compile(r"\b(Mr|Mrs|Ms|Dr|Prof|St|vs|e\.g|i\.e|approx|Jr|Sr|No|Inc|Ltd)\.")
_SPACES = re.compile(r"[^\S\n]+")
_LINE_OF_CODE = re.compile(r"\s*(?:>|\||#!|\$ |at \w+\.|Traceback|File \"|[{}\[\]]|(?:def|class|import|return|var|const) )")
_BULLET = re.compile(r"\s*(?:[-*•]|\d{1,2}[.)])\s+")
_SLIPS = (
    (re.compile(r"\bi(?=['\s,])(?!\.e)"), "I"),
    (re.compile(r"\b[Ii]m\b(?=\s)"), "I'm"),
    (re.compile(r"\b[Ii]ve\b(?=\s)"), "I've"),
    (re.compile(r"\bid (?=probably|love|like|rather|be\b)"), "I'd "),
    (re.compile(r"\b([Dd]o|[Dd]oes|[Dd]id|[Cc]a|[Ii]s|[Aa]re|[Ww]o|[Hh]ave|[Hh]as|[Ww]as|[Cc]ould|[Ww]ould)nt\b"), r"\1n't"),
    (re.compile(r"\b([Gg])onna\b"), r"\1oing to"),
    (re.compile(r"\b([Gg])otta\b"), r"have to"),
    (re.compile(r"\b([Tt])hats\b"), r"\1hat's"),
    (re.compile(r"\bcannot\b"), "can't"),
    (re.compile(r"\bI am\b"), "I'm"),
)  # fmt: skip
_KIN_IN_COMMAS = re.compile(r"\b([Mm]y|[Oo]ur) ([a-z-]+), ((?:Dr |Mrs? |Ms )?[A-Z][\w'-]+),")
_ASIDE = re.compile(r"\s*\(([^()]{8,200})\)")

_JOINT = re.compile(
    r"\s*;\s+|\s+(?:—|–|--|-)\s+|\.\.\.\s+"
    r"|,?\s+(?:but|yet)\s+(?!not\b|only\b|also\b|rather\b)"
    r"|,?\s+(?:and then|and so|and now|and also|and|so|plus|then)\s+"
    r"(?=(?:I|my|we|our|she|he|his|her|they|it)\b(?! and I\b)|(?:I|we|she|he|it|they)')"
    r"|,?\s+(?:because|since|although|though|even though|whereas|whilst|while|which is why)\s+"
    r"(?=(?:I|my|we|our|he|she|they|it|the)\b)"
    r"|,\s+(?=(?:I|my|we|our|she|he|his|her)\b|(?:I|we|she|he)'|never )"
    r"|,\s+(?:and|but|so|then)\s+(?=(?:no|please|now)\b)|\s+(?=I mean\b)"
)
_AND_VERB = re.compile(r",? and (?:then )?(?:also )?(?:just )?([a-z]+)\b")
_STARTS = re.compile(r"(?:I|[Mm]y|[Ww]e|[Oo]ur|[Hh]e|[Ss]he|[Hh]is|[Hh]er|[Tt]hey)\b")
_SPEAKER = re.compile(r"(?:[^,]{1,40}, )?(?:I|[Mm]y|[Ww]e|[Oo]ur)\b")
_ELLIPTIC = re.compile(r"(?:(?:[Jj]ust|[Ff]inally|[Rr]ecently|[Aa]lready) )?([A-Za-z]+) ")
_COPULA = frozenset("am is are was were".split())


def statements(text: str) -> Iterator[Sentence]:
    """The sentences of a turn in which its speaker states something."""
    told = _told(text)
    if not told or m.INJECTED.search(told):
        return
    masked, quotes = _masked(told)
    for number, sentence in enumerate(_sentences(masked)):
        if number >= SENTENCES_LIMIT or m.PLAYED.search(sentence):
            return
        if m.WRITES.search(sentence):
            return  # what follows is what is to be written
        if not 4 < len(sentence) <= LENGTH_LIMIT or _mocks(sentence) or _speaks_of_another(sentence, quotes):
            continue
        yield Sentence(tuple(_clauses(sentence)), quotes)


def plays(text: str) -> bool:
    """Whether a turn begins a play in which nobody speaks for themselves."""
    return m.PLAYED.search(text, 0, TEXT_LIMIT) is not None


def stops_playing(text: str) -> bool:
    return m.PLAYED_OUT.search(text, 0, TEXT_LIMIT) is not None


def _told(text: str) -> str:
    """What was typed rather than pasted."""
    text = _PRIVATE.sub("", text[:TEXT_LIMIT]).replace("’", "'").replace("‘", "'")
    if "```" in text:
        text = "".join(text.split("```")[::2])
    kept: list[str] = []
    for line in text.split("\n"):
        if m.PASTED.match(line):
            break
        if _LINE_OF_CODE.match(line):
            continue
        bullet = _BULLET.match(line)
        kept.append(_SPACES.sub(" ", line[bullet.end() :] if bullet else line).strip())
        if m.WORKED_ON.search(line) and ("\n" in text or ":" in line):
            colon = kept[-1].find(":")
            kept[-1] = kept[-1] if colon < 0 else kept[-1][:colon]
            break
    return "\n".join(kept)


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
    for slip, right in _SLIPS:
        text = slip.sub(right, text)
    if "," in text:
        text = _KIN_IN_COMMAS.sub(r"\1 \2 \3", text)
    return sentences(text)


def _mocks(sentence: str) -> bool:
    low = sentence.lower()
    return any(word in low for word in m.MOCKED_WORDS) and m.MOCKED.search(sentence) is not None


def _speaks_of_another(sentence: str, quotes: tuple[str, ...]) -> bool:
    """Whether words of somebody who says "I" are quoted in it."""
    here = [quotes[ord(char) - _MASK] for char in sentence if _MASK <= ord(char) < _MASK + _MASKS]
    return any(_FIRST.search(quote) for quote in here) and (m.REPORTS.search(sentence) is not None or ":" in sentence)


def _clauses(sentence: str) -> Iterator[Clause]:
    asked = False
    if sentence.endswith("?"):
        if m.TAG.search(sentence):
            asked = True
        elif not _STARTS.match(m.LEAD.sub("", sentence, count=1)):
            asked = True
    asked = asked or m.ASKS.match(sentence) is not None
    supposed = m.SUPPOSES.match(m.LEAD.sub("", sentence, count=1)) is not None
    if inside := m.ASKS_INSIDE.search(sentence):
        if asked:
            yield Clause(sentence, asked=True)
            return
        head = sentence[: inside.start()]
        yield Clause(sentence[inside.start() :].lstrip(" ,"), asked=True)
        sentence = head
    elif asked or sentence.endswith("?") or supposed:
        yield Clause(sentence, asked=True)
        return
    if supposed:
        yield Clause(sentence, asked=True)
        return
    for aside in _ASIDE.finditer(sentence):
        yield from _split(aside[1])
    yield from _split(_ASIDE.sub("", sentence))


def _split(sentence: str) -> Iterator[Clause]:
    corrects = m.CORRECTS.match(sentence)
    subject = ""
    for piece in _JOINT.split(sentence):
        for part in _shared(piece):
            clause = _clause(part.strip(" ,"), corrects is not None)
            if clause is None:
                continue
            if subject and clause.text[:6].lower() == "never ":
                clause = clause._replace(text=f"I've {clause.text}")
            subject = clause.text
            if m.REPORTS.search(clause.text) and not clause.text.startswith(("I ", "I'")):
                return  # the rest is what somebody said
            yield clause


def _clause(text: str, corrects: bool) -> Clause | None:
    if corrects and (marked := m.CORRECTS.match(text)):
        text = text[marked.end() :]
    if led := m.LEAD.match(text):
        text = text[led.end() :]
    doubtful = False
    if hedge := m.HEDGES.match(text):
        text, doubtful = text[hedge.end() :], True
    text = text.rstrip(" .,!…:;")
    if len(text) < 3:
        return None
    asked = m.SUPPOSES.match(text) is not None or m.WITH_IF.search(text) is not None
    return Clause(_with_subject(text), doubtful or m.HEDGED_INSIDE.search(text) is not None, corrects, asked)


def _with_subject(text: str) -> str:
    """ "Booked the ferry" is said of oneself."""
    if text[:6].lower() == "never ":
        return f"I've n{text[1:]}"
    first = _ELLIPTIC.match(text)
    if first is None or text[: first.end()].lower() in ("based ", "used ", "set ", "related ", "given "):
        return text
    verb = first[1].lower()
    if (verb in PAST and verb not in ALIKE and verb not in _COPULA) or verb == "need":
        return f"I {text[0].lower()}{text[1:]}"
    if verb in ING and first.start(1) == 0 and verb in ("starting", "moving", "flying", "going", "leaving"):
        return f"I'm {text[0].lower()}{text[1:]}"
    return text


def _shared(piece: str) -> list[str]:
    """ "I live in Rome and work at Fiat" is two clauses with one subject."""
    if not piece.startswith(("I ", "we ", "We ")) or " and " not in piece:
        return [piece]
    subject, _, rest = piece.partition(" ")
    verb = rest.split(" ", 1)[0].lower()
    forms = BASE if verb in BASE and verb not in ("have", "do") else PAST if verb in PAST and verb != "was" else None
    if forms is None:
        return [piece]
    parts: list[str] = []
    start = 0
    for match in _AND_VERB.finditer(piece):
        if match[1] in forms and " to " not in piece[: match.start()][-40:] and match.start() > start:
            parts.append(piece[start : match.start()] if start == 0 else f"{subject} {piece[start : match.start()]}")
            start = match.start(1)
    parts.append(piece[start:] if start == 0 else f"{subject} {piece[start:]}")
    return parts
