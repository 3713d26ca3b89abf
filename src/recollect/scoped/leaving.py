"""The verbs by which what is remembered leaves, and comes back."""

from collections.abc import Callable, Iterable, Iterator

from recollect.limits import check_flag
from recollect.record import transfer
from recollect.record.transfer import Imported
from recollect.scoped.audit import ReadingVerbs
from recollect.tend import erase
from recollect.tend.erase import Forgotten
from recollect.tend.undo import undo


class LeavingVerbs(ReadingVerbs):
    _after_forget: Callable[[], None]

    def forget(
        self,
        id: str | None = None,
        *,
        conversation: str | None = None,
        channel: str | None = None,
        agent: str | None = None,
        everything: bool = False,
        with_sources: bool = False,
        dry_run: bool = False,
        undo: bool = False,
    ) -> Forgotten:
        """Erase one record, a conversation, a channel, an agent's or everything, with all that was
        derived from it alone. `with_sources` erases the turns behind a memory too; `dry_run` erases
        nothing and tells what would go. With `undo`, forgetting one record also gives what `undo` takes
        for a minute, unless it is too much; nobody else has it. A dry run then tells whether it can be."""
        check_flag("dry_run", dry_run)
        check_flag("undo", undo)
        erase.check_one_target(
            id=id, conversation=conversation, channel=channel, agent=agent, everything=everything
        )
        gone = Forgotten()
        if everything:
            gone = erase.forget_user(self._work, dry_run=dry_run)
        elif id:
            gone = erase.forget_one(self._work, id, with_sources=with_sources, dry_run=dry_run, undo=undo)
        for field, value in (("conversation", conversation), ("channel", channel), ("agent", agent)):
            if value:
                gone = erase.forget_where(self._work, field, value, dry_run=dry_run)
        if dry_run:
            return gone
        if id is None and (held := self._work.working) is not None:  # an agent's is not told apart: all goes
            held.erase(self._work.scope.user, channel=channel, conversation=conversation)
        self._work.policies.forget(self._work.scope.user)
        self._after_forget()
        return gone

    def undo(self, token: str) -> dict[str, int]:
        """Take back an erasure of a moment ago, by the `undo` that `forget` gave: how many records of each
        kind are back. `Conflict` when something it touched was changed since."""
        back = undo(self._work, token)
        self._work.policies.forget(self._work.scope.user)
        return back

    def export(self) -> Iterator[str]:
        """The whole memory as JSON Lines; `import_` takes it back in. What was done with it stays here."""
        with self._reading("export", "records") as reading:
            for line in transfer.export(self._work):
                yield line
                reading.count += 1
            reading.count -= 1  # the header

    def import_(self, lines: Iterable[str], progress: Callable[[int], None] | None = None) -> Imported:
        """Take in what `export` wrote. Doing it twice changes nothing."""
        taken = transfer.import_(self._work, lines, progress)
        self._work.policies.forget(self._work.scope.user)
        return taken
