"""The verbs about what is known: mining it, looking at it, putting it right."""

import builtins
from collections.abc import Callable
from datetime import datetime

from recollect.model.mined import Contradiction, Mined
from recollect.model.places import Drawer, Place
from recollect.model.recollection import Event, Neighbourhood
from recollect.model.records import Entity, MemoryRecord
from recollect.recall.neighbours import LIMIT, neighbours
from recollect.recall.timeline import timeline
from recollect.scoped.audit import ReadingVerbs
from recollect.tend.erase import Forgotten
from recollect.tend.promote import promote


class KnowledgeVerbs(ReadingVerbs):
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
        """Take an entity for another one, with all that is known of both but relations between them;
        `split` makes one of its names an entity of its own again."""
        from recollect.mine import identity

        return identity.merge(self._work, entity, into)

    def split(self, entity: str, alias: str) -> Entity:
        """Make an alias of an entity an entity of its own, with the memories that call it so."""
        from recollect.mine import identity

        return identity.split(self._work, entity, alias)

    def promote(self, id: str, promoted: bool = True) -> MemoryRecord:
        """Move a memory from its channel to where all channels read it; or back."""
        return promote(self._work, id, promoted)

    def contradictions(self, *, limit: int = 50, after: str | None = None) -> builtins.list[Contradiction]:
        """What was mined under `flag_review` and waits for somebody to say which of two memories holds, of
        all channels, newest first; `after` is the last id of the page before."""
        from recollect.tend.review import contradictions

        with self._reading("contradictions", "memories") as reading:
            found = contradictions(self._work, limit, after)
            reading.found([memory for pair in found for memory in (pair.new, pair.old)])
        return found

    def settle(self, id: str, keep: str) -> None:
        """Settle a contradiction, by the id of its newer memory: keep the `new` one, which then corrects the
        old; the `old`, and the new one is forgotten; or `both`."""
        from recollect.tend.review import settle

        settle(self._work, id, keep)
        self._after_forget()

    def timeline(
        self,
        entity: str | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        as_of: datetime | None = None,
        limit: int = 100,
        latest: bool = False,
    ) -> builtins.list[Event]:
        """What was said, learnt, corrected and ended, oldest first; with `entity`, a name or alias, only
        what is about it; with `as_of` only what held then. Of more than `limit`, the first ones or, if so
        wanted, the `latest`."""
        with self._reading("timeline", "events") as reading:
            events = timeline(self._work, entity, since, until, limit, as_of, latest)
            reading.told([(event.kind, event.id, None) for event in events], entity=entity)
        return events

    def neighbours(
        self, entity: str, *, hops: int = 1, as_of: datetime | None = None, limit: int = LIMIT
    ) -> Neighbourhood:
        """Who and what an entity, a name or alias, is related to: over so many relations at most, as they
        hold now or held `as_of` then; at most `limit` entities, the nearest first, itself among them."""
        with self._reading("neighbours", "entity") as reading:
            around = neighbours(self._work, entity, hops, as_of, limit)
            reading.found([*around.entities, *around.relations], entity=entity)
        return around

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

        with self._reading("palace", "places") as reading:
            places = palace(self._work, wing, room, closet, limit=limit, after=after)
            reading.count = len(places)
        return places

    def drawer(self, pointer: str) -> Drawer:
        """What a pointer such as `§ W-042/R-11/D-007` cites: the turn, its tags, what was derived from it."""
        from recollect.recall.palace import resolve

        with self._reading("drawer", "turn") as reading:
            drawer = resolve(self._work, pointer)
            reading.found([drawer.turn, *drawer.derived], pointer=pointer)
        return drawer
