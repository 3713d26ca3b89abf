"""A user with many memories of all ages, taken in as an import is: what there is for the background to do."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from json import dumps
from random import Random

from recollect import ScopedMemory
from recollect.bench.corpus import Corpus
from recollect.bench.subject import Advance
from recollect.model.records import Conversation, Entity, Fact, Record, Role, Turn
from recollect.record.transfer import FORMAT, line_of
from recollect.record.turns import digest

START = datetime(2025, 1, 1, tzinfo=UTC)
"""When everything is there and the background comes for the first time."""
AGE_DAYS = 700
WORDS = 10
A_TURN, A_CONVERSATION, AN_ENTITY = 5, 20, 50
"""How many memories come of one turn, turns of one conversation, memories are about one entity."""
TWINS, EXPIRED, PINNED, INFERRED = 0.01, 0.02, 0.02, 0.3
"""The shares of those that repeat another one, whose time is up, that are pinned, that are inferred."""
SURE, UNSURE = 0.95, 0.7


def texts(corpus: Corpus, count: int) -> list[str]:
    return [" ".join(text.split()[:WORDS]) for text in corpus.rows(count, stream=40).texts]


def fill(scope: ScopedMemory, said: list[str], advance: Advance) -> None:
    """Take in a memory for each text."""
    done = 0

    def progress(count: int) -> None:
        nonlocal done
        advance(count - done)
        done = count

    scope.import_(_lines(scope.scope.user, said), progress)


def records(count: int) -> int:
    """How many records so many memories are, with what they rest on."""
    turns = -(-count // A_TURN)
    return count + turns + -(-turns // A_CONVERSATION) + -(-count // AN_ENTITY)


def _lines(user: str, said: list[str]) -> Iterator[str]:
    yield dumps({"recollect": FORMAT, "user": user})
    for record in _records(said):
        yield line_of(record)


def _records(said: list[str]) -> Iterator[Record]:
    turns = -(-len(said) // A_TURN)
    for first in range(0, turns, A_CONVERSATION):
        yield from _conversation(first, min(first + A_CONVERSATION, turns), said, turns)
    for number in range(-(-len(said) // AN_ENTITY)):
        at = _at(number * AN_ENTITY, len(said))
        yield Entity(
            id=f"e{number}", name=f"Somebody {number}", type="person", description="A friend.", first_seen=at
        )
    random = Random(len(said))
    for number, text in enumerate(said):
        yield _fact(number, text if random.random() >= TWINS else said[number - 1], len(said), random)


def _at(number: int, count: int) -> datetime:
    return START - timedelta(days=AGE_DAYS * (count - number) / count)


def _conversation(first: int, stop: int, said: list[str], turns: int) -> Iterator[Record]:
    name, length = f"c{first // A_CONVERSATION}", stop - first
    yield Conversation(
        id=name,
        started_at=_at(first, turns),
        last_at=_at(stop - 1, turns),
        next_index=length,
        mined_to=length,
        concluded_to=length,
    )
    for number in range(first, stop):
        text, at = said[number * A_TURN], _at(number, turns)
        yield Turn(
            id=f"t{number}",
            conversation=name,
            index=number - first,
            role=Role.USER,
            content=text,
            at=at,
            recorded_at=at,
            digest=digest(text),
        )


def _fact(number: int, text: str, count: int, random: Random) -> Fact:
    at = _at(number, count)
    sure = SURE if random.random() >= INFERRED else UNSURE
    return Fact(
        id=f"f{number}",
        content=text,
        recorded_at=at,
        valid_from=at,
        confidence=sure,
        salience=random.random(),
        origin="mined",
        expires_at=START - timedelta(hours=1) if random.random() < EXPIRED else None,
        pinned=random.random() < PINNED,
        sources=(f"t{number // A_TURN}",),
        about=(f"e{number // AN_ENTITY}",),
    )
