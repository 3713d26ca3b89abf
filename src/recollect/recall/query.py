"""What to search for, worked out from a question by rules."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Literal, NamedTuple

from recollect.recall.statement import IRREGULAR, statement
from recollect.text.analyse import REQUEST_WORDS, STOP_WORDS, query_words
from recollect.text.sentences import sentences
from recollect.text.times import TimePhrase, time_phrases

SHORT = 20
"""A question of no more characters leans on what was said before it, unless it names its subject."""
LOOK_BACK = 3
"""How many of the user's last messages it may lean on."""
TERMS_EACH = 6
"""How many key terms are taken from each of them."""
LONG_PROMPT = 200
"""From this many characters on, the sentences of a first prompt are searched one by one."""
MOST_SENTENCES = 8
LOOKED_AT = 8_000
"""How much of a prompt is read for times, events and questions."""


class TimeHint(NamedTuple):
    """A time that the question names, from `since` up to `until`; None is open."""

    since: datetime | None
    until: datetime | None
    phrase: str
    kind: Literal["said", "happened"]
    """What was *said* then was recorded then: a filter. What *happened* then may have been told later: a
    reason to prefer, no more."""
    soft: bool = False
    """Without bounds, such as "recently"."""


class Anchor(NamedTuple):
    """A time that the question gives by an event: "since", "I moved to Berlin"."""

    relation: Literal["since", "after", "before", "until", "when", "while", "during"]
    event: str
    phrase: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryPlan:
    query: str
    """As it was asked, and as it is reported."""
    text: str
    """What is searched: the query, with key terms of the conversation if it does not stand alone."""
    self_contained: bool
    added: tuple[str, ...] = ()
    statement: str | None = None
    """The question as the beginning of its answer."""
    preference: str | None = None
    """What somebody would say who likes what advice is asked about."""
    sentences: tuple[str, ...] = ()
    """The parts of a long first prompt that are worth a search of their own."""
    times: tuple[TimeHint, ...] = ()
    anchor: Anchor | None = None
    only_times: bool = False
    """Whether it asks for a time and nothing else: "what did I say last week?"."""

    @property
    def searches(self) -> tuple[str, ...]:
        """Every text to search by, the most important first."""
        texts = (self.text, *([self.statement] if self.statement else []), *self.sentences)
        return tuple(dict.fromkeys(texts))


def plan(query: str, *, history: Sequence[str] = (), now: datetime, zone: tzinfo = UTC) -> QueryPlan:
    """What to search for. `history` is what the user said before in this conversation, oldest first;
    `now` is when the question is asked, in the user's `zone`."""
    alone = is_self_contained(query)
    added = () if alone else key_terms(history, besides=query)
    read = query[:LOOKED_AT]
    phrases = time_phrases(read, now, zone, forward=_FUTURE.search(read) is not None)
    return QueryPlan(
        query=query,
        text=" ".join((query.strip(), *added)) if added else query,
        self_contained=alone,
        added=added,
        statement=_statement(read, phrases),
        preference=_preference(read),
        sentences=() if history else _worth_a_search(query),
        times=tuple(_hint(read, phrase) for phrase in phrases),
        anchor=_anchor(read, phrases),
        only_times=bool(phrases) and not added and not _subject(read, phrases),
    )


_VAGUE = re.compile(
    r"\b(?:how (?:much|many|about|so|come)|what (?:about|else|if)|and (?:that|this|then|the)|(?:this|that|"
    r"the) "
    r"(?:one|other|same)|why not|which one|it|that|this|those|these|them|they|he|she|him|her|there|then)\b",
    re.IGNORECASE,
)
_PARTICULAR = re.compile(r"\d|(?<=\S )[A-Z]|^[A-Z]{2,}\b")
_TIME_WORDS = frozenset(
    ("last", "next", "week", "weekend", "month", "year", "day", "today", "tomorrow", "tonight", "yesterday")
)
_AMOUNT = re.compile(r"how (?:much|many)\b", re.IGNORECASE)  # the thing itself is one more word
_FILLERS = STOP_WORDS | frozenset(
    re.findall(
        r"\w+",
        "much many one ones else other same please thanks thank ok okay yes no not tell know think want "
        "need like "
        "really very also now get got go let lets s t re ve ll hi hello hey maybe well more most again still "
        "cost costs mean means",
    )
)
VAGUE_TERMS = 2
"""A vague question with more words of its own than these says enough."""


def is_self_contained(query: str) -> bool:
    """Whether it can be understood without what was said before it."""
    text = query.strip()
    if len(text) <= SHORT:
        return _VAGUE.search(text) is None and _says_enough(text)
    if _VAGUE.search(text[:LOOKED_AT]) is None:
        return True
    return len(_content(text[:LOOKED_AT])) > (1 if _AMOUNT.match(text) else VAGUE_TERMS)


def _says_enough(text: str) -> bool:
    """Whether a short question names what it is about: by two words of its own, a name or a code."""
    content = [word for word in _content(text) if word not in _TIME_WORDS]
    return bool(content) and (len(content) > 1 or _PARTICULAR.search(text) is not None)


def key_terms(history: Sequence[str], *, besides: str) -> tuple[str, ...]:
    """The words of the last messages that say what they are about, newest message first."""
    known = set(_content(besides))
    found: list[str] = []
    for message in reversed(history[-LOOK_BACK:]):
        new = [term for term in _content(message[:LOOKED_AT]) if term not in known][:TERMS_EACH]
        known.update(new)
        found += new
    return tuple(found)


def _content(text: str) -> list[str]:
    return [term for term in query_words(text) if term not in _FILLERS]


_TALKING = frozenset(
    re.findall(
        r"\w+",
        "say said saying tell told mention mentioned discuss discussed discussing talk talked talking spoke "
        "speak chat chatted ask asked bring brought write wrote conversation conversations discussion "
        "discussions chats happen happened happening remember recall remind thing things anything everything "
        "something",
    )
)


def _subject(text: str, phrases: Sequence[TimePhrase]) -> list[str]:
    """What a question is about beside the times it names."""
    return [term for term in _content(_without(text, phrases)) if term not in _TALKING]


def _without(text: str, phrases: Iterable[TimePhrase]) -> str:
    for phrase in sorted(phrases, key=lambda phrase: -phrase.start):
        text = f"{text[: phrase.start].rstrip()} {text[phrase.stop :].lstrip()}"
    return text


def _worth_a_search(prompt: str) -> tuple[str, ...]:
    """The sentences of a long prompt that have something to search by; of too many, questions and what
    is said of oneself first."""
    if len(prompt) <= LONG_PROMPT:
        return ()
    told = [sentence for sentence in dict.fromkeys(sentences(prompt)) if len(_content(sentence)) >= 2]
    if len(told) < 2:
        return ()
    best = sorted(range(len(told)), key=lambda i: (-_promise(told[i]), i))[:MOST_SENTENCES]
    return tuple(told[i] for i in sorted(best))


def _promise(sentence: str) -> int:
    return 2 * sentence.endswith(("?", "？")) + bool(_FIRST_PERSON.search(sentence))


_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|we|us|our)\b", re.IGNORECASE)
_FUTURE = re.compile(
    r"\b(?:will|shall|going to|gonna|upcoming|coming up|due|scheduled|planned|planning|plans? for|"
    r"(?:am i|are we|is \w+) \w+ing|have to|need to|must|should|supposed to|later)\b|\w'll\b",
    re.IGNORECASE,
)


def _statement(text: str, phrases: Iterable[TimePhrase]) -> str | None:
    """Of the last question: in a prompt that tells something first, that is the one to be answered. When
    something was is left out, since nobody says "last week" of what they are doing."""
    text = _without(text, phrases)
    asked = [sentence for sentence in sentences(text) if sentence.rstrip().endswith("?")] or [text]
    return statement(asked[-1].replace(" ?", "?"))


_ADVICE = re.compile(
    r"\b(?:recommend(?:ations?)?|suggest(?:ions?)?|advi[cs]e|tips|ideas|what should (?:i|we)|which \w+ should"
    r" (?:i|we)|help me (?:choose|pick|decide|find))\b",
    re.IGNORECASE,
)


def _preference(text: str) -> str | None:
    topic = " ".join(w for w in _content(text) if w not in REQUEST_WORDS) if _ADVICE.search(text) else ""
    return f"I like {topic}. I love my {topic}." if topic else None


_SAYING = re.compile(
    r"\b(?:i|we|you)\b (?:\w+ ){0,2}?(?:say|said|mention(?:ed)?|discuss(?:ed)?|talk(?:ed|ing)?|spoke|"
    r"speak(?:ing)?|"
    r"chat(?:ted|ting)?|bring up|brought up|(?:tell|told|ask(?:ed)?) (?:you|me)\b|ask(?:ed)?|suggest(?:ed)?|"
    r"recommend(?:ed)?|wr[io]te (?:you|me)|decided? (?:here|together))\b(?! (?:my|his|her|the|him|them|"
    r"us)\b)",
    re.IGNORECASE,
)
_MODAL = re.compile(r"\b(?:can|could|should|would|will|shall|may|might|please)\s*$", re.IGNORECASE)
_OTHER_SUBJECT = re.compile(r"\b(?:i|we|he|she|they|it|that|who|which|where|when)\b", re.IGNORECASE)
_OPENING = re.compile(r"(?:^|[.?!\n])\s{0,3}(?:(?:so|and|but|ok|hi|hey)\b,? ?){0,2}$", re.IGNORECASE)
_SUBJECT_ONLY = re.compile(r"[\s,]*(?:(?:did|have|had|were|what|which|when) ){0,2}$", re.IGNORECASE)


def _hint(text: str, phrase: TimePhrase) -> TimeHint:
    said = any(
        _belongs(text, verb, phrase)
        for verb in _SAYING.finditer(text)
        if not _MODAL.search(text[: verb.start()])
    )
    return TimeHint(phrase.since, phrase.until, phrase.phrase, "said" if said else "happened", phrase.soft)


def _belongs(text: str, verb: re.Match[str], phrase: TimePhrase) -> bool:
    """Whether the time is that of the saying: "what did I say last week", but not "what did I say I bought
    last week"."""
    if verb.end() <= phrase.start:
        between = text[verb.end() : phrase.start]
        return (
            len(between) < 100 and not re.search(r"[.?!]\s", between) and not _OTHER_SUBJECT.search(between)
        )
    opens = _OPENING.search(text[max(0, phrase.start - 20) : phrase.start]) is not None
    return opens and _SUBJECT_ONLY.fullmatch(text, phrase.stop, verb.start()) is not None


_PAST_VERB = rf"(?:{'|'.join(sorted(set(IRREGULAR.values()) | {'were'}))}|\w{{2,20}}ed|first|last)"
_SUBJECT = r"(?:i|we|he|she|they|you|(?:my|our|the|his|her|their) \w{1,30}|[A-Z]\w{1,30})"
_END = r"(?=\s(?:what|which|who|how|where|did|do|does|have|has|can|could|is|are)\b|[,.;?!\n]|$)"
_EVENT = re.compile(
    rf"\b(?P<relation>since|after|before|until|during)\s(?P<event>(?:(?:i|we|he|she|they|you|my|our|the|"
    rf"his|her|"
    rf"their)\b|[a-z]{{2,20}}ing\b|[A-Z]\w{{1,30}}'s\b)[^,.;?!\n]{{2,80}}?){_END}"
    rf"|(?<!know )(?<!remember )(?<!me )(?<!asking )\b(?P<point>when|while)\s"
    rf"(?P<clause>(?i:{_SUBJECT}) (?i:(?:just |only |still )?{_PAST_VERB})\b[^,.;?!\n]{{0,80}}?){_END}",
)
_RELATION = re.compile(r"\b(?:Since|After|Before|Until|During|When|While|I|We|My|Our|The)\b")


def _anchor(text: str, phrases: Sequence[TimePhrase]) -> Anchor | None:
    """The first event that a time is given by and that is not a time itself."""
    # Only the words of the pattern lose their capitals: those of a name tell that it is one.
    lowered = _RELATION.sub(lambda found: found.group().lower(), text)
    for found in _EVENT.finditer(lowered):
        if any(phrase.start < found.end() and found.start() < phrase.stop for phrase in phrases):
            continue
        which = "event" if found["relation"] else "clause"
        start, stop = found.span(which)
        relation = found["relation"] or found["point"]
        return Anchor(relation, text[start:stop].strip(), text[found.start() : stop].strip())  # pyright: ignore[reportArgumentType]
    return None
