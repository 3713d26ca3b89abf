"""Taking an erasure back, for a minute. What it takes is handed to whoever erased and kept nowhere else: what
is forgotten is gone at once, and comes back only from their hands."""

import base64
import hashlib
import hmac
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from recollect.errors import Conflict, Invalid
from recollect.limits import check_given
from recollect.model.changes import Change, Expect, ExpectOnly, Put, Remove, Revise
from recollect.model.records import BY_KIND, RECORD_TYPES, AuditEntry, Record
from recollect.model.searched import searchable_text
from recollect.model.shapes import from_json, shapes, to_json
from recollect.ports.stored import Usage
from recollect.record.memories import indexed_all
from recollect.settings import MiB, Settings
from recollect.tend.undo_needs import undoing_needs
from recollect.workspace import Workspace

FOR = timedelta(minutes=1)
MOST = 1000
"""Of more records than this, an erasure is not taken back."""
_SEAL = "undo"
_AROUND = 1024  # what a request has around it
LINKS = ("sources", "about", "blocked_by")
_CHANGED = (
    "That cannot be undone any more: what was erased has been put back, or what it touched was changed."
)

Named = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Touched:
    """One record, as it was and as an erasure left it; None where there was or is none."""

    before: Record | None
    after: Record | None

    @property
    def named(self) -> Named:
        record = self.before or self.after
        assert record is not None
        return record.kind, record.id


def touched(work: Workspace, changes: Iterable[Change]) -> list[Touched]:
    """What changes do, record by record."""
    changes = [change for change in changes if isinstance(change, (Put, Revise, Remove))]
    before = _stored(work, changes) | _linking(work, changes)
    after: dict[Named, Record | None] = dict(before)
    for change in changes:
        match change:
            case Remove(kind, ids):
                after |= {(kind, id): None for id in ids}
            case Put(record):
                after[record.kind, record.id] = record
            case Revise(kind, id, fields):
                if (record := after[kind, id]) is not None:
                    after[kind, id] = replace(record, **fields)
    gone = {id for (_, id), record in after.items() if record is None}
    pairs = ((before.get(name), record and _without(record, gone)) for name, record in after.items())
    return [Touched(old, new) for old, new in pairs if old != new]


def _stored(work: Workspace, changes: Sequence[Put | Revise | Remove]) -> dict[Named, Record | None]:
    wanted: dict[str, set[str]] = {}
    for change in changes:
        match change:
            case Remove(kind, ids):
                wanted.setdefault(kind, set()).update(ids)
            case Put(record):
                wanted.setdefault(record.kind, set()).add(record.id)
            case Revise(kind, id):
                wanted.setdefault(kind, set()).add(id)
    found: dict[Named, Record | None] = {}
    for kind, ids in wanted.items():
        found |= dict.fromkeys((kind, id) for id in ids)
        found |= {(kind, record.id): record for record in work.store.get(BY_KIND[kind], sorted(ids))}
    return found


def _linking(work: Workspace, changes: Sequence[Change]) -> dict[Named, Record | None]:
    """Those that lead to what is removed: they no longer do afterwards, and no change says so."""
    gone = sorted({id for change in changes if isinstance(change, Remove) for id in change.ids})
    found: dict[Named, Record | None] = {}
    for link in LINKS:
        if owners := [*work.store.linking(link, gone)]:
            kinds = [kind for kind in RECORD_TYPES if any(field.name == link for field in shapes(kind))]
            records = [record for kind in kinds for record in work.store.get(kind, owners)]
            found |= {(record.kind, record.id): record for record in records}
    return found


def _without(record: Record, gone: Set[str]) -> Record:
    links = {link: getattr(record, link, ()) for link in LINKS}
    left = {link: tuple(id for id in ids if id not in gone) for link, ids in links.items()}
    changed = {link: ids for link, ids in left.items() if ids != links[link]}
    return replace(record, **changed) if changed else record


def sealed(work: Workspace, changes: Sequence[Change], receipt: str) -> str | None:
    """What takes these changes back, as text that only this memory takes, and only for a while; None when it
    would be too much. The entry with the id `receipt` is to have `seal_of` it: an export tells the secret, so
    whoever has one could seal anything, but what was handed out is known by its receipt."""
    steps = touched(work, changes)
    if len(steps) > MOST:
        return None
    gone = [step.before for step in steps if step.before is not None and step.after is None]
    told: dict[str, Any] = {
        "until": (work.clock.now() + FOR).isoformat(),
        "steps": [[_json(step.before), _json(step.after)] for step in steps],
        "guards": [[only.kind, only.where, sorted(only.ids)] for only in undoing_needs(work, gone)],
        "used": {
            id: [used.count, used.since_renewal, used.last_at.isoformat()]
            for id, used in work.store.usage([record.id for record in gone]).items()
        },
    }
    body = f"{receipt}.{base64.urlsafe_b64encode(json.dumps(told).encode()).decode()}"
    token = f"{body}.{_seal(work, body)}"
    return token if len(token) <= longest(work.settings) else None


def seal_of(token: str | None) -> dict[str, str]:
    """What the receipt of an erasure notes of what takes it back."""
    return {} if token is None else {_SEAL: token.rpartition(".")[2]}


def longest(settings: Settings) -> int:
    """The most characters of what takes an erasure back: a server's request has to hold it."""
    return settings.body_mb * MiB - _AROUND


def _json(record: Record | None) -> Mapping[str, Any] | None:
    return None if record is None else to_json(record)


def _seal(work: Workspace, body: str) -> str:
    return hmac.new(
        work.store.secret(), f"undo {body}".encode("utf-8", "replace"), hashlib.sha256
    ).hexdigest()


def undo(work: Workspace, token: str) -> dict[str, int]:
    """Put back what an erasure took, and what it changed as it was, unless any of it has changed since. How
    many records of each kind are back."""
    kept = _opened(work, token)
    if work.clock.now() > kept.until:
        raise Invalid("The time to undo this is over: what was erased is gone.")
    back = [step.before for step in kept.steps if step.after is None and step.before is not None]
    counts = dict(Counter(record.kind for record in back))
    logged = work.log("undo", "records", count=len(back), details={"kinds": counts}, always=True)
    expected = [Expect(*step.named, step.after) for step in kept.steps]
    try:
        work.apply(*expected, *kept.guards, *_changes(work, kept.steps), *logged)
    except Conflict:
        raise Conflict(_CHANGED) from None
    for kind in {type(record) for record in back if record.id in kept.used}:
        own = {record.id for record in back if isinstance(record, kind)}
        work.store.put_usage(kind, {id: used for id, used in kept.used.items() if id in own})
    return counts


def _changes(work: Workspace, steps: Sequence[Touched]) -> list[Change]:
    made = [step.after for step in steps if step.before is None and step.after is not None]
    old = [step.before for step in steps if step.before is not None]
    anew = [step.before for step in steps if step.before is not None and _is_searched_anew(step)]
    chunks = dict(zip((record.id for record in anew), indexed_all(work, anew), strict=True))
    removed = [Remove(record.kind, (record.id,), scrub=False) for record in made]
    return [*removed, *(Put(record, chunks.get(record.id)) for record in old)]


def _is_searched_anew(step: Touched) -> bool:
    """Whether it says what is not in the index as it is now."""
    assert step.before is not None
    text = searchable_text(step.before)
    return bool(text.strip()) and (step.after is None or searchable_text(step.after) != text)


@dataclass(frozen=True, slots=True)
class Kept:
    """What whoever erased was handed."""

    until: datetime
    steps: Sequence[Touched]
    guards: Sequence[ExpectOnly]
    used: Mapping[str, Usage]


def _opened(work: Workspace, token: str) -> Kept:
    check_given("undo", token, longest(work.settings))
    body, _, seal = token.rpartition(".")
    receipt, _, told = body.partition(".")
    sealed = hmac.compare_digest(seal.encode("utf-8", "replace"), _seal(work, body).encode())
    if not sealed or [entry.metadata.get(_SEAL) for entry in work.store.get(AuditEntry, [receipt])] != [seal]:
        raise Invalid("This undoes nothing here: send what forgetting gave, as it was given.")
    return _read(json.loads(base64.urlsafe_b64decode(told)))


def _read(told: Mapping[str, Any]) -> Kept:
    return Kept(
        datetime.fromisoformat(told["until"]),
        [Touched(*(None if record is None else from_json(record) for record in s)) for s in told["steps"]],
        [ExpectOnly(kind, where, frozenset(ids)) for kind, where, ids in told["guards"]],
        {
            id: Usage(count, since, datetime.fromisoformat(at))
            for id, (count, since, at) in told["used"].items()
        },
    )
