"""Step two, if there is one: derive memories from what was recorded, by the verb that users call."""

from typing import Any

from recollect import Memory
from recollect.bench.latency import Stage
from recollect.bench.quality.datasets import Dataset
from recollect.bench.quality.ingest import SetClock, user_of


def mine(memory: Memory, clock: SetClock, dataset: Dataset, key: str, stage: Stage) -> int:
    """Mine everybody's turns that are not mined yet, at the time of their last session; how many memories
    came of it. Who is done is marked as recording does."""
    finished = memory.scope(f"{key}:mined")
    todo = [person for person in dataset.people if not finished.conversation(person.user)]
    advance = stage("mine", sum(len(person.sessions) for person in todo))
    mined = 0
    for person in todo:
        clock.at = max(session.at for session in person.sessions)
        scope: Any = memory.scope(user_of(key, person))
        mined += len(scope.mine())
        finished.record("note", "All mined.", conversation=person.user, index=0)
        advance(len(person.sessions))
    return mined
