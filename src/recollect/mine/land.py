"""From what a window gave to what is stored: who is meant, what is new, and what it changes."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.mine.bonds import Tying, plan_relations
from recollect.mine.entities import Cast, cast, seen
from recollect.mine.extracted import USER, Bond, Claim, Extraction, Mention, Window
from recollect.mine.resolve import Known, Making, Resolved, resolve, slots_of
from recollect.mine.slots import rewords
from recollect.mine.versions import SAID
from recollect.model.changes import Change, Chunk, Expect, ExpectOnly, Put
from recollect.model.records import (
    MEMORY_TYPES,
    MINED,
    RAN_OUT,
    Entity,
    MemoryRecord,
    Relation,
    Tense,
    Tombstone,
    Turn,
)
from recollect.model.scope import GLOBAL
from recollect.model.search import Filter, Search
from recollect.model.searched import searchable_text
from recollect.model.shapes import shapes
from recollect.ports.store import UserView
from recollect.record.memories import entity_id, tombstone_digest
from recollect.record.retention import mortal, renewed
from recollect.record.turns import said_at
from recollect.text.chunk import spans
from recollect.text.names import folded, name_key
from recollect.workspace import Workspace

OTHERS = 0.5
"""How much of a mined memory's salience one has that is about somebody else than the user."""
NEAREST = 3
"""How many of the memories most like a claim are looked at."""

_TYPES = {kind.kind: kind for kind in MEMORY_TYPES}
_OWN = {
    kind.kind: {shape.name for shape in shapes(kind)} - {shape.name for shape in shapes(MemoryRecord)}
    for kind in MEMORY_TYPES
}


@dataclass(frozen=True, slots=True)
class Landing:
    """What a window changes, and how much of each there is of it."""

    changes: list[Change]
    resolved: Resolved
    entities: int
    relations: int
    unindexed: list[Entity]
    """Those of the entities of which something else is searched than before."""

    def indexed(self, chunks: Mapping[str, tuple[Chunk, ...]]) -> list[Change]:
        """The changes, with what is searched of those entities."""
        return [
            Put(c.record, chunks[c.record.id]) if isinstance(c, Put) and c.record.id in chunks else c
            for c in self.changes
        ]


def embedded(work: Workspace, extraction: Extraction) -> dict[str, Any]:
    """The vectors of the claims' contents: computed once, before anything is planned."""
    contents = list(dict.fromkeys(claim.content for claim in extraction.claims))
    return dict(zip(contents, work.embed(contents), strict=True))


def plan_landing(
    work: Workspace, view: UserView, window: Window, extraction: Extraction, vectors: Mapping[str, Any]
) -> Landing:
    """What the extraction of a window changes in the memory as it is now."""
    at = {turn.id: turn.at for turn in window.turns}
    secret = view.secret()
    claims = _remembered(view, secret, extraction.claims, at)
    people, met = _cast(work, view, secret, extraction, claims, window.turns)
    known = _known(work, view, claims, vectors)
    making = _making(work, extraction, people, at, _said_before(view, known) | at)
    resolved = resolve(claims, known, making)
    stored = {m.id: m for versions in known.versions.values() for m in versions}
    stored |= {memory.id: memory for memory in (*known.alike.values(), *known.named.values())}
    changes: list[Change] = []
    for kind, slots in _by_kind(claims, known.named.values()):
        found = [m for slot in slots for m in known.versions.get((kind, slot), ())]
        for where in _places(work):
            ids = frozenset(m.id for m in found if m.channel == where["channel"])
            changes.append(ExpectOnly(kind, {"slot": slots, **where}, ids))
    memories = list(resolved.memories.values())
    changed = [Expect(m.kind, m.id, stored[m.id]) for m in memories if m.id in stored]
    puts = [Put(m, None if m.id in stored else _chunks(m, vectors)) for m in memories]
    relations, bonds = _relations(work, view, extraction.bonds, people, at)
    before = {entity.id: entity for entity in met}
    entities, unindexed = _entities(people, before)
    changes += sorted((*changed, *puts), key=_kind_of)
    changes += [*entities, *relations]
    count = sum(isinstance(change, Put) for change in entities)
    return Landing(changes, resolved, count, bonds, unindexed)


def _kind_of(change: Change) -> tuple[bool, str]:
    """Neighbours of one kind are written with one statement; what is expected comes first."""
    if isinstance(change, Put):
        return True, change.record.kind
    return False, getattr(change, "kind", "")


def _remembered(
    view: UserView, secret: bytes, claims: Sequence[Claim], at: Mapping[str, datetime]
) -> list[Claim]:
    """The claims without those that somebody wants forgotten. What merely ran out may be said again."""
    digests = {claim.content: tombstone_digest(secret, claim.content) for claim in claims}
    where = {"digest": list(set(digests.values()))}
    stones: dict[str, list[Tombstone]] = {}
    for stone in view.find(Tombstone, where) if claims else ():
        stones.setdefault(stone.digest, []).append(stone)

    def is_gone(claim: Claim) -> bool:
        said = max(at[turn] for turn in claim.turns)
        found = stones.get(digests[claim.content], ())
        return any(not stone.metadata.get(RAN_OUT) or said < stone.at for stone in found)

    return [claim for claim in claims if not is_gone(claim)]


def _places(work: Workspace) -> list[dict[str, str]]:
    """Where memories are that this channel may change: in it, and, promoted from it, where all channels read
    them. What is said in one channel changes nothing in another."""
    channel = work.scope.channel
    if GLOBAL not in work.channels or channel == GLOBAL:
        return [{"channel": channel}]
    return [{"channel": channel}, {"channel": GLOBAL, "promoted_from": channel}]


def _is_ours(work: Workspace, memory: MemoryRecord) -> bool:
    return any(all(getattr(memory, name) == value for name, value in w.items()) for w in _places(work))


def _by_kind(claims: Sequence[Claim], named: Iterable[MemoryRecord]) -> list[tuple[str, list[str]]]:
    """The slots that are concerned."""
    slots: dict[str, set[str]] = {}
    for memory in named:
        if memory.slot:
            slots.setdefault(memory.kind, set()).add(memory.slot)
    for claim in claims:
        for kind, slot in slots_of(claim):
            slots.setdefault(kind, set()).add(slot)
    return [(kind, sorted(found)) for kind, found in slots.items()]


def _known(work: Workspace, view: UserView, claims: Sequence[Claim], vectors: Mapping[str, Any]) -> Known:
    replaced = list(dict.fromkeys(id for claim in claims for id in claim.replaces))
    named = {m.id: m for m in view.get(MemoryRecord, replaced) if m.retired_at is None and _is_ours(work, m)}
    versions: dict[tuple[str, str], list[MemoryRecord]] = {}
    for kind, slots in _by_kind(claims, named.values()):
        for where in _places(work):
            for memory in view.find(_TYPES[kind], {"slot": slots, **where}):
                versions.setdefault((kind, memory.slot or ""), []).append(memory)
    alike = {
        place: found
        for place, claim in enumerate(claims)
        if not any(slot in versions for slot in slots_of(claim))
        and (found := _alike(work, view, claim, vectors.get(claim.content))) is not None
    }
    return Known(versions, alike, named)


def _alike(work: Workspace, view: UserView, claim: Claim, vector: Any) -> MemoryRecord | None:
    """A memory that says the same in other words."""
    if vector is None:
        return None
    channels = tuple(where["channel"] for where in _places(work))
    filter = Filter(now=work.clock.now(), kinds=(claim.kind,), channels=channels)
    least = work.settings.same_similarity
    search = Search(filter=filter, vector=vector, space=work.space, threshold=least, limit=NEAREST)
    near = [found.owner for found in view.search(search) if (found.similarity or 0.0) >= least]
    for memory in view.get(_TYPES[claim.kind], near):
        if _is_ours(work, memory) and rewords(memory.content, claim.content):
            return memory
    return None


def _cast(
    work: Workspace,
    view: UserView,
    secret: bytes,
    extraction: Extraction,
    claims: Sequence[Claim],
    turns: Sequence[Turn],
) -> tuple[Cast, list[Entity]]:
    """Everybody and everything that is named, found by any of their names; and as they were."""
    mentions = (*extraction.mentions, *_own_names(claims))
    names = [name for claim in claims for name in (claim.subject, *claim.about)]
    names += [name for bond in extraction.bonds for name in (bond.source, bond.target)]
    names = [name for name in dict.fromkeys(names) if folded(name)]

    def key(name: str) -> str:
        return name_key(secret, name)

    spoken = [name for mention in mentions for name in (mention.name, *mention.aliases)]
    wanted = {key(name) for name in (*names, *spoken)}
    wanted |= {key(name.split(maxsplit=1)[0]) for name in spoken if name.strip()}
    found = {*view.linking("keys", sorted(wanted))}
    by_name = view.find(Entity, {"name": list(dict.fromkeys((*names, *spoken)))}) if wanted else ()
    found |= {entity.id for entity in by_name}  # made before entities had keys
    called = view.get(Entity, sorted(found))
    read = work.channels
    known = [entity for entity in called if entity.channel in read]
    foreign = {entity.id for entity in called if entity.channel not in read}
    first = min((turn.at for turn in turns), default=work.clock.now())

    def new(name: str) -> Entity:
        person = "person" if name == USER else "thing"
        return Entity(
            id=entity_id(secret, name, work.scope.channel if entity_id(secret, name) in foreign else None),
            name=name,
            type=person,
            first_seen=first,
            channel=work.scope.channel,
            salience=work.settings.mined_salience,
        )

    people = cast(mentions, names, known, new, key, work.settings.same_name)
    # Not when it was said: what is recorded of long ago is news here, and fades from now on.
    heard = {turn.id: turn.recorded_at for turn in turns}
    return seen(people, _spoken_of(mentions, claims, extraction.bonds, heard)), known


def _spoken_of(
    mentions: Iterable[Mention], claims: Iterable[Claim], bonds: Iterable[Bond], heard: Mapping[str, datetime]
) -> Iterator[tuple[str, datetime]]:
    """Every name, with when it was heard."""
    named = [((mention.name,), mention.turns) for mention in mentions]
    named += [((claim.subject, *claim.about), claim.turns) for claim in claims]
    named += [((bond.source, bond.target), bond.turns) for bond in bonds]
    for names, turns in named:
        yield from ((name, heard[turn]) for name in names for turn in turns if turn in heard)


def _own_names(claims: Sequence[Claim]) -> list[Mention]:
    """What the user is called, which is theirs alone."""
    told = [c for c in claims if (c.subject, c.attribute) == (USER, "name") and c.value and not c.denies]
    written = [re.search(re.escape(c.value), c.content, re.IGNORECASE) for c in told]
    names = [found.group() if found else c.value for c, found in zip(told, written, strict=True)]
    return [
        Mention(name=USER, type="person", turns=c.turns, aliases=(name,))
        for c, name in zip(told, names, strict=True)
    ]


def _entities(people: Cast, stored: Mapping[str, Entity]) -> tuple[list[Change], list[Entity]]:
    """The entities that are new or changed, and those of them that are to be indexed anew."""
    changed = [e for e in people.entities.values() if stored.get(e.id) != e]
    fresh = [e for e in changed if e.id not in stored or searchable_text(e) != searchable_text(stored[e.id])]
    used = dict.fromkeys((*people.ids.values(), *(e.id for e in changed)))  # nobody forgets them meanwhile
    return [*(Expect("entity", id, stored.get(id)) for id in used), *(Put(e) for e in changed)], fresh


def _said_before(view: UserView, known: Known) -> dict[str, datetime]:
    """When the turns were said behind memories that were said more than once."""
    often = [m for versions in known.versions.values() for m in versions if len(m.sources) > 1]
    turns = list(dict.fromkeys(id for memory in often for id in memory.sources))
    return said_at(view, turns)


def _making(
    work: Workspace,
    extraction: Extraction,
    people: Cast,
    at: Mapping[str, datetime],
    times: Mapping[str, datetime],
) -> Making:
    levels = {
        "explicit": work.settings.explicit_confidence,
        "implied": work.settings.implied_confidence,
        "inferred": work.settings.inferred_confidence,
        "uncertain": work.settings.uncertain_confidence,
    }
    now, policy = work.clock.now(), work.retention()

    def said(claim: Claim) -> datetime:
        return max(at[turn] for turn in claim.turns)

    def new(claim: Claim, slot: str) -> MemoryRecord:
        spoken = said(claim)
        memory = _TYPES[claim.kind](
            id=work.new_id(),
            content=claim.content,
            recorded_at=now,
            valid_from=_begin(claim, spoken),
            valid_to=_end(claim, spoken),
            channel=work.scope.channel,
            agent=work.scope.agent,
            confidence=levels[claim.certainty],
            salience=work.settings.mined_salience * (1 if claim.subject in (USER, "") else OTHERS),
            tense=claim.tense,
            origin=extraction.way,
            slot=slot,
            sources=claim.turns,
            about=tuple(dict.fromkeys(people.id_of(n) for n in (claim.subject, *claim.about) if folded(n))),
            metadata=_metadata(claim, spoken),
            **{name: value for name, value in claim.fields.items() if name in _OWN[claim.kind]},
        )
        return mortal(memory, policy, now)

    return Making(
        said=said,
        confidence=lambda claim: levels[claim.certainty],
        new=new,
        renewed=lambda memory: renewed(memory, policy, now),
        new_id=work.new_id,
        times=times,
        now=now,
        policy=work.settings.contradictions,
    )


def _begin(claim: Claim, said: datetime) -> datetime:
    """From when it holds. A plan is known from when it was made; its day is in the metadata."""
    if claim.since is None or claim.tense is Tense.FUTURE:
        return said
    return min(claim.since, said)


def _end(claim: Claim, said: datetime) -> datetime | None:
    """Until when it holds. That something was so stays true."""
    current = claim.tense is Tense.CURRENT and claim.until is not None and claim.until > said
    return claim.until if current else None


def _metadata(claim: Claim, said: datetime) -> dict[str, Any]:
    known: dict[str, Any] = {
        SAID: said.isoformat(),
        "subject": claim.subject,
        "attribute": claim.attribute,
        "value": claim.value,
        "denies": claim.denies,
        "preference": claim.preference,
        "since": claim.since and claim.since.isoformat(),
        "until": claim.until and claim.until.isoformat(),
        "sensitive": list(claim.tags),
    }
    return {MINED: {name: value for name, value in known.items() if value}}


def _relations(
    work: Workspace, view: UserView, bonds: Sequence[Bond], people: Cast, at: Mapping[str, datetime]
) -> tuple[list[Change], int]:
    """Relations that are new or change, and how many."""
    ends = [(bond, people.id_of(bond.source), people.id_of(bond.target)) for bond in bonds]
    pairs = sorted({(source, bond.type) for bond, source, _ in ends})
    wheres = [{"source": source, "type": type, "channel": work.scope.channel} for source, type in pairs]
    known = [list(view.find(Relation, where)) for where in wheres]
    stored = {relation.id: relation for found in known for relation in found}
    now = work.clock.now()

    def said(bond: Bond) -> datetime:
        return max(at[turn] for turn in bond.turns)

    def new(bond: Bond, source: str, target: str) -> Relation:
        return Relation(
            id=work.new_id(),
            source=source,
            type=bond.type,
            target=target,
            valid_from=min(bond.since or said(bond), said(bond)),
            valid_to=bond.until,
            recorded_at=now,
            channel=work.scope.channel,
            sources=bond.turns,
            metadata={MINED: {SAID: said(bond).isoformat()}},
        )

    often = [turn for relation in stored.values() if len(relation.sources) > 1 for turn in relation.sources]
    times = said_at(view, list(dict.fromkeys(often)))
    tying = Tying(said=said, new=new, new_id=work.new_id, times={**times, **at})
    changed = plan_relations(ends, stored.values(), tying)
    guards: list[Change] = [
        ExpectOnly("relation", where, frozenset(relation.id for relation in found))
        for where, found in zip(wheres, known, strict=True)
    ]
    if not changed:
        return [], 0
    old = [Expect("relation", r.id, stored[r.id]) for r in changed if r.id in stored]
    return [*guards, *old, *(Put(r) for r in changed)], len(changed)


def _chunks(memory: MemoryRecord, vectors: Mapping[str, Any]) -> tuple[Chunk, ...]:
    parts = spans(memory.content)
    whole = vectors.get(memory.content) if len(parts) == 1 else None
    return tuple(Chunk(start, stop, whole) for start, stop in parts)
