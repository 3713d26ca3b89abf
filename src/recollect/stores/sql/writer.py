"""Applies changes to one user's rows inside one transaction. The only writer of records."""

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, TypeVar

from sqlalchemy import Connection, Table, bindparam, update

from recollect.errors import Conflict, Invalid, NotFound
from recollect.model.changes import (
    Append,
    Change,
    Expect,
    ExpectOnly,
    Held,
    Log,
    Once,
    Pool,
    Put,
    Remove,
    Renew,
    Revise,
    Thread,
    TurnDraft,
    Unname,
    Within,
)
from recollect.model.records import (
    BY_KIND,
    FRESH,
    SEARCHABLE,
    AuditEntry,
    Conversation,
    MemoryRecord,
    Record,
    Turn,
)
from recollect.model.searched import searchable_text
from recollect.model.space import Space
from recollect.ports.store import Applied
from recollect.stores.sql import schema
from recollect.stores.sql.appending import archived, grown, placed, unchanged
from recollect.stores.sql.auditing import empty_payloads, unname
from recollect.stores.sql.backend import Backend
from recollect.stores.sql.codec import encode_fields, encode_number, from_row, to_columns, to_row
from recollect.stores.sql.expecting import expect, expect_held, expect_only
from recollect.stores.sql.indexing import DERIVED_FROM, Indexer, derived
from recollect.stores.sql.linking import link, unlink
from recollect.stores.sql.locking import lock_user
from recollect.stores.sql.once import note_once
from recollect.stores.sql.placing import Places
from recollect.stores.sql.reading import of_kind
from recollect.stores.sql.rows import UserRows, own_revision, own_update
from recollect.stores.sql.sizes import Sizes
from recollect.stores.sql.tending import pool_usage
from recollect.stores.sql.threads import drop_threads, put_threads

R = TypeVar("R", bound=Record)

_CHANGING = (
    "next_index",
    "mined_to",
    "concluded_to",
    *FRESH,
    "started_at",
    "last_at",
    "ended_at",
    "title",
    "seq",
)
_SAVE = (
    own_update(schema.conversations)
    .where(schema.conversations.c.id == bindparam("which"))
    .values({name: bindparam(f"new_{name}") for name in _CHANGING})
)
_RENEW = own_update(schema.usage).where(schema.usage.c.id == bindparam("which")).values(since_renewal=0)
_SETTLE = own_update(schema.users).values(
    {name: bindparam(f"new_{name}") for name in ("seq", "next_doc", "documents", "terms")}
)


def apply(
    backend: Backend, connection: Connection, user: str, changes: Sequence[Change], space: Space | None
) -> Applied:
    """All of the changes, as one step of the user's feed."""
    rows = UserRows(connection, user)
    row = lock_user(backend, rows)
    seq: int = row["seq"] + 1
    writer = _Writer(backend, rows, seq, row["secret"], Indexer(backend, rows, row, seq, space))
    expect_held(rows, {change.holder for change in changes if isinstance(change, Held)})
    limits = [change for change in changes if isinstance(change, Within)]
    for change in _joined(changes):
        match change:
            case Append():
                writer.append(change.drafts)
            case Revise():
                writer.revise(change)
            case Remove():
                writer.remove(change)
            case ExpectOnly():
                expect_only(rows, change)
            case Renew():
                writer.renew(change.ids)
            case Unname():
                unname(rows, seq, change.field, change.names)
                if change.scrub:
                    note_erasure(backend, rows)
            case Pool():
                pool_usage(rows, change)
            case _Run():
                expect(rows, change.expects)
                writer.put(change.puts)
    put_threads(rows, [change for change in changes if isinstance(change, Thread)])
    if any(_erases(change) for change in changes):
        empty_payloads(rows, seq)
    writer.log([change for change in changes if isinstance(change, Log)])
    note_once(rows, changes, writer.turns)
    writer.indexer.flush()
    writer.sizes.settle(limits)
    writer.places.settle()
    rows.change(
        _SETTLE,
        new_seq=seq,
        new_next_doc=writer.indexer.next_doc,
        new_documents=writer.indexer.documents,
        new_terms=writer.indexer.terms,
    )
    return Applied(seq, tuple(writer.turns), writer.created)


@dataclass(frozen=True, slots=True)
class _Run:
    """Neighbouring puts, or expectations, of one kind."""

    puts: list[Put]
    expects: list[Expect]


_Step = Append | Revise | Remove | ExpectOnly | Renew | Pool | Unname | _Run


def _joined(changes: Sequence[Change]) -> list[_Step]:
    """Neighbours that become one statement, joined."""
    joined: list[_Step] = []
    steps = [change for change in changes if not isinstance(change, Log | Within | Held | Once | Thread)]
    for _, neighbours in groupby(steps, lambda c: (type(c), _kind(c))):
        run = _Run([], [])
        for change in neighbours:
            match change:
                case Put():
                    run.puts.append(change)
                case Expect():
                    run.expects.append(change)
                case Append() | Revise() | Remove() | ExpectOnly() | Renew() | Pool() | Unname():
                    joined.append(change)
        if run.puts or run.expects:
            joined.append(run)
    return joined


def _kind(change: Change) -> str:
    match change:
        case Put():
            return change.record.kind
        case Expect():
            return change.kind
        case _:
            return ""


def _erases(change: Change) -> bool:
    """Whether what was asked and answered may repeat what goes: a text, or a name."""
    match change:
        case Remove():
            return change.erases and change.kind != AuditEntry.kind
        case _:
            return isinstance(change, Unname)


class _Writer:
    def __init__(self, backend: Backend, rows: UserRows, seq: int, secret: str, indexer: Indexer) -> None:
        self._backend = backend
        self._rows = rows
        self._seq = seq
        self._secret = bytes.fromhex(secret)
        self.indexer = indexer
        self._nothing_yet = seq == 1
        """Whether nothing of the user's is stored, so that there is nothing to read."""
        self.sizes = Sizes(rows, new=self._nothing_yet)
        self.places = Places(rows)
        self.turns: list[Turn] = []
        self.created = 0

    def append(self, drafts: Sequence[TurnDraft]) -> None:
        conversations = self._conversations({draft.conversation for draft in drafts})
        next_index = {id: conversation.next_index for id, conversation in conversations.items()}
        taken = self._taken(drafts)
        new: list[Turn] = []
        stored: list[TurnDraft] = []
        for draft in drafts:
            behind = next_index.get(draft.conversation, 0)
            index = behind if draft.index is None else draft.index
            place = (draft.conversation, index)
            if draft.index is not None and place in taken:
                self.turns.append(unchanged(taken[place], draft))
                continue
            turn = placed(draft, index)
            next_index[draft.conversation] = index + 1 if index >= behind else behind
            taken[place] = turn
            self.turns.append(turn)
            new.append(turn)
            stored.append(draft)
        columns = self._insert(Turn, new) | archived(conversations, new)
        self.indexer.add("turn", columns, ((draft.content, draft.chunks) for draft in stored))
        self.created += len(new)
        self._grow(conversations, new, {d.conversation: d.title for d in drafts if d.title is not None})

    def _grow(
        self, known: Mapping[str, Conversation], new: Sequence[Turn], titles: Mapping[str, str]
    ) -> None:
        """Save what new turns make of their conversations."""
        turns: dict[str, list[Turn]] = {}
        for turn in new:
            turns.setdefault(turn.conversation, []).append(turn)
        grown_ones = [grown(known.get(id), said, titles.get(id)) for id, said in turns.items()]
        self._insert(
            Conversation, [conversation for conversation in grown_ones if conversation.id not in known]
        )
        for conversation in grown_ones:
            if conversation.id in known:
                row = {**self._rows.closed(schema.conversations, to_row(conversation)), "seq": self._seq}
                changed = {f"new_{name}": row[name] for name in _CHANGING}
                self._rows.change(_SAVE, which=row["id"], **changed)

    def _conversations(self, ids: set[str]) -> dict[str, Conversation]:
        """The conversations as far as they exist."""
        if self._nothing_yet:
            return {}
        table = schema.conversations
        found = self._rows.all_in(self._rows.select(table), table.c.id, sorted(ids))
        return {row["id"]: from_row(Conversation, row, {}) for row in found}

    def _taken(self, drafts: Sequence[TurnDraft]) -> dict[tuple[str, int], Turn]:
        """What is stored already where the drafts want to go."""
        if self._nothing_yet:
            return {}
        table = schema.turns
        wanted: dict[str, list[float]] = {}
        for draft in drafts:
            if draft.index is not None:
                wanted.setdefault(draft.conversation, []).append(encode_number(draft.index))
        taken: dict[tuple[str, int], Turn] = {}
        for conversation, indexes in wanted.items():
            statement = self._rows.select(table).where(table.c.conversation == conversation)
            for row in self._rows.all_in(statement, table.c["index"], indexes):
                taken[conversation, row["index"]] = from_row(Turn, row, {})
        return taken

    def put(self, puts: Sequence[Put]) -> None:
        """Records of one kind. What is there already under the same id is replaced."""
        if not puts:
            return
        kind = type(puts[0].record)
        if kind.kind not in SEARCHABLE and any(put.chunks for put in puts):
            raise Invalid(f"A {kind.kind} is not searched: it can have no chunks.")
        table = schema.RECORD_TABLES[kind.kind]
        ids = [put.record.id for put in puts]
        if len(set(ids)) != len(ids):
            raise Invalid(f"The same {kind.kind} is stored twice in one change.")
        known = set(self._known(kind, ids))
        if issubclass(kind, MemoryRecord):
            self._refuse_other_kinds(kind, [id for id in ids if id not in known])
        replaced = [id for id in ids if id in known]
        self.sizes.remove(table, replaced)
        self.places.remove(table, replaced)
        reindexed = [put.record.id for put in puts if put.chunks is not None and put.record.id in known]
        self._rows.delete_in(table, table.c.id, replaced)
        if reindexed:
            self.indexer.remove(reindexed)
            note_erasure(self._backend, self._rows)
        columns = self._insert(kind, [put.record for put in puts])
        if kind is Turn:
            turns = [put.record for put in puts if isinstance(put.record, Turn)]
            columns |= archived(self._conversations({turn.conversation for turn in turns}), turns)
        if kind.kind in SEARCHABLE:
            searched = ((searchable_text(put.record), put.chunks or ()) for put in puts)
            self.indexer.add(kind.kind, columns, searched)
        for place, put in enumerate(puts):
            if put.chunks is None and put.record.id in known and kind.kind in SEARCHABLE:
                row = {name: column[place] for name, column in columns.items()}
                self.indexer.revise(put.record.id, {**row, **derived(row)})
            if isinstance(put.record, Conversation) and (put.record.archived_at or put.record.id in known):
                self.indexer.archive(put.record.id, put.record.archived_at is not None)
        link(self._rows, [put.record for put in puts], replaced)

    def revise(self, change: Revise) -> None:
        kind = BY_KIND[change.kind]
        table = schema.RECORD_TABLES[change.kind]
        if "content" in change.fields or "id" in change.fields:
            raise Invalid("What was stored is not changed: correct it instead.")
        values = encode_fields(kind, change.fields)
        if empty := [name for name, value in values.items() if value is None and not table.c[name].nullable]:
            raise Invalid(f"A {change.kind} needs a value for {empty[0]!r}.")
        if not self._known(kind, [change.id]):
            raise NotFound(f"There is no {change.kind} {change.id!r}.")
        new = {**self._rows.closed(table, values), "seq": self._seq}
        if "channel" in values:
            self.sizes.remove(table, [change.id])
            self.sizes.add(table, [values["channel"]])
        self.places.remove(table, [change.id])
        given = {f"new_{name}": value for name, value in new.items()}
        self._rows.change(own_revision(table, table.c.id, tuple(new)), which=change.id, **given)
        self.places.revised(table, change.id)
        if change.kind in SEARCHABLE:
            self.indexer.revise(change.id, values | self._derived(table, change.id, values))
        if kind is Conversation and "archived_at" in values:
            self.indexer.archive(change.id, values["archived_at"] is not None)

    def _derived(self, table: Table, id: str, changed: Mapping[str, Any]) -> dict[str, Any]:
        """What chunks have that is worked out from several columns of a record, some of which changed."""
        columns = [table.c[name] for name in DERIVED_FROM if name in table.c]
        if not any(column.name in changed for column in columns):
            return {}
        (row,) = self._rows.all(self._rows.select(table, *columns).where(table.c.id == id))
        return derived(row)

    def remove(self, change: Remove) -> None:
        kind, table = BY_KIND[change.kind], schema.RECORD_TABLES[change.kind]
        ids = self._known(kind, change.ids)
        if not ids:
            return
        if change.kind in SEARCHABLE:
            self.indexer.remove(ids)
            self._rows.delete_in(schema.usage, schema.usage.c.id, ids)
        self.sizes.remove(table, ids)
        self.places.remove(table, ids)
        self._rows.delete_in(table, table.c.id, ids)
        if kind is not Conversation:  # its id is a name, which something else may have as its id
            unlink(self._rows, ids)
        if kind is Conversation:  # named by its caller, so even the name may tell something
            drop_threads(self._rows, ids)
            ids = [hmac.digest(self._secret, id.encode(), "sha256").hex() for id in ids]
        self.indexer.note_gone(change.kind, ids)
        if change.scrub:
            note_erasure(self._backend, self._rows)

    def renew(self, ids: Sequence[str]) -> None:
        for id in ids:
            self._rows.change(_RENEW, which=id)

    def log(self, logs: Sequence[Log]) -> None:
        entries = [
            replace(log.entry, count=self.created) if log.turns else log.entry
            for log in logs
            if self.created or not log.turns
        ]
        self._insert(AuditEntry, entries)

    def _known(self, kind: type[Record], ids: Sequence[str]) -> list[str]:
        """Those of the ids that are stored as this kind."""
        table = schema.RECORD_TABLES[kind.kind]
        statement = of_kind(self._rows.select(table, table.c.id), kind)
        return [row["id"] for row in self._rows.all_in(statement, table.c.id, list(dict.fromkeys(ids)))]

    def _refuse_other_kinds(self, kind: type[Record], ids: Sequence[str]) -> None:
        table = schema.memories
        taken = self._rows.all_in(self._rows.select(table, table.c.id, table.c.kind), table.c.id, ids)
        if taken:
            raise Conflict(f"{taken[0]['id']!r} is a {taken[0]['kind']}, not a {kind.kind}.")

    def _insert(self, kind: type[R], records: Sequence[R]) -> dict[str, list[Any]]:
        """Insert records of one kind; gives their columns."""
        columns = to_columns(kind, records) | {"seq": [self._seq] * len(records)}
        table = schema.RECORD_TABLES[kind.kind]
        self._rows.insert_columns(table, len(records), columns)
        self._nothing_yet = False
        self.sizes.add(table, columns.get("channel", ()))
        self.places.add(table, columns)
        return columns


def note_erasure(backend: Backend, rows: UserRows) -> None:
    """Say that bytes of something erased may be left in the files."""
    table = schema.erasures
    bump = update(table).where(table.c.partition == backend.partition_of(rows))
    rows.connection.execute(bump.values(erased=table.c.erased + 1))
