"""What a language model finds in a window of turns, in one call.

An answer that does not fit the schema is sent back once and then refused; of one that fits, whatever cites
no turn or tells what was not said is left out. What only an assistant, a system or a tool said is never more
than inferred, corrects nothing and replaces nothing.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, tzinfo
from typing import Any, TypeVar, get_args

from recollect.errors import ModelError
from recollect.mine.extracted import (
    USER,
    Bond,
    Certainty,
    Claim,
    Extraction,
    Mention,
    Topic,
    Window,
)
from recollect.mine.grounding import Ground
from recollect.mine.prompts import EXTRACT, EXTRACT_SCHEMA, asked, shown, shown_before
from recollect.mine.vocabulary import DENIAL, FACT_KINDS, MENTION_TYPES, Kind
from recollect.model.records import MemoryRecord, Role, Tense, Turn
from recollect.ports.language_model import LanguageModel, Tokens, prompt
from recollect.ports.structured import structured
from recollect.text.analyse import query_terms
from recollect.text.days import DAY, midnight, read_day, zone_named

T = TypeVar("T")
Item = Mapping[str, Any]

TOKENS_BASE = 1000
TOKENS_TURN = 300
MAX_TOKENS = 8000
"""The answer may have so many tokens, and so many more for each turn, up to the most."""

MOST_CONTENT = 1000
MOST_TEXT = 500
MOST_NAME = 100
MOST_LISTED = 20
"""The most characters of a claim's content, of a text beside it, of a name; and the most of a list."""

CERTAINTIES: dict[str, Certainty] = {certainty: certainty for certainty in get_args(Certainty)}
_TRUSTED = (Role.USER, Role.NOTE)
_HEARSAY = (Role.TOOL, Role.SYSTEM)
_SELF = frozenset(("i", "me", "my", "myself", "user", "the user", "user's", "speaker", "the speaker"))
_ORDER = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instructions?|rules?|prompts?|memor(?:y|ies)|said)\b"
    r"|\b(?:system prompt|jailbreak)\b",
    re.IGNORECASE,
)


def extract(
    model: LanguageModel,
    window: Window,
    known: Sequence[MemoryRecord] = (),
    *,
    within: float | None = None,
    max_tokens: int = MAX_TOKENS,
) -> tuple[Extraction, Tokens]:
    """What the model found in the window, and what it took. `known` are memories that the turns may replace.
    `ModelError` when there is no usable answer, and nothing else whatever the model does."""
    if not window.turns:
        return Extraction(way=model.name), Tokens()
    try:
        return structured(
            model,
            prompt(EXTRACT, asked(window, known)),
            EXTRACT_SCHEMA,
            lambda answer: _Reader(window, known).extraction(answer, model.name),
            source="memory_extract",
            max_tokens=min(max_tokens, TOKENS_BASE + TOKENS_TURN * len(window.turns)),
            within=within,
        )
    except ModelError:
        raise
    except Exception as error:  # a model of somebody else's may raise anything
        raise ModelError(f"{model.name} failed with {type(error).__name__} (memory_extract).") from error


class _Reader:
    """Reads an answer that fits the schema: each item as what it stands for, or not at all."""

    def __init__(self, window: Window, known: Sequence[MemoryRecord]) -> None:
        self._turns = window.turns
        self._known = known
        here = [*zip(window.turns, shown(window), strict=True)]
        said = [*here, *zip(window.before, shown_before(window), strict=True)]
        self._said = {turn.id: _told(text) for turn, text in here}
        self._remembered = [_told(memory.content) for memory in known]
        texts = [window.conversation.title or "", *(memory.content for memory in known)]
        self._ground = Ground(said, texts)
        self._people = self._ground  # without what tools and systems say, where they say anything
        if any(turn.role in _HEARSAY for turn, _ in said):
            self._people = Ground([pair for pair in said if pair[0].role not in _HEARSAY], texts)

    def extraction(self, answer: Item, way: str) -> Extraction:
        claims = _read(self._claim, answer["facts"])
        return Extraction(
            claims=tuple({claim.content.casefold(): claim for claim in reversed(claims)}.values())[::-1],
            bonds=_once(_read(self._bond, answer["relations"])),
            mentions=_once(_read(self._mention, answer["entities"])),
            topics=_once(_read(self._topic, answer["topics"])),
            way=way,
        )

    def _claim(self, item: Item) -> Claim | None:
        content = _clean(item["content"], MOST_CONTENT)
        cited = self._said_by(content, self._cited(item))
        subject = _name(item["subject"]) or USER
        if not cited or not content or not self._named(subject):
            return None
        kind = FACT_KINDS.get(_word(item["type"]), "fact")
        attribute, value = _clean(item["attribute"], MOST_NAME), _clean(item["value"], MOST_TEXT)
        fields = _fields(kind, item)
        days = _days(item)
        texts = (value, *_texts_of(fields))

        def held(ground: Ground) -> bool:
            resolved = [day for day in days if day is not None]
            return ground.holds(content, resolved) and all(
                ground.holds(text, resolved, also=content) for text in texts
            )

        first_hand = any(turn.role in _TRUSTED for turn in cited) and held(self._people)
        if not held(self._ground) or self._echoes(content, cited):
            return None
        if not first_hand and _ORDER.search(content):
            return None
        tense = _tense(item["tense"])
        since, until = _stretch(days, _zone(cited))
        if tense is Tense.CURRENT and until is not None and until <= cited[-1].at + DAY:
            until = None  # the day it was said, written down for want of another
        marks = {_word(mark) for mark in item["marks"]}
        if "denies" in marks and not DENIAL.search(content):
            marks.discard("denies")  # nothing in it says no: which of the two holds is anybody's guess
            attribute = value = ""
        return Claim(
            content=content,
            turns=tuple(turn.id for turn in cited),
            kind=kind,
            certainty=_certainty(item["certainty"], first_hand),
            tense=tense,
            since=since,
            until=until,
            subject=subject,
            attribute=attribute,
            value=value,
            single="single" in marks and bool(attribute),
            denies="denies" in marks,
            corrects="corrects" in marks and first_hand,
            replaces=self._replaced(item["replaces"], content, cited) if first_hand else (),
            preference="preference" in marks and first_hand,
            about=self._names(item["about"], (USER, subject)),
            fields=fields,
        )

    def _bond(self, item: Item) -> Bond | None:
        cited, source, target = self._cited(item), _name(item["source"]), _name(item["target"])
        if not cited or not self._named(source) or not self._named(target) or source == target:
            return None
        since, until = _stretch(_days(item), _zone(cited))
        first_hand = any(turn.role in _TRUSTED for turn in cited)
        return Bond(
            source=source,
            type=re.sub(r"\W+", "_", _clean(item["type"], MOST_NAME)).strip("_").upper() or "RELATED_TO",
            target=target,
            turns=tuple(turn.id for turn in cited),
            since=since,
            until=until,
            single=item["single"],
            ended=item["ended"] and first_hand,
            certainty=_certainty(item["certainty"], first_hand),
        )

    def _mention(self, item: Item) -> Mention | None:
        cited, name = self._cited(item), _name(item["name"])
        if not cited or not self._named(name):
            return None
        description = _clean(item["description"], MOST_TEXT)
        properties = {
            _clean(pair["name"], MOST_NAME): _clean(pair["value"], MOST_TEXT)
            for pair in item["properties"][:MOST_LISTED]
        }
        mention = Mention(
            name=name,
            type=MENTION_TYPES.get(_word(item["type"]), "item"),
            turns=tuple(turn.id for turn in cited),
            aliases=self._names(item["aliases"], (USER, name)),
            description=description if self._describes(name, description) else "",
            properties={
                named: value
                for named, value in properties.items()
                if named and value and self._ground.holds(f"{named}: {value}")
            },
        )
        bare = not (mention.aliases or mention.description or mention.properties)
        return None if name == USER and bare else mention

    def _describes(self, name: str, description: str) -> bool:
        return self._ground.holds(description, also=name) and not _ORDER.search(description)

    def _topic(self, item: Item) -> Topic | None:
        first: int = item["first_turn"]
        last: int = item["last_turn"]
        title = _clean(item["title"], MOST_NAME)
        # Titles are written with capitals by some, so only their numbers are looked at.
        if not title or not 1 <= first <= last <= len(self._turns) or not self._ground.holds(title.lower()):
            return None
        subject = _name(item["subject"])
        return Topic(
            title=title,
            first=self._turns[first - 1].index,
            last=self._turns[last - 1].index,
            subject=subject if self._named(subject) else "",
        )

    def _cited(self, item: Item) -> list[Turn]:
        """The turns that an item cites; none when it cites one that there is not."""
        numbers = sorted({*item["turns"]})
        if not all(1 <= number <= len(self._turns) for number in numbers):
            return []
        return [self._turns[number - 1] for number in numbers]

    def _said_by(self, content: str, cited: list[Turn]) -> list[Turn]:
        """The turns that say it: those that were cited, unless they have not a word of it and others all."""
        told = _told(content)
        if not cited or any(told & self._said[turn.id] for turn in cited):
            return cited
        return [turn for turn in self._turns if told <= self._said[turn.id]] or cited

    def _echoes(self, content: str, cited: Sequence[Turn]) -> bool:
        """Whether it repeats a known memory that the turns do not: models copy what they are shown."""
        told = _told(content)
        said = {term for turn in cited for term in self._said[turn.id]}
        return not told <= said and any(told <= remembered for remembered in self._remembered)

    def _replaced(self, numbers: Iterable[int], content: str, cited: Sequence[Turn]) -> tuple[str, ...]:
        """The memories that it takes the place of, if it or its turns have a word in common with them."""
        told = _told(content).union(*(self._said[turn.id] for turn in cited))
        return tuple(
            self._known[number - 1].id
            for number in sorted({*numbers})
            if 1 <= number <= len(self._known) and told & self._remembered[number - 1]
        )

    def _named(self, name: str) -> bool:
        return name == USER or self._ground.names(name)

    def _names(self, given: Sequence[str], without: Sequence[str]) -> tuple[str, ...]:
        names = dict.fromkeys(map(_name, given[:MOST_LISTED]))
        return tuple(name for name in names if name not in without and self._named(name))


def _read(reading: Callable[[Item], T | None], items: Sequence[Item]) -> list[T]:
    return [found for found in map(reading, items) if found is not None]


def _once(found: Iterable[T]) -> tuple[T, ...]:
    kept: list[T] = []
    for item in found:
        if item not in kept:
            kept.append(item)
    return tuple(kept)


def _clean(text: str, most: int) -> str:
    """On one line and without what cannot be stored; nothing when it is too long to be what was asked for."""
    sent = text.encode("utf-8", "replace").decode()
    line = " ".join("".join(c if c.isprintable() or c.isspace() else " " for c in sent).split())
    return line if len(line) <= most else ""


def _told(text: str) -> set[str]:
    """The terms that say something."""
    return {*query_terms(text)} - {USER}


def _word(text: str) -> str:
    return _clean(text, MOST_NAME).casefold()


def _name(text: str) -> str:
    name = _clean(text, MOST_NAME)
    return USER if name.casefold() in _SELF else name


def _certainty(text: str, first_hand: bool) -> Certainty:
    found = CERTAINTIES.get(_word(text), "inferred")
    return found if first_hand or found == "uncertain" else "inferred"


def _tense(text: str) -> Tense:
    try:
        return Tense(_word(text))
    except ValueError:
        return Tense.CURRENT


def _zone(cited: Sequence[Turn]) -> tzinfo:
    return zone_named(next((turn.zone for turn in cited if turn.zone), None))


def _days(item: Item) -> tuple[date | None, date | None]:
    """The first and the last day; neither when they cannot be."""
    try:
        first, last = read_day(item["first"] or None), read_day(item["last"] or None)
    except ValueError:
        return None, None
    return (None, None) if first and last and last < first else (first, last)


def _stretch(days: tuple[date | None, date | None], zone: tzinfo) -> tuple[datetime | None, datetime | None]:
    first, last = days
    return (
        None if first is None else midnight(first, zone),
        None if last is None else midnight(last + DAY, zone),
    )


def _fields(kind: Kind, item: Item) -> dict[str, Any]:
    """What only its kind has, under the names that the record has for it."""
    more: Item | None = item.get({"procedure": "procedure", "episode": "episode"}.get(kind, ""))
    if more is None:
        return {}
    read = {
        name: _clean(value, MOST_TEXT)
        if isinstance(value, str)
        else tuple(text for one in value[:MOST_LISTED] if (text := _clean(one, MOST_TEXT)))
        for name, value in more.items()
    }
    return {name: value for name, value in read.items() if value}


def _texts_of(fields: Mapping[str, Any]) -> list[str]:
    return [text for value in fields.values() for text in ([value] if isinstance(value, str) else value)]
