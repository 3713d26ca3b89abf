"""The verbs about what is known: mining it, looking at it, putting it right."""

import builtins
from collections.abc import Callable
from datetime import datetime

from recollect.model.mined import Mined
from recollect.model.places import Drawer, Place
from recollect.model.recollection import Event
from recollect.model.records import Entity, MemoryRecord
from recollect.recall.timeline import timeline
from recollect.tend.erase import Forgotten
from recollect.tend.promote import promote
from recollect.workspace import Workspace


class KnowledgeVerbs:
    _work: Workspace
    _after_forget: Callable[[], None]

    def mine(
        self, conversation: str | None = None, progress: Callable[[int], None] | None = None
    ) -> builtins.list[Mined]:
        """Work out what is worth knowing of a conversation, or of all with turns that were not mined yet:
        facts, preferences, relations, procedures. Doing it twice changes nothing."""
        from recollect.mine import pipeline

        return pipeline.mine(self._work, conversation, progress)

    def unmine(self, conversation: str) -> Forgotten:
        """Undo what was mined from a conversation. Its turns stay; it is mined again on demand only."""
        from recollect.tend.unmine import unmine

        gone = unmine(self._work, conversation)
        self._after_forget()
        return gone

    def merge(self, entity: str, into: str) -> Entity:
        """Take an entity for another one, with all that is known of both; `split` undoes it."""
        from recollect.mine import identity

        return identity.merge(self._work, entity, into)

    def split(self, entity: str, alias: str) -> Entity:
        """Make an alias of an entity an entity of its own, with the memories that call it so."""
        from recollect.mine import identity

        return identity.split(self._work, entity, alias)

    def promote(self, id: str, promoted: bool = True) -> MemoryRecord:
        """Move a memory from its channel to where all channels read it; or back."""
        return promote(self._work, id, promoted)

    def timeline(
        self,
        entity: str | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        as_of: datetime | None = None,
        limit: int = 100,
    ) -> builtins.list[Event]:
        """What was said, learnt, corrected and ended, oldest first; with `entity`, a name or alias, only
        what is about it; with `as_of` only what held then."""
        return timeline(self._work, entity, since, until, limit, as_of)

    def palace(
        self,
        wing: str | int | None = None,
        room: str | int | None = None,
        closet: str | int | None = None,
        *,
        limit: int = 50,
        after: int | None = None,
    ) -> builtins.list[Place]:
        """The wings of the palace; the rooms of a wing, the closets of a room, the drawers of a closet."""
        from recollect.recall.palace import palace

        return palace(self._work, wing, room, closet, limit=limit, after=after)

    def drawer(self, pointer: str) -> Drawer:
        """What a pointer such as `§ W-042/R-11/D-007` cites: the turn, its tags, what was derived from it."""
        from recollect.recall.palace import resolve

        return resolve(self._work, pointer)
