"""What the tests of mining by several processes share: thirty conversations, and what became of them."""

import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from recollect import Memory
from recollect.model.records import (
    MEMORY_TYPES,
    AuditEntry,
    Closet,
    Conversation,
    Entity,
    MemoryRecord,
    Relation,
    Turn,
    mined,
)
from tests.contract.children import child

TALKS = 30
FIRST = datetime(2025, 1, 1, 9, tzinfo=UTC)
TOWNS = ("Lyon", "Porto", "Rome", "Oslo", "Bergen", "Turin")
FIRMS = ("Acme", "Globex", "Initech")


def said(talk: int) -> Iterator[str]:
    """What somebody says in one of the conversations; much of it was said before."""
    yield f"I live in {TOWNS[talk % len(TOWNS)]}."
    yield "I love green tea."
    yield f"My sister Anna works at {FIRMS[talk % len(FIRMS)]}."
    yield f"My budget for the trip is ${talk + 1},000."
    yield f"I have {talk + 2} bicycles."
    if talk % 10 == 3:
        yield from (f"Line {n} of a long story." for n in range(60))
        yield f"I work at {FIRMS[talk % len(FIRMS)]}."


def recorded(memory: Memory) -> None:
    alice = memory.scope("alice")
    for talk in range(TALKS):
        at = FIRST + timedelta(days=talk)
        alice.record_many(
            {"role": "user", "content": text, "conversation": f"talk-{talk}", "at": at + timedelta(minutes=n)}
            for n, text in enumerate(said(talk))
        )


def opened(address: object, **given: Any) -> Memory:
    return Memory.open(str(address), embedder="hashing", **given)


def everything(memory: Memory, *, places: bool = True) -> dict[str, Any]:
    """What was mined, in words that do not depend on when, and on ids that do; the numbers in the palace
    depend on who comes first."""
    store = memory.store.user("alice")
    turns = {turn.id: (turn.conversation, turn.index) for turn in store.find(Turn)}
    names = {entity.id: entity.name for entity in store.find(Entity)}
    memories = {m.id: m for kind in MEMORY_TYPES for m in store.find(kind)}

    def told(m: MemoryRecord) -> tuple[Any, ...]:
        follows = memories[m.superseded_by].content if m.superseded_by else None
        cited = sorted(turns[id] for id in m.sources)
        return (m.kind, m.content, m.slot, str(m.valid_from), str(m.valid_to), follows, cited, mined(m))

    closets = [*store.find(Closet)]
    whose = sorted((c.subject, c.title, c.conversation, c.first, c.last) for c in closets)
    return {
        "memories": sorted(map(str, map(told, memories.values()))),
        "entities": sorted(
            (e.name, e.aliases, sorted(turns[id] for id in e.sources)) for e in store.find(Entity)
        ),
        "relations": sorted(
            (names[r.source], r.type, names[r.target], str(r.valid_from), str(r.valid_to), len(r.sources))
            for r in store.find(Relation)
        ),
        "closets": sorted(c.id for c in closets) if places else [],
        "placed": whose,
        "events": Counter(
            (e.conversation, e.metadata["turns"]) for e in store.find(AuditEntry, {"operation": "mine"})
        ),
        "watermarks": sorted(
            (c.id, c.mined_to, c.next_index, c.mining_problem) for c in store.find(Conversation)
        ),
    }


def assert_whole(memory: Memory) -> None:
    """No memory twice, one in force in each slot, no number and no turn twice in the palace."""
    store = memory.store.user("alice")
    memories = [m for kind in MEMORY_TYPES for m in store.find(kind)]
    slots = Counter((m.channel, m.kind, m.slot) for m in memories if m.superseded_by is None)
    assert [slot for slot, count in slots.items() if count > 1] == []
    said = Counter((m.content, m.valid_from) for m in memories)
    assert [content for content, count in said.items() if count > 1] == []
    closets = [c for c in store.find(Closet) if c.conversation is not None]
    placed = Counter((c.conversation, n) for c in closets for n in range(c.first, c.last + 1))
    assert {(turn.conversation, turn.index) for turn in store.find(Turn)} == placed.keys()
    assert set(placed.values()) == {1}
    numbers = Counter((c.wing, c.room, c.number) for c in closets)
    assert set(numbers.values()) == {1}
    wings = {(c.wing, c.slug) for c in closets}
    assert len(wings) == len({wing for wing, _ in wings}) == len({slug for _, slug in wings})
    assert memory.store.check() == []


def killed(role: str, address: object, chance: random.Random) -> None:
    """A process that was killed at a random moment of its work, or that came to its end before."""
    process = child(role, address)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    for _ in range(chance.randrange(8)):
        process.stdout.readline()
    time.sleep(chance.random() / 20)
    process.send_signal(signal.SIGKILL)
    process.communicate()
