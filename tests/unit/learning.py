"""What the tests of learning share: conversations in which something was done."""

from collections.abc import Iterable
from typing import Any

from recollect import Episode, Memory, Procedure, ScopedMemory
from recollect.model.records import Conversation, Summary
from recollect.tend.steps import Reached, Step, Tally, carry_out
from recollect.testing.store_samples import ManualClock
from recollect.workspace import Workspace

DEPLOY = ("build_image", "push_image", "roll_out")


def task(
    memory: Memory,
    conversation: str,
    *,
    ask: str = "Can you deploy the shop to staging?",
    tools: tuple[str, ...] = DEPLOY,
    answer: str = "The shop runs on staging.",
    last: str | None = "Perfect, that worked. Thanks!",
    user: str = "derek",
    **end: Any,
) -> ScopedMemory:
    """A conversation in which a task was worked on with tools; with `end`, somebody says that it ended."""
    inside = memory.scope(user, conversation=conversation)
    inside.record("user", ask)
    for tool in tools:
        inside.record_tool(tool, {"of": "shop"}, "ok", latency_ms=20.0)
    inside.record("assistant", "I start with the image.")
    inside.record("assistant", answer)
    if last is not None:
        inside.record("user", last)
    if end:
        inside.end(**end)
    return inside


def tend(memory: Memory, clock: ManualClock, minutes: int = 61) -> dict[str, int]:
    """What each chore did after a while."""
    clock.advance(minutes=minutes)
    return {outcome.job: outcome.done for outcome in memory.tend() if not _raise(outcome.problem)}


def _raise(problem: str | None) -> bool:
    assert problem is None, problem
    return False


def carried_out(work: Workspace, steps: Iterable[Step | Reached]) -> Tally:
    """What came of the steps, with nobody else in the way."""
    tally = Tally()
    carry_out(work, steps, lambda: True, lambda n: None, tally)
    return tally


def episodes(user: ScopedMemory) -> list[Episode]:
    return [e for e in user.list("episode", limit=1000, oldest_first=True) if isinstance(e, Episode)]


def procedures(user: ScopedMemory) -> list[Procedure]:
    return [p for p in user.list("procedure", limit=1000, oldest_first=True) if isinstance(p, Procedure)]


def summaries(user: ScopedMemory) -> list[Summary]:
    return [s for s in user.list("summary", limit=1000, oldest_first=True) if isinstance(s, Summary)]


def talk(memory: Memory, conversation: str, user: str = "derek") -> Conversation:
    (found,) = memory.store.user(user).get(Conversation, [conversation])
    return found
