"""Public benchmarks as memories to fill and questions to ask.

A dataset is people, each with sessions and questions about them. Both formats are read as they are
published, plain or gzipped.
"""

import gzip
import hashlib
import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

from recollect.errors import Invalid

T = TypeVar("T")

SMOKE = 10
SESSIONS = 48
SEED = 7
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
"""LoCoMo's categories that have an answer; the fifth asks for what was never said."""
NEVER_SAID = "adversarial"
ABSTAINING = 2
"""Questions without an answer in a smoke run."""

Name = Literal["longmemeval", "locomo"]
Setting = Literal["s48", "pool"]
Place = tuple[str, int]
"""A turn: its session and its place in it."""


@dataclass(frozen=True, slots=True)
class Said:
    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Session:
    id: str
    at: datetime
    turns: tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, when, the right answer, and where it was said. Without one to be found, `answer` says
    why, and it is right to decline."""

    id: str
    text: str
    at: datetime
    type: str
    sessions: frozenset[str]
    turns: frozenset[Place]
    answer: str
    abstention: bool = False


@dataclass(frozen=True, slots=True)
class Person:
    """One user's memory and the questions to it."""

    user: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Dataset:
    name: str
    people: tuple[Person, ...]
    left_out: int
    """Questions without an answer in the sessions, which retrieval cannot be scored by."""
    digest: str
    """Of the file."""
    abstaining: tuple[Person, ...] = ()
    """Those questions, as far as a model can be asked them."""

    @property
    def questions(self) -> Iterator[tuple[Person, Question]]:
        return ((person, question) for person in self.people for question in person.questions)

    def with_abstaining(self) -> "Dataset":
        """Also the questions without an answer, which a model is asked but retrieval is not scored by."""
        people = {person.user: person for person in self.people}
        for person in self.abstaining:
            if known := people.get(person.user):
                person = replace(known, questions=known.questions + person.questions)
            people[person.user] = person
        return replace(self, people=tuple(people.values()), abstaining=())


def read(path: Path) -> tuple[list[dict[str, Any]], str]:
    """The file's objects and its hash."""
    try:
        raw = path.read_bytes()
        text = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
        found = json.loads(text)
    except (OSError, EOFError, ValueError) as error:
        raise Invalid(f"{path} cannot be read: {error}") from None
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):  # pyright: ignore[reportUnknownVariableType]
        raise Invalid(f"{path} is not a list of objects.")
    if not found:
        raise Invalid(f"{path} holds no questions.")
    return found, hashlib.sha256(text).hexdigest()  # pyright: ignore[reportUnknownVariableType]


def guess(path: Path) -> Name:
    """By what the first object has; LongMemEval's reader says what is wrong with anything else."""
    objects, _ = read(path)
    return "locomo" if objects and "conversation" in objects[0] else "longmemeval"


def opened(path: Path, name: Name, setting: Setting, smoke: bool) -> "Dataset":
    return locomo(path, smoke) if name == "locomo" else longmemeval(path, setting, smoke)


def spread(items: Sequence[T], count: int) -> list[T]:
    """So many of them, evenly from the first to the last: files are sorted by type."""
    count = min(count, len(items))
    return [items[i * len(items) // count] for i in range(count)]


# LongMemEval


def longmemeval(path: Path, setting: Setting, smoke: bool = False) -> Dataset:
    """`pool`: every session in one memory. `s48`: a memory for each question, its own sessions and others
    drawn at random, up to 48 of them."""
    objects, digest = read(path)
    try:
        asked = [item for item in objects if not _abstention(item)]
        unanswerable = [item for item in objects if _abstention(item)]
        chosen = spread(asked, SMOKE) if smoke else asked
        # A smoke run has only its own questions' sessions to be fast; then the abstentions' go as well.
        pool = _pool(chosen if smoke else objects)
        arrange = _in_one if setting == "pool" else _apart
        people = arrange(chosen, pool)
        abstaining = _apart(spread(unanswerable, ABSTAINING), {}) if smoke else arrange(unanswerable, pool)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise Invalid(f"{path} is not in LongMemEval's format: {error!r}") from None
    return Dataset(f"longmemeval-{setting}", people, len(unanswerable), digest, abstaining)


def _abstention(item: Mapping[str, Any]) -> bool:
    return item["question_id"].endswith("_abs")


def _pool(items: Iterable[Mapping[str, Any]]) -> dict[str, Session]:
    """Every session once, in the order of the file."""
    pool: dict[str, Session] = {}
    for item in items:
        for session in _own(item):
            pool.setdefault(session.id, session)
    return pool


def _own(item: Mapping[str, Any]) -> list[Session]:
    parts = (item["haystack_session_ids"], item["haystack_dates"], item["haystack_sessions"])
    return [
        Session(id, _lme_time(date), tuple(Said(turn["role"], turn["content"]) for turn in turns))
        for id, date, turns in zip(*parts, strict=True)
    ]


def _in_one(items: Sequence[Mapping[str, Any]], pool: Mapping[str, Session]) -> tuple[Person, ...]:
    return (Person("everybody", tuple(pool.values()), tuple(map(_lme_question, items))),)


def _apart(items: Sequence[Mapping[str, Any]], pool: Mapping[str, Session]) -> tuple[Person, ...]:
    chance = random.Random(SEED)
    people: list[Person] = []
    for item in items:
        own = {session.id: session for session in _own(item)}
        others = [session for session in pool.values() if session.id not in own]
        drawn = chance.sample(others, min(len(others), max(0, SESSIONS - len(own))))
        people.append(Person(item["question_id"], (*own.values(), *drawn), (_lme_question(item),)))
    return tuple(people)


def _lme_question(item: Mapping[str, Any]) -> Question:
    gold = frozenset[str](item["answer_session_ids"])
    turns = {
        (id, place)
        for id, session in zip(item["haystack_session_ids"], item["haystack_sessions"], strict=True)
        for place, turn in enumerate(session)
        if id in gold and turn.get("has_answer")
    }
    return Question(
        item["question_id"],
        item["question"],
        _lme_time(item["question_date"]),
        item["question_type"],
        gold,
        frozenset(turns),
        str(item["answer"]),
        _abstention(item),
    )


def _lme_time(text: str) -> datetime:
    return datetime.strptime(re.sub(r"\s*\(\w+\)", "", text), "%Y/%m/%d %H:%M").replace(tzinfo=UTC)


# LoCoMo


def locomo(path: Path, smoke: bool = False) -> Dataset:
    """A memory for each conversation of two people, and the questions of the first four categories; the
    fifth are those without an answer."""
    objects, digest = read(path)
    try:
        everybody = [_locomo_person(item) for item in objects]
        asked = sum(len(item["qa"]) for item in objects)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise Invalid(f"{path} is not in LoCoMo's format: {error!r}") from None
    scored = sum(not question.abstention for person in everybody for question in person.questions)
    some = everybody[:1] if smoke else everybody
    people = tuple(_only(person, False, SMOKE if smoke else None) for person in some)
    abstaining = tuple(_only(person, True, ABSTAINING if smoke else None) for person in some)
    return Dataset("locomo", people, asked - scored, digest, abstaining)


def _only(person: Person, abstention: bool, count: int | None) -> Person:
    """Somebody with their questions of one sort, or some of those."""
    questions = [question for question in person.questions if question.abstention is abstention]
    return replace(person, questions=tuple(questions if count is None else spread(questions, count)))


def _locomo_person(item: Mapping[str, Any]) -> Person:
    sessions, places = locomo_sessions(item["conversation"])
    last = max(session.at for session in sessions)
    questions = (_locomo_question(item, n, qa, places, last) for n, qa in enumerate(item["qa"]))
    return Person(item["sample_id"], tuple(sessions), tuple(q for q in questions if q is not None))


def locomo_sessions(talk: Mapping[str, Any]) -> tuple[list[Session], dict[str, Place]]:
    """The sessions of a conversation, and where each of its turns is by the name that annotations use."""
    sessions: list[Session] = []
    places: dict[str, Place] = {}
    for number in sorted(int(key[8:]) for key in talk if re.fullmatch(r"session_\d+", key)):
        id, turns = f"session-{number}", talk[f"session_{number}"]
        places |= {turn["dia_id"]: (id, place) for place, turn in enumerate(turns)}
        at = _locomo_time(talk[f"session_{number}_date_time"])
        sessions.append(Session(id, at, tuple(Said("user", _spoken(turn)) for turn in turns)))
    return sessions, places


def named_turns(evidence: object) -> list[str]:
    """The turns that an annotation names, however it is written."""
    return re.findall(r"D\d+:\d+", json.dumps(evidence))


def _spoken(turn: Mapping[str, Any]) -> str:
    """Both speakers are people, told apart by their names."""
    caption = turn.get("blip_caption")
    return f"{turn['speaker']}: {turn['text']}" + (f" [{caption}]" if caption else "")


def _locomo_question(
    item: Mapping[str, Any], number: int, qa: Mapping[str, Any], places: Mapping[str, Place], at: datetime
) -> Question | None:
    named = named_turns(qa.get("evidence", ()))
    gold = frozenset(places[id] for id in named if id in places)
    abstention = qa["category"] not in CATEGORIES
    if not gold and not abstention:
        return None
    return Question(
        f"{item['sample_id']}-{number}",
        qa["question"],
        at,
        CATEGORIES.get(qa["category"], NEVER_SAID),
        frozenset(session for session, _ in gold),
        gold,
        str(qa.get("answer", "This was never said.")) if abstention else str(qa["answer"]),
        abstention,
    )


def _locomo_time(text: str) -> datetime:
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
