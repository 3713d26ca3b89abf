"""What matters everywhere is moved from its channel to where all channels read it.

Moved, not copied: there is one memory of it, so that correcting or forgetting it needs no second place.
"""

from collections.abc import Iterator

from recollect.errors import Invalid
from recollect.limits import check_flag
from recollect.model.changes import Change, Expect, ExpectOnly, Revise
from recollect.model.records import Fact, MemoryRecord, Turn
from recollect.model.retention import EVERYWHERE, Retention
from recollect.model.scope import GLOBAL
from recollect.ports.store import Usage
from recollect.ports.tending import Mark
from recollect.record.memories import find_memory
from recollect.tend.cleanup import in_force
from recollect.tend.idle import with_older
from recollect.tend.steps import Step
from recollect.workspace import Workspace, rereading


def plan_promotion(work: Workspace, mark: Mark) -> Iterator[Step]:
    policies = {c: work.retention(c) for c in work.store.sizes() if c not in (EVERYWHERE, GLOBAL)}
    wanted = {c: policy for c, policy in policies.items() if policy.promote and not policy.isolated}
    if not wanted:
        return
    usage, now = work.store.used(min(policy.promote_count for policy in wanted.values())), work.clock.now()
    for fact in work.store.get(Fact, sorted(usage)):
        policy, used = wanted.get(fact.channel), usage[fact.id]
        # One that somebody took back stays where it is.
        if policy is None or fact.promoted_from is not None or not in_force(fact, now):
            continue
        if fact.superseded_by is not None or not matters(fact, used, policy):
            continue
        talks = {turn.conversation for turn in work.store.get(Turn, fact.sources)}
        if len(talks) >= policy.promote_conversations and not _rivals(work, fact, GLOBAL):
            yield _step(work, fact, used, len(talks), policy)


def matters(fact: MemoryRecord, used: Usage, policy: Retention) -> bool:
    """Whether it is sure enough, and was returned often enough."""
    return fact.confidence >= policy.promote_confidence and used.count >= policy.promote_count


def _step(work: Workspace, fact: Fact, used: Usage, talks: int, policy: Retention) -> Step:
    return Step(
        action="promote",
        record=fact,
        why=f"confidence {fact.confidence:.2f}, returned {used.count} times, said in {talks} conversations",
        changes=tuple(_moved(work, fact, GLOBAL, fact.channel)),
        details={
            "from": fact.channel,
            "to": GLOBAL,
            "confidence": fact.confidence,
            "count": used.count,
            "conversations": talks,
            "promote_confidence": policy.promote_confidence,
            "promote_count": policy.promote_count,
            "promote_conversations": policy.promote_conversations,
        },
    )


def _rivals(work: Workspace, memory: MemoryRecord, channel: str) -> list[MemoryRecord]:
    """What answers the same in another channel: of those only one could hold there."""
    if memory.slot is None:
        return []
    return [*work.store.find(type(memory), {"slot": memory.slot, "channel": channel})]


def _moved(work: Workspace, memory: MemoryRecord, to: str, promoted_from: str | None) -> list[Change]:
    """The changes that move a memory with those that it replaced, if nothing there answers the same."""
    chain = [m for m in with_older(work.store, memory) if m.channel == memory.channel]
    changes: list[Change] = [Expect(m.kind, m.id, m) for m in chain]
    slots = {m.slot for m in chain if m.slot is not None}
    changes += [ExpectOnly(memory.kind, {"slot": slot, "channel": to}, frozenset()) for slot in slots]
    fields = {"channel": to, "promoted_from": promoted_from}
    return [*changes, *(Revise(m.kind, m.id, fields) for m in chain)]


@rereading
def promote(work: Workspace, id: str, promoted: bool = True) -> MemoryRecord:
    """Move a memory to where all channels read it, whatever the thresholds say; or back to where it was."""
    check_flag("promoted", promoted)
    memory = find_memory(work, id)
    to, promoted_from = (GLOBAL, memory.channel) if promoted else _back(memory)
    if memory.channel == to:
        raise Invalid(f"{id} is read by all channels already.")
    if promoted and work.retention(memory.channel).isolated:
        raise Invalid(f"The channel {memory.channel!r} is isolated: nothing is promoted out of it.")
    if memory.superseded_by is not None:
        raise Invalid(f"{id} was corrected: promote {memory.superseded_by} instead.")
    if rivals := _rivals(work, memory, to):
        raise Invalid(f"{rivals[0].id} answers the same in {to!r}: correct or forget that one first.")
    changes = _moved(work, memory, to, promoted_from)
    action = "promote" if promoted else "demote"
    details = {"from": memory.channel, "to": to, "why": "asked for"}
    work.apply(*changes, *work.log(action, f"{memory.kind} {id}", kind=memory.kind, details=details))
    return find_memory(work, id)


def _back(memory: MemoryRecord) -> tuple[str, str]:
    """Where it was. That it was taken back is kept, or the background would promote it again."""
    if memory.channel != GLOBAL or memory.promoted_from is None:
        raise Invalid(f"{memory.id} was not promoted.")
    return memory.promoted_from, memory.promoted_from
