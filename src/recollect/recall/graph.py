"""The one way to ask what touches an entity: of the graph index where there is one, else of the store.

An index only proposes. What it names is read from the store by id, in the state that the question is
answered from, and looked at again; what changed since the index was told is added from the store. Whichever
of the two is asked, the answer is the same.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from operator import attrgetter
from typing import TypeVar

from recollect.errors import ProjectionError
from recollect.model.records import MEMORY_KINDS, MemoryRecord, Relation
from recollect.ports.graph_index import GraphIndex
from recollect.ports.store import UserView
from recollect.workspace import Workspace

GAP = 500
"""How many changes that the index was not told of yet are read from the store; with more, it is not asked."""
_PAGE = 200
"""How many relations are read at once, where nobody says how many are wanted."""
_FALLBACK = "Relations are read from the database"

T = TypeVar("T")
Tell = Callable[[str], None]
Page = tuple[list[Relation], str | None]
"""Some relations, and the id of the last, unless there are no more."""


@dataclass(frozen=True, slots=True)
class _Asked:
    ids: Sequence[str]
    channels: Sequence[str] | None
    most: int

    def touches(self, relation: Relation) -> bool:
        ends = relation.source in self.ids or relation.target in self.ids
        return ends and (self.channels is None or relation.channel in self.channels)


@dataclass(frozen=True, slots=True)
class _Reached:
    """The index, and how far it has come with the user."""

    index: GraphIndex
    epoch: str
    number: int
    since: int
    seq: int


class Graph:
    """What touches entities, in one state of a user's memory; `tell` is told why the index is not asked."""

    def __init__(self, work: Workspace, view: UserView, tell: Tell) -> None:
        self._work = work
        self.view = view
        self._tell = tell
        self._known: _Reached | None = None
        self._looked = work.graph is None

    def touching(
        self, ids: Sequence[str], channels: Sequence[str] | None, most: int = _PAGE
    ) -> Iterator[Relation]:
        """The relations that begin or end at one of the entities, in these channels or all, the newest first.
        They are read as they are taken, about `most` at a time."""
        last: str | None = None
        if (reached := self._reached()) is not None:
            try:
                for relation in self._proposed(reached, _Asked(ids, channels, most)):
                    last = relation.id
                    yield relation
                return
            except ProjectionError as error:
                self._failed(error)
        yield from self._recorded(_Asked(ids, channels, most), last)

    def about(self, entity: str) -> list[MemoryRecord]:
        """The memories about an entity, by id."""
        ids: Iterable[str] | None = None
        if (reached := self._reached()) is not None:
            try:
                changed = self._changed(reached, MEMORY_KINDS)
                index, at = reached.index, (reached.epoch, reached.number)
                ids = {*self._ask(index, lambda: index.about(*at, entity)), *changed}
            except ProjectionError as error:
                self._failed(error)
        if ids is None:
            ids = self.view.linking("about", [entity])
        return [one for one in self.view.get(MemoryRecord, sorted(ids)) if entity in one.about]

    def _reached(self) -> _Reached | None:
        """The index, if it may be asked; looked up when the first question comes."""
        if not self._looked:
            self._looked = True
            try:
                self._known = self._look()
            except ProjectionError as error:
                self._failed(error)
        return self._known

    def _look(self) -> _Reached | None:
        index = self._work.graph
        if index is None:
            return None
        if reason := self._work.resting.reason(index.name):
            raise ProjectionError(reason)
        reach = self.view.reach(index.name, None, self._work.clock.now(), index.settles)
        if reach is None:
            return None
        if reach.seq - reach.reached > GAP:
            raise ProjectionError(_behind(index))
        if not reach.epoch:  # nothing of them was drawn yet: all there is would be read from the store anyway
            return None
        return _Reached(index, reach.epoch, reach.number, reach.reached, reach.seq)

    def _ask(self, index: GraphIndex, question: Callable[[], T]) -> T:
        with self._work.resting.after_slow_failure(index.name, _FALLBACK):
            return question()

    def _failed(self, error: ProjectionError) -> None:
        self._known = None
        said = str(error)
        self._tell(said if said.startswith(_FALLBACK) else f"{_FALLBACK}: {said}")

    def _changed(self, reached: _Reached, kinds: Sequence[str]) -> set[str]:
        """What the index may not have been told of yet."""
        if reached.since == reached.seq:
            return set()
        entries, upto = self.view.steps(kinds, reached.since, GAP)
        if upto < reached.seq or len(entries) > GAP:  # a step may be large
            raise ProjectionError(_behind(reached.index))
        return {entry.id for entry in entries}

    def _proposed(self, reached: _Reached, asked: _Asked) -> Iterator[Relation]:
        """What the index names, without what changed since; and that, as far as it touches them."""
        changed = self._changed(reached, ("relation",))

        def read(before: str | None, most: int) -> Page:
            index, at = reached.index, (reached.epoch, reached.number)
            ids = self._ask(index, lambda: index.bonds(*at, asked.ids, asked.channels, most, before))
            found = self.view.get(Relation, [id for id in ids if id not in changed])
            return found, ids[-1] if len(ids) == most else None

        fresh = self.view.get(Relation, sorted(changed, reverse=True))
        return filter(asked.touches, merge(_paged(read, asked.most), fresh, key=_id, reverse=True))

    def _recorded(self, asked: _Asked, last: str | None) -> Iterator[Relation]:
        """The same from the store, from behind the last one that was given on."""
        where: dict[str, object] = {} if asked.channels is None else {"channel": list(asked.channels)}

        def ending(end: str) -> Iterator[Relation]:
            def read(before: str | None, most: int) -> Page:
                wanted = {**where, end: list(asked.ids)}
                found = self.view.find(Relation, wanted, descending=True, after=before, limit=most)
                page = list(found)
                return page, page[-1].id if len(page) == most else None

            return _paged(read, asked.most, last)

        for relation in merge(ending("source"), ending("target"), key=_id, reverse=True):
            if relation.id != last:  # one may be found by both its ends
                last = relation.id
                yield relation


_id = attrgetter("id")


def _paged(read: Callable[[str | None, int], Page], most: int, last: str | None = None) -> Iterator[Relation]:
    """Page after page, each twice as long: of an entity with very many relations few are looked at again."""
    while True:
        page, last = read(last, most)
        yield from page
        if last is None:
            return
        most *= 2


def _behind(index: GraphIndex) -> str:
    return f"{_FALLBACK}: {index.name} has not caught up with this user yet; `recollect tend` sees to it."
