"""A chore says step by step what it would do and why; here that is done.

So what `recollect tend --dry-run` tells is what is done. A step that fails holds up no other: it is found
again by the next round, because what it was to put right is still there.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from typing import Any

from recollect.errors import Conflict, RecollectError, StoreUnavailable
from recollect.model.changes import Change, Expect, Put
from recollect.model.records import Conversation, Json, Record
from recollect.ports.tending import Mark
from recollect.settings import Settings
from recollect.tend.erase import erase_all
from recollect.tend.tender import Hold
from recollect.workspace import Workspace

log = logging.getLogger("recollect.tend")

TOGETHER = 200
"""How many steps are one transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing to put right. It is done by its `changes`, or by `do`; with neither, the record is erased
    with what cannot be without it."""

    action: str
    record: Record
    why: str
    """Tells the reason, and nothing of the content."""
    changes: tuple[Change, ...] = ()
    do: Callable[[Hold], int] | None = None
    together: bool = False
    """Many such steps leave one entry in the audit, with how many they were and what they have in common."""
    details: Json = field(default_factory=dict[str, Any])
    """For the audit: the figures and settings that it was decided by."""


@dataclass(frozen=True, slots=True)
class Reached:
    """That a plan looked at no more than this: up to where of the feed it has come. What is behind that is
    looked at in the next round."""

    seq: int


@dataclass(frozen=True, slots=True)
class Chore:
    """Something that is done for each user now and then: every so often (`every`), and, with `on_change`,
    only when anything has changed since. Without an interval it is looked at in every round that its rows say
    has something for it."""

    name: str
    plan: Callable[[Workspace, Mark], Iterator[Step | Reached]]
    every: Callable[[Settings], timedelta] | None = None
    on_change: bool = False

    def interval(self, settings: Settings) -> timedelta:
        return timedelta(0) if self.every is None else self.every(settings)


@dataclass(slots=True)
class Tally:
    """What came of a chore's steps."""

    done: int = 0
    actions: dict[str, int] = field(default_factory=dict[str, int])
    problem: RecollectError | None = None
    broken: bool = False
    """Whether the chore itself failed, not one of its steps."""
    reached: int | None = None
    """Up to where of the feed it has come, if not all the way."""

    def add(self, action: str, times: int = 1) -> None:
        self.done += times
        self.actions[action] = self.actions.get(action, 0) + times


def carry_out(
    work: Workspace, steps: Iterable[Step | Reached], hold: Hold, told: Callable[[int], None], tally: Tally
) -> None:
    """Do the steps, many in a transaction, as long as the user is ours; the tally counts them. What it has
    counted stays so whatever happens next."""
    waiting = iter(steps)
    while (found := list(islice(waiting, TOGETHER))) and hold():
        tally.reached = next((one.seq for one in found if isinstance(one, Reached)), tally.reached)
        some = [one for one in found if isinstance(one, Step)]
        for step in some:
            if step.do is not None and hold():  # one may take minutes, and ask a model
                _try(tally, step.action, lambda s=step: s.do(hold) if s.do else 0)
        _together(work, tally, [step for step in some if step.do is None])
        told(tally.done)


def _together(work: Workspace, tally: Tally, steps: list[Step]) -> None:
    """In one transaction; one by one when something is in the way of that."""
    if not steps:
        return
    try:
        _land(work, steps)
    except StoreUnavailable:
        raise
    except Exception:  # noqa: BLE001 - told by whichever step it is
        for step in steps:
            _try(tally, step.action, lambda s=step: _land(work, [s]))
        return
    for step in steps:
        tally.add(step.action)


def _try(tally: Tally, action: str, do: Callable[[], int]) -> None:
    try:
        tally.add(action, do())
    except Conflict:  # somebody changed it meanwhile: the next round looks again
        return
    except StoreUnavailable:  # each of the others would wait for it in turn
        raise
    except RecollectError as error:
        tally.problem = tally.problem or error
    except Exception as error:
        log.exception("%s failed", action)
        tally.problem = tally.problem or RecollectError(type(error).__name__)


def _land(work: Workspace, steps: list[Step]) -> int:
    changes = _grouped([change for step in steps for change in step.changes])
    logged = [*_logged(work, steps), *_logged_together(work, [step for step in steps if step.together])]
    if doomed := [step.record for step in steps if not step.changes]:
        erase_all(work, doomed, [*changes, *logged])
    else:
        work.apply(*changes, *logged)
    return len(steps)


def _logged(work: Workspace, steps: list[Step]) -> Iterator[Change]:
    for step in (step for step in steps if not step.together):
        record, always = step.record, not step.changes
        talk = record.id if isinstance(record, Conversation) else None  # a name, forgotten where names are
        subject = record.kind if talk else f"{record.kind} {record.id}"
        details = _reason(step)
        yield from work.log(
            step.action, subject, kind=record.kind, conversation=talk, details=details, always=always
        )


def _logged_together(work: Workspace, steps: list[Step]) -> Iterator[Change]:
    """One entry for all steps of an action and a kind: what is done to thousands of records day by day would
    fill the audit."""
    alike: dict[tuple[str, str, bool], list[Step]] = {}
    for step in steps:
        alike.setdefault((step.action, step.record.kind, not step.changes), []).append(step)
    for (action, kind, always), some in alike.items():
        first, *others = map(_reason, some)
        common = {k: v for k, v in first.items() if all(k in d and d[k] == v for d in others)}
        yield from work.log(action, kind, count=len(some), kind=kind, details=common, always=always)


def _reason(step: Step) -> Json:
    return {"why": step.why, **step.details}


def _grouped(changes: list[Change]) -> list[Change]:
    """Where each step replaces one record and nothing else, what is expected comes first: neighbours of one
    kind are written with one statement."""
    expects = [change for change in changes if isinstance(change, Expect)]
    puts = [change for change in changes if isinstance(change, Put)]
    ids = {put.record.id for put in puts}
    once = len(ids) == len(puts) == len(expects) == len(changes) - len(puts)
    return [*expects, *puts] if once and ids == {expect.id for expect in expects} else changes
