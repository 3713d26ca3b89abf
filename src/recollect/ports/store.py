"""The database of record.

Everything about one user goes through a handle bound to that user, which is the wall between users:
no method of it takes a user. Beside the handles there is only what workers and operators need, and
none of that returns content.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import date, datetime, timedelta
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from recollect.model.changes import Answered, Change, Chunk
from recollect.model.records import AuditEntry, Conversation, Record
from recollect.model.retention import Retention
from recollect.model.search import Candidate, Search, Words
from recollect.model.space import Space
from recollect.ports.followed import FollowedStore, FollowedView
from recollect.ports.keys import KeyStore
from recollect.ports.stored import (
    Applied,
    FeedEntry,
    Led,
    SpaceState,
    Spent,
    Tally,
    Unembedded,
    Usage,
)
from recollect.ports.tending import JobState, Mark, Measure, Moment, Receipt, Size, Standing, Visit

R = TypeVar("R", bound=Record)
T = TypeVar("T")


class UserView(FollowedView, Protocol):
    """What can be read of one user's memory."""

    @property
    def user(self) -> str: ...

    def seq(self) -> int:
        """Where the user's feed stands; 0 for somebody with nothing stored."""
        ...

    def get(self, kind: type[R], ids: Sequence[str], *, bare: bool = False) -> list[R]:
        """The records that exist among `ids`, in that order. Here and in `find`, `MemoryRecord` stands for
        memories of every kind, and `bare` has what they link to left out, which is most of what reading
        them costs: to choose among many by, and never to be written back."""
        ...

    def find(
        self,
        kind: type[R],
        where: Mapping[str, Any] | None = None,
        *,
        order: str = "id",
        descending: bool = False,
        after: str | None = None,
        limit: int | None = None,
        bare: bool = False,
    ) -> Iterator[R]:
        """Records of a kind whose fields equal `where` (a tuple or list: any of them; `AtMost`: not more,
        `AtLeast`: not less), in order of a field and the id, starting behind the record `after`."""
        ...

    def fields(
        self, kind: type[Record], names: Sequence[str], where: Mapping[str, Any] | None = None
    ) -> Iterator[tuple[Any, ...]]:
        """Of the records that `find` would give no more than these fields, links not being among them; by id.
        To choose among many by: it takes a fraction of what reading them does."""
        ...

    def count(self, kind: type[Record], where: Mapping[str, Any] | None = None) -> int: ...

    def chunks(self, ids: Sequence[str], space: Space | None) -> dict[str, tuple[Chunk, ...]]:
        """What is searched of each of the records, in order, with the vectors of this space."""
        ...

    def search(self, search: Search) -> list[Candidate]:
        """The best candidates by vector and by words, each with both scores, at most `limit` of each."""
        ...

    def sharing(self, asked: Sequence[Words], share: float, limit: int) -> list[list[str]]:
        """For each of many texts, records that may have at least this share of its terms, those with the
        most of them and as long first, at most `limit`. They are found by its rare terms, so that it hardly
        takes longer the more there is: one that has less than half of those may be missed. Whether one
        really has so many is for whoever asks to see."""
        ...

    def linking(self, link: str, targets: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """For each record with such a link to one of the targets, all that it links to: `sources` are the
        turns it cites, `about` the entities, `keys` what an entity is known by."""
        ...

    def rooms(self, turns: Sequence[tuple[str, int]]) -> dict[tuple[str, int], tuple[int, int]]:
        """For each turn, given by its conversation and index, that has a place in the palace: its wing and
        room. Asked by every recall, so it reads nothing else."""
        ...

    def places(self, channels: Sequence[str], wing: int | None, behind: int, limit: int) -> list[Tally]:
        """The wings of the palace, or the rooms of a wing, as far as these channels reach, behind a number,
        at most `limit`. They are not counted anew: it takes no longer the more there is in them."""
        ...

    def unmined(self, limit: int | None = None, now: datetime | None = None) -> list[Conversation]:
        """Conversations with turns past what was mined, those that wait longest first; with `now` only
        those that may be mined by then."""
        ...

    def unconcluded(self, quiet_since: datetime) -> list[Conversation]:
        """Conversations with turns past what was concluded that have ended or in which nobody spoke since,
        whatever date their last turn was given, those that wait longest first."""
        ...

    def threads(self, digests: Sequence[str]) -> list[Led]:
        """Where runs of messages have led to (`Thread`), those of conversations spoken in last first."""
        ...

    def usage(self, ids: Sequence[str]) -> dict[str, Usage]: ...

    def used(self, least: int) -> dict[str, Usage]:
        """What was returned at least so often."""
        ...

    def changed(self, kinds: Sequence[str], since: int, most: int | None = None) -> list[FeedEntry]:
        """What is searched and was stored or changed after this place of the feed, oldest first; with `most`
        about so many, whole steps of the feed. Unlike `feed`, reads no more than that."""
        ...

    def sizes(self) -> dict[str, Size]:
        """How much there is, by channel; under the empty name, in all."""
        ...

    def arrivals(self) -> dict[str, dict[date, int]]:
        """How many of the turns, memories, entities and relations that are stored came on which day (UTC), by
        kind. Reads each of them once, and of each no more than the time."""
        ...

    def marks(self) -> dict[str, Mark]:
        """How far each chore has come."""
        ...

    def spending(self, since: date | None = None) -> list[Spent]:
        """What models were asked for this user, by day, source and model."""
        ...

    def answered(self, key: str) -> Answered | None:
        """What came of the write that was done `Once` under this key."""
        ...

    def feed(self, since: int = 0) -> Iterator[FeedEntry]:
        """Everything that changed after `since`, oldest first."""
        ...

    def steps(self, kinds: Sequence[str], since: int, most: int) -> tuple[list[FeedEntry], int]:
        """What was stored, changed or removed of these kinds after a place of the feed, oldest first, about
        `most` of each in whole steps; and up to which place that is all. Unlike `feed`, reads no more than
        that. Of what is searched, a change that no search could tell may be missing; a vector that was filled
        in is one."""
        ...

    def deleted(self, kind: type[Record], ids: Sequence[str]) -> set[str]:
        """Those of the ids that were once removed as records of this kind."""
        ...

    def moment(self) -> Moment | None:
        """The state that the memory is in; None when nothing is stored."""
        ...

    def secret(self) -> bytes:
        """The key of this user's tombstones."""
        ...


class UserStore(UserView, Protocol):
    """One user's memory."""

    def apply(self, changes: Sequence[Change], space: Space | None = None) -> Applied:
        """Do all of it or none, durably, in one transaction; what is `Held` may reach the disk later, in
        order, as the background would do it again. `space` is that of the chunks' vectors."""
        ...

    def snapshot(self) -> AbstractContextManager[UserView]:
        """The memory as it is at one moment, whatever is written meanwhile."""
        ...

    def reading(self, step: Callable[[UserView], T], *, latest: bool = True) -> T:
        """What `step` makes of a snapshot; taken again should the connection be lost. One that is not to be
        the `latest` may lack what other processes wrote in the last seconds: for answers, not for plans."""
        ...

    def touch(self, ids: Mapping[str, tuple[str, int, datetime]]) -> None:
        """Count returned memories: id -> (kind, times, last). Does not enter the feed."""
        ...

    def spend(self, spent: Sequence[Spent]) -> None:
        """Add to what models were asked for. Does not enter the feed; nothing is kept of a user of whom
        nothing is stored."""
        ...

    def note(self, entries: Sequence[AuditEntry], since: Moment) -> None:
        """Note in the audit what was read, of the memory as it was at a moment. Whatever was forgotten since
        is left out: payloads and names; the entries, when it was the user. It enters the feed, but is
        nothing new to whoever tends."""
        ...

    def put_usage(self, kind: type[Record], usage: Mapping[str, Usage]) -> None:
        """Set the counts of records that are searched, as they were in another store."""
        ...

    def adopt_secret(self, secret: bytes) -> bool:
        """Take over the key of an imported memory; refused once tombstones of another key exist. Projections,
        which name things by the key, then begin anew with this user."""
        ...

    def unembedded(self, space: Space, limit: int, after: int = 0) -> list[Unembedded]:
        """Chunks that wait for a vector, those stored first first, behind the one of this number."""
        ...

    def embed(self, space: Space, vectors: Mapping[Unembedded, NDArray[np.float32]]) -> int:
        """Fill in vectors of chunks that still wait for them; how many were filled in."""
        ...

    def fail(self, space: Space, chunks: Sequence[Unembedded]) -> int:
        """Count that the model refuses these texts; how many of them are parked by now, and wait no more."""
        ...

    def claim(self, holder: str, now: datetime, until: datetime) -> bool:
        """Have the user to oneself for the background's work, or for longer; False while another has."""
        ...

    def settle(self, holder: str, marks: Mapping[str, Mark], visit: Visit) -> None:
        """Note how far chores have come, and let the user go. Nothing happens once another has them."""
        ...

    def project(
        self, name: str, epoch: str, number: int, since: int, seq: int, now: datetime, settles: timedelta
    ) -> bool:
        """Note that a projection has come from one place to another; False when the user of this number is
        gone. If it is no longer where that began, two wrote to it at once, and nobody knows which of them
        last: then it has come to where the first of them began."""
        ...

    def erase(self, receipt: Receipt | None = None) -> dict[str, int]:
        """Remove the user and everything of theirs; how many of each kind went. The receipt stays, with
        these counts."""
        ...


class Store(KeyStore, FollowedStore, Protocol):
    """A database of record."""

    def user(self, user: str) -> UserStore:
        """The handle of one user. Nothing is stored until something is written through it."""
        ...

    def users(self) -> Iterator[str]:
        """Everybody with anything stored, in order."""
        ...

    def active_space(self) -> Space | None:
        """The space that is searched."""
        ...

    def spaces(self) -> list[SpaceState]:
        """Every space that chunks have or await vectors in, the one that is searched first."""
        ...

    def claim_space(self, space: Space) -> bool:
        """Have this space searched if no chunk has a vector of another; whether it is the one that is."""
        ...

    def add_space(self, space: Space) -> bool:
        """Have every chunk wait for a vector of this space; whether it is the one that is searched.
        The first space is, at once; a later one after `switch_space`. Called again, it goes on where an
        earlier call was interrupted."""
        ...

    def reset_space(self, space: Space) -> None:
        """Have every chunk wait for a new vector of this space."""
        ...

    def switch_space(self, space: Space) -> None:
        """Search this space from now on, in place of the one before, whose vectors `drop_retired`
        deletes; `Conflict` while chunks wait for it."""
        ...

    def drop_space(self, space: Space) -> None:
        """Give up a space; `Conflict` for the one that is searched."""
        ...

    def drop_retired(self) -> Iterator[int]:
        """Delete the vectors of spaces that are gone, a few at a time, yielding how many went."""
        ...

    def users_unembedded(self, space: Space) -> list[str]:
        """Users with chunks that wait for a vector."""
        ...

    def users_due(self, now: datetime, quiet_since: datetime) -> list[str]:
        """Users to look after, whom nobody else is looking after: due by now, or with something that
        changed, turns to mine, or conversations to conclude in which nobody spoke since."""
        ...

    def unpark(self) -> int:
        """Have everything tried again that failed: parked chunks, chores, mining; how many of them."""
        ...

    def note_jobs(self, states: Sequence[JobState]) -> None:
        """Keep what jobs did; `done` is added to their totals. One with no `runs` says how far a run has come
        that goes on; what came of the run before is kept beside it."""
        ...

    def jobs(self) -> list[JobState]: ...

    def measure(self, measures: Sequence[Measure]) -> None:
        """Add to what was counted."""
        ...

    def measures(self, since: date | None = None) -> list[Measure]: ...

    def tally(self) -> dict[str, int]:
        """How often what happened in this process since it was last asked, such as `cache_hits` and
        `cache_misses`: searches that found the user's vectors in memory, and those that did not."""
        ...

    def standings(self, policy: Retention) -> list[Standing]:
        """How far the quotas of this policy are used up, as if it held for everybody."""
        ...

    def receipts(self, limit: int = 100) -> list[Receipt]:
        """Of erasures of whole users, newest first."""
        ...

    def drop_audit(self, before: datetime) -> int:
        """Let go of what the audit holds from before a day; how many entries, or days of them, went."""
        ...

    def text_is_current(self) -> bool:
        """Whether the text index was built by this release's analyser."""
        ...

    def rebuild_text(self) -> Iterator[int]:
        """Build the text index anew, yielding how many chunks are done."""
        ...

    def needs_scrub(self) -> bool:
        """Whether something was erased whose bytes may still be in the files."""
        ...

    def scrub(self) -> bool:
        """Leave no byte of what was erased in the files; False when others are in the way."""
        ...

    def maintain(self) -> int:
        """Do what the database wants done now and then, so that it stays fast; how much there was to do."""
        ...

    def acquire(self, lease: str, holder: str, now: datetime, until: datetime) -> bool:
        """Take or renew a lease; False while another holder has it."""
        ...

    def release(self, lease: str, holder: str) -> None: ...

    def stats(
        self,
        quiet: timedelta = timedelta(0),
        idle: timedelta = timedelta(0),
        every: timedelta = timedelta(0),
        copies: Sequence[str] = (),
    ) -> dict[str, Any]:
        """Sizes and what waits, for operators; nothing of anybody's content.

        `rows`: how many of each kind, `chunks_waiting_for_a_vector` and `spaces_to_drop` among them.
        `waiting`: by chore (`mine`, `conclude`), the `conversations` that wait for it and `since` when the
        oldest has been ready, which is so long (`quiet`, `idle`) after its last turn was stored.
        `unconsolidated`: the `memories` that were stored since that chore last came to their users, and
        `since` when it is to have come to the first of them, which it is so long (`every`) after that.
        `parked`: what failed and is put aside: `chunks` without a vector; `mining`, conversations by
        reason; `chores`, users by chore and reason. `projections`: by name, how far copies in other engines
        are behind (`Lag`): those in `copies`, and all that were ever begun. Then `engine`, `path`, `bytes`,
        `cached_bytes`.
        """
        ...

    def is_current(self) -> bool:
        """Whether its schema is this release's, or a newer one that this release can go on with; a
        `StoreError` when the database does not answer."""
        ...

    def check(self) -> list[str]:
        """Problems found by reading the whole database; empty when it is sound."""
        ...

    def close(self) -> None: ...
