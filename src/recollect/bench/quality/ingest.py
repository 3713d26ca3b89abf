"""Step one: fill the memories. What is in the store already is left as it is."""

from dataclasses import dataclass
from datetime import UTC, datetime

from recollect import Memory
from recollect.bench.latency import Stage
from recollect.bench.quality.datasets import Dataset, Person


@dataclass(slots=True)
class SetClock:
    """Shows the time at which a question is asked."""

    at: datetime = datetime(2000, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at


def user_of(key: str, person: Person) -> str:
    """Stores may hold several datasets, or one in several settings: their users differ by the key."""
    return f"{key}:{person.user}"


def ingest(memory: Memory, clock: SetClock, dataset: Dataset, key: str, stage: Stage) -> int:
    """Record every session; how many turns were not there. A person whose sessions are all recorded is
    marked by a note in a memory of its own, where it cannot be found by anybody's question."""
    finished = memory.scope(f"{key}:finished")
    todo = [person for person in dataset.people if not finished.conversation(person.user)]
    advance = stage("ingest", sum(len(s.turns) for person in todo for s in person.sessions))
    recorded = 0
    for person in todo:
        messages = [
            {"role": turn.role, "content": turn.content, "conversation": s.id, "index": index, "at": s.at}
            for s in person.sessions
            for index, turn in enumerate(s.turns)
            if turn.content.strip()
        ]
        clock.at = max(session.at for session in person.sessions)
        before = 0

        def progress(count: int) -> None:
            nonlocal before
            advance(count - before)
            before = count

        recorded += len(memory.scope(user_of(key, person)).record_many(messages, progress=progress))
        finished.record("note", "All recorded.", conversation=person.user, index=0)
    return recorded
