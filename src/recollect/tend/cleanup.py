"""Old conversations step back, entities that nothing is known of go, and turns where the policy says so."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from itertools import islice

from recollect.model.changes import Expect, Revise
from recollect.model.records import (
    Conversation,
    Entity,
    MemoryRecord,
    Relation,
    Response,
    Role,
    ToolInvocation,
    Turn,
)
from recollect.model.retention import EVERYWHERE, Retention
from recollect.model.search import AtLeast, AtMost
from recollect.ports.store import Usage
from recollect.ports.tending import Mark
from recollect.tend.decay import LEAST, entity_salience
from recollect.tend.idle import TOGETHER, Met, Rated, entity_idle, glanced, used_together
from recollect.tend.steps import Step
from recollect.workspace import Workspace

_HELD = ("retired_at", "valid_to")
_SPOKEN = [role for role in Role if role is not Role.NOTE]


def plan_cleanup(work: Workspace, mark: Mark) -> Iterator[Step]:
    policies = [work.retention(channel) for channel in {EVERYWHERE, *work.differences()}]  # all there are
    yield from _archiving(work, policies)
    if most := max(p.entity_salience if p.prune_entities else 0.0 for p in policies):
        yield from _unknown_entities(work, most)
    yield from _old_responses(work)
    if days := [policy.turn_days for policy in policies if policy.turn_days]:
        going: dict[str, set[str]] = {}
        yield from _old_turns(work, min(days), going)
        yield from _old_calls(work, min(days))
        yield from _empty_conversations(work, min(days), going)


def is_old(conversation: Conversation, policy: Retention, now: datetime) -> bool:
    """Whether nobody has spoken in it for so long that it is archived."""
    return policy.archive and now - conversation.last_at >= timedelta(days=policy.archive_days)


def is_faded(entity: Entity | Met, used: Usage | None, policy: Retention, now: datetime) -> bool:
    """Whether an entity matters so little, and for so long, that it may go."""
    if not policy.prune_entities or entity_idle(entity, used, now) < policy.entity_idle_days:
        return False
    return entity_salience(entity, used, policy, now) < policy.entity_salience


def is_past(turn: Turn, policy: Retention, now: datetime) -> bool:
    """Whether a turn has been kept for long enough. A note lives as long as the memory that cites it."""
    kept = timedelta(days=policy.turn_days)
    return bool(policy.turn_days) and turn.role is not Role.NOTE and now - turn.at >= kept


def in_force(record: MemoryRecord | Relation | Rated, now: datetime) -> bool:
    """Whether it says what is so now, or will be."""
    expires = record.expires_at if isinstance(record, MemoryRecord | Rated) and not record.pinned else None
    return _holds(now, record.retired_at, record.valid_to, expires)


def _holds(now: datetime, retired_at: datetime | None, *ends: datetime | None) -> bool:
    return retired_at is None and all(end is None or end > now for end in ends)


def _archiving(work: Workspace, policies: Sequence[Retention]) -> Iterator[Step]:
    now, days = work.clock.now(), [policy.archive_days for policy in policies if policy.archive]
    if not days:
        return
    old = {"archived_at": None, "last_at": AtMost(now - timedelta(days=min(days)))}
    for conversation in work.store.find(Conversation, old):
        policy = work.retention(conversation.channel)
        if is_old(conversation, policy, now):
            why = f"nobody has spoken in it since {conversation.last_at:%Y-%m-%d}"
            yield _archived(conversation, "archive", why, now, policy)
    recent = {"archived_at": AtMost(now), "last_at": AtLeast(now - timedelta(days=max(days)))}
    for conversation in work.store.find(Conversation, recent):
        if conversation.archived_at is not None and conversation.last_at > conversation.archived_at:
            policy = work.retention(conversation.channel)
            yield _archived(conversation, "unarchive", "it went on", None, policy)


def _archived(
    conversation: Conversation, action: str, why: str, at: datetime | None, policy: Retention
) -> Step:
    return Step(
        action=action,
        record=conversation,
        why=why,
        changes=(
            Expect("conversation", conversation.id, conversation),
            Revise("conversation", conversation.id, {"archived_at": at}),
        ),
        details={"archive_days": policy.archive_days},
    )


def _unknown_entities(work: Workspace, most: float) -> Iterator[Step]:
    """Entities that have faded and that nothing is about: without them no memory loses its subject."""
    now = work.clock.now()
    little = {"salience": AtMost(most + LEAST)}  # what is stored may be so much more than it is by now
    for some, usage in used_together(work.store, glanced(work.store, Entity, Met, little)):
        faded = [e.id for e in some if is_faded(e, usage.get(e.id), work.retention(e.channel), now)]
        known = _known_of(work, faded, now)
        for entity in work.store.get(Entity, [id for id in faded if id not in known]):
            policy, used = work.retention(entity.channel), usage.get(entity.id)
            idle, salience = entity_idle(entity, used, now), entity_salience(entity, used, policy, now)
            yield Step(
                action="prune",
                record=entity,
                why=f"salience {salience:.2f} is below {policy.entity_salience:g}, idle for "
                f"{idle:.0f} days, and nothing known is about it",
                details={
                    "salience": salience,
                    "entity_salience": policy.entity_salience,
                    "idle_days": idle,
                    "entity_idle_days": policy.entity_idle_days,
                },
            )


def _known_of(work: Workspace, entities: Sequence[str], now: datetime) -> set[str]:
    """Those of the entities that a memory in force, a pinned one, or a relation that holds is about."""
    known: set[str] = set()
    for end in ("source", "target"):
        left = [id for id in entities if id not in known]
        bonds = work.store.fields(Relation, (end, *_HELD), {end: left}) if left else ()
        known |= {id for id, retired_at, valid_to in bonds if _holds(now, retired_at, valid_to)}
    about = work.store.linking("about", [id for id in entities if id not in known])
    memories = work.store.get(MemoryRecord, list(about), bare=True)
    return known | {id for m in memories if m.pinned or in_force(m, now) for id in about[m.id]}


def _old_turns(work: Workspace, days: float, going: dict[str, set[str]]) -> Iterator[Step]:
    """Turns past their time, but for those that a pinned memory rests on; put in `going`, by conversation."""
    now = work.clock.now()
    old = {"at": AtMost(now - timedelta(days=days)), "role": _SPOKEN}
    found = work.store.find(Turn, old, order="at")
    while some := list(islice(found, TOGETHER)):
        past = [turn for turn in some if is_past(turn, work.retention(turn.channel), now)]
        kept = _pinned(work, [turn.id for turn in past])
        for turn in past:
            if turn.id not in kept:
                going.setdefault(turn.conversation, set()).add(turn.id)
                yield _erased(turn, f"said on {turn.at:%Y-%m-%d}", work.retention(turn.channel).turn_days)


def _erased(record: Turn | ToolInvocation, since: str, days: float) -> Step:
    why = f"{since}, and kept for {days:g} days"
    return Step(action="erase", record=record, why=why, together=True, details={"turn_days": days})


def _old_responses(work: Workspace) -> Iterator[Step]:
    """Responses that nobody goes on from any more; their turns stay."""
    if not (days := work.settings.response_days):
        return
    for response in work.store.find(Response, {"at": AtMost(work.clock.now() - timedelta(days=days))}):
        why = f"answered on {response.at:%Y-%m-%d}, and kept for {days:g} days"
        yield Step(action="erase", record=response, why=why, details={"response_days": days})


def _old_calls(work: Workspace, days: float) -> Iterator[Step]:
    """Calls of tools that belong to no turn go when turns of their time do."""
    now = work.clock.now()
    old = {"at": AtMost(now - timedelta(days=days)), "turn": None}
    for call in work.store.find(ToolInvocation, old):
        own = work.retention(call.channel).turn_days
        if own and now - call.at >= timedelta(days=own):
            yield _erased(call, f"called on {call.at:%Y-%m-%d}", own)


def _pinned(work: Workspace, turns: Sequence[str]) -> set[str]:
    citing = work.store.linking("sources", turns) if turns else {}
    pinned = [m.id for m in work.store.get(MemoryRecord, list(citing), bare=True) if m.pinned]
    return {source for id in pinned for source in citing[id]}


def _empty_conversations(
    work: Workspace, days: float, going: Mapping[str, AbstractSet[str]]
) -> Iterator[Step]:
    """What is left of a conversation when its last turn has gone, or goes now, is a name, which goes too."""
    now = work.clock.now()
    old = {"last_at": AtMost(now - timedelta(days=days))}
    for conversation in work.store.find(Conversation, old):
        own = work.retention(conversation.channel).turn_days
        over = bool(own) and now - conversation.last_at >= timedelta(days=own)
        if over and not _is_left(work, conversation.id, going.get(conversation.id, frozenset())):
            yield Step(action="erase", record=conversation, why="no turn of it is left", together=True)


def _is_left(work: Workspace, conversation: str, going: AbstractSet[str]) -> bool:
    """Whether anything of a conversation stays when these turns go; some of them may have gone already."""
    return any(id not in going for (id,) in work.store.fields(Turn, ("id",), {"conversation": conversation}))
