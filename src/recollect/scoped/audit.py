"""The verbs about what was done with a memory, and how reading comes to be among it."""

import builtins
import json
from collections.abc import Iterator
from datetime import datetime
from itertools import islice, takewhile
from typing import Any

from recollect.auditing import Reading, Reads
from recollect.limits import check_given, check_text, check_time, check_whole
from recollect.model.records import AuditEntry
from recollect.model.search import AtLeast, AtMost
from recollect.workspace import Workspace


class ReadingVerbs:
    _work: Workspace
    _reads: Reads

    def _reading(self, operation: str, subject: str) -> Reading:
        return self._reads.reading(self._work.scope, operation, subject)


class AuditVerbs(ReadingVerbs):
    def audit(
        self,
        operation: str | None = None,
        *,
        kind: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        conversation: str | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> builtins.list[AuditEntry]:
        """What was done with the memory, newest first, a page at a time: `after` is the last id of the page
        before. What RECOLLECT_AUDIT says is noted; `forget` always is."""
        check_whole("limit", limit)
        given = {"operation": operation, "memory_kind": kind, "conversation": conversation}
        where: dict[str, Any] = {n: check_text(n, value) for n, value in given.items() if value is not None}
        if until is not None:
            where["at"] = AtMost(check_time("until", until))
        first = None if since is None else check_time("since", since)
        found = self._newest_first(where, check_text("after", after))
        return [*islice(takewhile(lambda entry: first is None or entry.at >= first, found), limit)]

    def readers(self, id: str, *, limit: int = 50) -> builtins.list[AuditEntry]:
        """The reads that a record was among, newest first. Only RECOLLECT_AUDIT=verbose keeps what was read,
        and only until something is forgotten."""
        check_given("id", id)
        check_whole("limit", limit)
        entries = self._newest_first({"payload": AtLeast("")}, None)  # the others tell nothing of it
        return [*islice((entry for entry in entries if id in _read(entry)), limit)]

    def _newest_first(self, where: dict[str, Any], after: str | None) -> Iterator[AuditEntry]:
        self._work.flush()  # what was just read is among it
        return self._work.store.find(AuditEntry, where, order="at", descending=True, after=after)


def _read(entry: AuditEntry) -> set[str]:
    """The ids of what was read."""
    if entry.payload is None:
        return set()
    return {found["id"] for found in json.loads(entry.payload).get("found", ())}
