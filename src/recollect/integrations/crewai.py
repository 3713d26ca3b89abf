"""CrewAI on Recollect: a crew's memory that is a user's, kept, searched and erased by Recollect.

    crew = Crew(agents=[…], tasks=[…], memory=RecollectMemory(kept=memory.scope("derek")))

What a crew remembers are facts, with what CrewAI says of them (scope, categories, importance) beside. What
it recalls is all that bears on the query, also what the user said elsewhere. No model is asked for either.
"""
# CrewAI cannot be installed beside our other frameworks (docs/integrations/crewai.md): its types are unknown.
# pyright: basic, reportMissingImports=false

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from crewai.memory.types import MemoryMatch, MemoryRecord, ScopeInfo
from crewai.memory.unified_memory import Memory as CrewMemory
from crewai.memory.utils import join_scope_paths

from recollect import Hit, NotFound, RecollectError, RemoteScopedMemory, ScopedMemory
from recollect.integrations._asking import check_scope

RECORD = "crewai"
"""In the metadata of a fact: what CrewAI says of it."""
PAGE = 500
QUERY = 10_000
"""The most characters of a query that are looked at: its end."""
DEEP = 100
"""Among how many of the best those are looked for that are in a scope or a category."""

log = logging.getLogger("recollect.integrations")
Kept = ScopedMemory | RemoteScopedMemory


class RecollectMemory(CrewMemory):
    """A crew's memory in the scope `kept`."""

    kept: Any

    def __init__(self, kept: Kept, **fields: Any) -> None:
        check_scope(kept)
        super().__init__(kept=kept, storage=Records(kept), **fields)

    def remember(self, content: str, *args: Any, **given: Any) -> MemoryRecord | None:
        """Save one thing; it is on disk when this returns."""
        return next(iter(self.remember_many([content], *args, **given)), None)

    def remember_many(
        self,
        contents: list[str],
        scope: str | None = None,
        categories: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        importance: float | None = None,
        source: str | None = None,
        private: bool = False,
        agent_role: str | None = None,
        root_scope: str | None = None,
    ) -> list[MemoryRecord]:
        if self.read_only:
            return []
        place = join_scope_paths(self.root_scope if root_scope is None else root_scope, scope)
        given = [
            MemoryRecord(
                content=content,
                scope=place,
                categories=categories or [],
                metadata=metadata or {},
                importance=self.default_importance if importance is None else importance,
                source=source,
                private=private,
            )
            for content in contents
            if content.strip()
        ]
        return self._storage.save(given)

    def extract_memories(self, content: str) -> list[str]:
        """A crew's results are kept as they are; those of a user who has memory switched off are not."""
        try:
            return [content] if content.strip() and self.kept.is_on() else []
        except RecollectError as error:
            log.warning("Memory was not asked, and nothing is kept: %s", type(error).__name__)
            return []

    def recall(
        self,
        query: str,
        scope: str | None = None,
        categories: list[str] | None = None,
        limit: int = 10,
        depth: str = "deep",
        source: str | None = None,
        include_private: bool = False,
    ) -> list[MemoryMatch]:
        """What bears on the query, best first; nothing when the memory cannot be reached."""
        place = join_scope_paths(self.root_scope, scope) if self.root_scope or scope else None
        narrow = place is not None or categories is not None
        try:
            how = {"top_k": max(DEEP if narrow else limit, 1), "techniques": {"gate": False}}
            hits = self.kept.recall(query[-QUERY:], **how).hits
            known = {record.id: record for record in self._storage.of(hit.id for hit in hits)}
        except RecollectError as error:
            log.warning("Memory was not asked: %s", type(error).__name__)
            return []
        found = []
        for hit in hits:
            record = known.get(hit.id) or _said(hit)
            seen = include_private or not record.private or record.source == source
            if seen and _is_in(record, place, categories):
                found.append(MemoryMatch(record=record, score=hit.score, match_reasons=list(hit.paths)))
        return found[:limit]

    def update(self, record_id: str, **changes: Any) -> MemoryRecord:
        """A new record in place of one, with an id of its own; the old one is erased."""
        existing = self._storage.get_record(record_id)
        if existing is None:
            raise ValueError(f"Record not found: {record_id}")
        if self.read_only:
            return existing
        given = {name: value for name, value in changes.items() if value is not None}
        (saved,) = self._storage.save([existing.model_copy(update=given)])
        self._storage.delete(record_ids=[record_id])
        return saved

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> "RecollectMemory":
        return self  # copies of a crew have one memory


class Records:
    """CrewAI's `StorageBackend`, but for searching by vectors: Recollect has its own."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept

    def save(self, records: Sequence[MemoryRecord]) -> list[MemoryRecord]:
        if not records:
            return []
        saved = self._kept.remember_many([_item(record) for record in records])
        return [_record(fact) for fact in saved]

    def of(self, ids: Iterable[str]) -> Iterator[MemoryRecord]:
        wanted = list(ids)
        for fact in self._kept.list("fact", limit=len(wanted), id=wanted) if wanted else ():
            if RECORD in fact.metadata:
                yield _record(fact)

    def _all(self, scope_prefix: str | None = None) -> Iterator[MemoryRecord]:
        """Every record below a scope, newest first."""
        after = None
        while page := self._kept.list("fact", limit=PAGE, after=after, superseded_by=None):
            for fact in page:
                if RECORD in fact.metadata and _is_in(record := _record(fact), scope_prefix, None):
                    yield record
            after = page[-1].id if len(page) == PAGE else None
            if after is None:
                return

    def get_record(self, record_id: str) -> MemoryRecord | None:
        return next(self.of([record_id]), None)

    def list_records(
        self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0
    ) -> list[MemoryRecord]:
        return list(self._all(scope_prefix))[offset : offset + limit]

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: Mapping[str, Any] | None = None,
    ) -> int:
        """Erase what meets all of the conditions; how many that were."""
        before = None if older_than is None else _plain(older_than)
        records = self.of(record_ids) if record_ids is not None else self._all()
        gone = [
            record.id
            for record in records
            if _is_in(record, scope_prefix, categories)
            and (before is None or record.created_at < before)
            and all(record.metadata.get(name) == value for name, value in (metadata_filter or {}).items())
        ]
        for id in gone:
            try:
                self._kept.forget(id)
            except NotFound:  # somebody else erased it
                continue
        return len(gone)

    def reset(self, scope_prefix: str | None = None) -> None:
        self.delete(scope_prefix)

    def count(self, scope_prefix: str | None = None) -> int:
        return sum(1 for _ in self._all(scope_prefix))

    def list_scopes(self, parent: str = "/") -> list[str]:
        above = parent.rstrip("/") + "/"
        names = {
            r.scope.removeprefix(above).split("/")[0] for r in self._all(parent) if len(r.scope) > len(above)
        }
        return sorted(above + name for name in names)

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        return dict(Counter(name for record in self._all(scope_prefix) for name in record.categories))

    def get_scope_info(self, scope: str) -> ScopeInfo:
        records = list(self._all(scope))
        times = [record.created_at for record in records]
        return ScopeInfo(
            path=scope,
            record_count=len(records),
            categories=sorted({name for record in records for name in record.categories}),
            oldest_record=min(times, default=None),
            newest_record=max(times, default=None),
            child_scopes=self.list_scopes(scope),
        )


def _item(record: MemoryRecord) -> dict[str, Any]:
    noted = record.model_dump(include={"scope", "categories", "metadata", "source", "private"})
    return {"content": record.content, "salience": record.importance, "metadata": {RECORD: noted}}


def _record(fact: Any) -> MemoryRecord:
    when = _plain(fact.recorded_at)
    given = {"id": fact.id, "content": fact.content, "importance": fact.salience, "created_at": when}
    return MemoryRecord(**given, last_accessed=when, **fact.metadata[RECORD])


def _said(hit: Hit) -> MemoryRecord:
    """What the user's memory knows from elsewhere, as CrewAI has it."""
    when = _plain(hit.at)
    metadata = {"kind": hit.kind, "at": hit.at.isoformat(timespec="seconds")}
    return MemoryRecord(
        id=hit.id, content=hit.content, created_at=when, last_accessed=when, metadata=metadata
    )


def _plain(when: datetime) -> datetime:
    """As CrewAI has times: in UTC, without saying so."""
    return when.astimezone(UTC).replace(tzinfo=None) if when.tzinfo else when


def _is_in(record: MemoryRecord, place: str | None, categories: Sequence[str] | None) -> bool:
    below = (place or "/").rstrip("/")
    inside = record.scope == below or record.scope.startswith(f"{below}/")
    return inside and (not categories or bool({*categories} & {*record.categories}))
