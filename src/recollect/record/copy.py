"""Copies memories from one store to another while the first is in use.

Each pass reads one state of the source: the first compares everything, those after it what the change
feed names. How far a copy has come is written nowhere but in what the target holds, so it can be killed
at any moment and run again.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeVar

from recollect.errors import Conflict, NotFound, StoreError
from recollect.model.changes import Chunk, Put, Remove
from recollect.model.records import BY_KIND, RECORD_TYPES, SEARCHABLE, AuditEntry, Conversation, Record
from recollect.model.searched import searchable_text
from recollect.model.space import Space
from recollect.ports.store import Store, UserStore, UserView
from recollect.record.digest import Content, contents, marks_of

T = TypeVar("T")

BATCH = 200
"""How many records are read, compared and written at once."""

Progress = Callable[[int, int], None]
"""Is told how many records were compared, of how many."""


@dataclass(frozen=True, slots=True)
class CopiedUser:
    """One user's memory, found to be the same in both stores at `seq` of the source's feed."""

    user: str
    seq: int
    contents: Mapping[str, Content]
    """Count and hash of each kind of record, of the chunks with their vectors, and of the usage."""
    later: int = 0
    """How many changes came after that, each of which was copied and read back."""
    new: int = 0
    """How many of the records the target did not have before."""

    @property
    def records(self) -> int:
        return sum(content.count for kind, content in self.contents.items() if kind in BY_KIND)


@dataclass(frozen=True, slots=True)
class Copied:
    users: tuple[CopiedUser, ...]
    space: Space | None
    """The space whose vectors were copied; None when the target has to compute its own."""
    others: tuple[str, ...] = ()
    """Users of the target whom the source does not have."""

    @property
    def records(self) -> int:
        return sum(user.records for user in self.users)

    @property
    def new(self) -> int:
        return sum(user.new for user in self.users)


def copy_store(
    source: Store, target: Store, user: str | None = None, progress: Progress | None = None
) -> Copied:
    """Everything of every user, or of one; verified. `Conflict` where the target holds something else."""
    if user is not None:
        check_has(source, user)
    space = source.active_space()
    if space is not None and not target.claim_space(space):
        space = None
    watch = _Watch(progress)
    copies: dict[str, _Copy] = {}
    names = list(source.users()) if user is None else [user]
    for name in names:
        watch.expect(source.user(name))
    while names:
        for name in names:
            copies[name] = _Copy(source.user(name), target.user(name), space, watch)
            copies[name].catch_up()
            copies[name].verify()
        names = [] if user else [name for name in source.users() if name not in copies]
    while moved := [copy for copy in copies.values() if copy.is_behind()]:
        for copy in moved:  # since they were copied, others took their time
            copy.catch_up()
            if not copy.done.seq:
                copy.verify()
    if target.needs_scrub():
        target.scrub()
    others = () if user else tuple(name for name in target.users() if not source.user(name).seq())
    return Copied(tuple(copy.done for copy in copies.values() if copy.seq), space, others)


def check_has(source: Store, user: str) -> None:
    """`NotFound` when there is nothing of this user."""
    if not source.user(user).seq():
        raise NotFound(f"There is nothing of {user!r} to copy.")


@dataclass(slots=True)
class _Watch:
    tell: Progress | None
    done: int = 0
    total: int = 0

    def expect(self, user: UserView) -> None:
        self.total += sum(user.count(kind) for kind in RECORD_TYPES) if self.tell else 0

    def add(self, count: int) -> None:
        self.done += count
        if self.tell:
            self.tell(self.done, max(self.done, self.total))


@dataclass(slots=True)
class _Copy:
    """One user on the way. `seq` is how far the target has come; 0 while it has not begun."""

    source: UserStore
    target: UserStore
    space: Space | None
    watch: _Watch
    seq: int = 0
    secret: bytes = b""
    new: int = 0
    done: CopiedUser = field(init=False)

    def __post_init__(self) -> None:
        self.done = CopiedUser(self.source.user, 0, {})

    def is_behind(self) -> bool:
        return self.source.seq() != self.seq

    def catch_up(self) -> None:
        while self.is_behind():
            with self.source.snapshot() as view:
                self._pass(view)

    def verify(self) -> None:
        """Hash both sides at one state of the source. Vectors and counts that came late, past the feed,
        are made up for once."""
        with self.source.snapshot() as view:
            self._pass(view)
            if not self.seq:
                return
            found, copied = contents(view, self.space), contents(self.target, self.space)
            if copied != found:
                self._everything(view)
                copied = contents(self.target, self.space)
            if wrong := [kind for kind in found if found[kind] != copied[kind]]:
                raise _differs(self.source.user, wrong)
            done = CopiedUser(self.source.user, self.seq, found)
            # Some of those may have been removed again since.
            self.done = replace(done, new=min(self.new, done.records))

    def _pass(self, view: UserView) -> None:
        """Bring the target to this state of the source."""
        seq = view.seq()
        secret = view.secret() if seq else b""
        if self.seq and secret != self.secret:  # erased meanwhile, and perhaps there again
            self.target.erase()
            self.seq, self.new, self.done = 0, 0, CopiedUser(view.user, 0, {})
        if seq and not self.seq:
            self._begin(view, secret)
            self._everything(view, self.watch.add)
        elif seq != self.seq:
            self._changes(view)
        self.seq, self.secret = seq, secret

    def _begin(self, view: UserView, secret: bytes) -> None:
        """Refuse a target with anything else in it, and take out what the source has erased since an
        earlier attempt."""
        gone = _gone(view, self.target)
        if not self.target.adopt_secret(secret):
            raise Conflict(
                f"{view.user!r} has forgotten things in the target that the source knows nothing of. "
                "Copy into another database."
            )
        self._remove(gone)

    def _everything(self, view: UserView, tell: Callable[[int], None] | None = None) -> None:
        for kind in RECORD_TYPES:
            for records in _batches(view.find(kind)):
                self._sync(view, kind, records)
                if tell:
                    tell(len(records))

    def _changes(self, view: UserView) -> None:
        """What the feed names, removals first: what came after may be in their place."""
        changed: dict[str, dict[str, None]] = {}
        removed: dict[str, dict[str, None]] = {}
        for entry in view.feed(self.seq):
            (removed if entry.deleted else changed).setdefault(entry.kind, {})[entry.id] = None
        for name, ids in removed.items():
            if name == Conversation.kind:  # of which the feed has only a hash
                ids = [conversation.id for conversation in self.target.find(Conversation)]
            self._remove({BY_KIND[name]: _missing(view, BY_KIND[name], list(ids))})
        for kind in RECORD_TYPES:
            for ids in _batches(changed.get(kind.kind, ())):
                records = view.get(kind, ids)
                self._sync(view, kind, records)
                if self.target.get(kind, ids) != records:
                    raise _differs(view.user, [kind.kind])
        if wrong := [k.kind for k in RECORD_TYPES if view.count(k) != self.target.count(k)]:
            raise _differs(view.user, wrong)
        later = self.done.later + sum(map(len, (*changed.values(), *removed.values())))
        self.done = replace(self.done, later=later)

    def _remove(self, gone: Mapping[type[Record], Sequence[str]]) -> None:
        for kind, missing in gone.items():
            for ids in _batches(missing):
                self.target.apply([Remove(kind.kind, tuple(ids))])

    def _sync(self, view: UserView, kind: type[Record], records: Sequence[Record]) -> None:
        """Have these records in the target as they are in the source; write only what differs."""
        ids = [record.id for record in records]
        stored = {record.id: record for record in self.target.get(kind, ids)}
        if kind.kind not in SEARCHABLE:
            puts = [Put(record) for record in records if stored.get(record.id) != record]
        else:
            here, there = view.chunks(ids, self.space), self.target.chunks(ids, self.space)
            puts = [
                put
                for record in records
                if (put := _put(record, stored.get(record.id), here, there)) is not None
            ]
        if puts:
            self.target.apply(puts, self.space)
            self.new += len(records) - len(stored)
        if kind.kind in SEARCHABLE and (usage := view.usage(ids)):
            counted = self.target.usage(ids)
            self.target.put_usage(kind, {id: u for id, u in usage.items() if counted.get(id) != u})


def _put(
    record: Record,
    stored: Record | None,
    here: Mapping[str, tuple[Chunk, ...]],
    there: Mapping[str, tuple[Chunk, ...]],
) -> Put | None:
    """How to bring a record that is searched over; None when it is there, with all that is searched."""
    chunks = here.get(record.id, ())
    if stored is None or searchable_text(stored) != searchable_text(record):
        return Put(record, chunks)
    if marks_of(chunks) != marks_of(there.get(record.id, ())):
        return Put(record, chunks)
    return None if stored == record else Put(record)


def _gone(view: UserView, target: UserView) -> dict[type[Record], list[str]]:
    """What the target has and the source had; `Conflict` when the source never had it."""
    gone: dict[type[Record], list[str]] = {}
    for kind in RECORD_TYPES:
        for records in _batches(target.find(kind)):
            known = {record.id: record for record in view.get(kind, [record.id for record in records])}
            missing = [record.id for record in records if record.id not in known]
            others = set(missing) - view.deleted(kind, missing) if missing else set[str]()
            if kind is AuditEntry:  # old days of it go without a trace
                others.clear()
            others |= {r.id for r in records if r.id in known and _contradicts(r, known[r.id])}
            if others:
                raise Conflict(
                    f"The target already holds something else of {view.user!r}: the {kind.kind} "
                    f"{min(others)!r} is not the source's. Copy into another database, or forget that user "
                    "there first."
                )
            gone.setdefault(kind, []).extend(missing)
    return gone


def _contradicts(stored: Record, record: Record) -> bool:
    """No content ever changes; everything else of a record may, and then the source's holds."""
    return getattr(stored, "content", None) != getattr(record, "content", None)


def _missing(view: UserView, kind: type[Record], ids: Sequence[str]) -> list[str]:
    known = {record.id for some in _batches(ids) for record in view.get(kind, some)}
    return [id for id in ids if id not in known]


def _differs(user: str, kinds: Sequence[str]) -> StoreError:
    return StoreError(
        f"The copy of {user!r} differs from the source in: {', '.join(kinds)}. "
        "Was the target used meanwhile? Run it again."
    )


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    rest = iter(items)
    while batch := list(islice(rest, BATCH)):
        yield batch
