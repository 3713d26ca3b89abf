"""Step two, if there is one: derive memories from what was recorded, by the verb that users call."""

from collections import Counter

from recollect import Memory
from recollect.bench.latency import Stage
from recollect.bench.quality.datasets import Dataset
from recollect.bench.quality.ingest import SetClock, user_of
from recollect.errors import RecollectError

COUNTED = ("turns", "added", "reinforced", "superseded", "refused")


def mine(memory: Memory, clock: SetClock, dataset: Dataset, key: str, stage: Stage) -> dict[str, int]:
    """Mine everybody's turns that are not mined yet, at the time of their last session; what came of it.
    Who is done is marked as recording does. A problem would make the figures worthless, so it is raised."""
    finished = memory.scope(f"{key}:mined")
    todo = [person for person in dataset.people if not finished.conversation(person.user)]
    advance = stage("mine", sum(len(s.turns) for person in todo for s in person.sessions))
    counts = Counter[str](dict.fromkeys(COUNTED, 0))
    for person in todo:
        clock.at = max(session.at for session in person.sessions)
        before = 0

        def progress(count: int) -> None:
            nonlocal before
            advance(count - before)
            before = count

        for mined in memory.scope(user_of(key, person)).mine(progress=progress):
            if mined.problem:
                raise RecollectError(f"Mining {mined.conversation} failed: {mined.problem}")
            counts.update({name: getattr(mined, name) for name in COUNTED})
        finished.record("note", "All mined.", conversation=person.user, index=0)
    return dict(counts)


def kept(memory: Memory, dataset: Dataset, key: str) -> dict[str, int]:
    """How many records of each kind everybody has."""
    counts = Counter[str]()
    for person in dataset.people:
        counts.update(memory.scope(user_of(key, person)).counts())
    return dict(counts)
