"""The verbs that give account of a memory behind a server: how much there is, what was done and spent."""

import builtins
from collections.abc import Callable
from typing import Any

from recollect.client.likeness import Given, like
from recollect.model.records import AuditEntry
from recollect.record.growth import Grown
from recollect.record.sizes import Filled
from recollect.record.spending import Spending
from recollect.scoped import ScopedMemory


class RemoteAccount:
    _call: Callable[..., Any]
    _paged: Callable[..., builtins.list[Any]]

    @like(ScopedMemory.counts)
    def counts(self, given: Given) -> dict[str, int]:
        return self._call("GET", "stats", returns=dict[str, int], inside="counts")

    @like(ScopedMemory.sizes)
    def sizes(self, given: Given) -> dict[str, Filled]:
        return self._call("GET", "stats", returns=dict[str, Filled], inside="sizes")

    @like(ScopedMemory.growth)
    def growth(self, given: Given) -> builtins.list[Grown]:
        return self._call("GET", "growth", returns=list[Grown], inside="growth", params=given)

    @like(ScopedMemory.spending)
    def spending(self, given: Given) -> builtins.list[Spending]:
        return self._call("GET", "usage", returns=list[Spending], inside="usage", params=given)

    @like(ScopedMemory.audit)
    def audit(self, given: Given) -> builtins.list[AuditEntry]:
        params = {"conversation": None, **given}  # of what is told, and not the scope's
        return self._paged("audit", AuditEntry, params)

    @like(ScopedMemory.readers)
    def readers(self, given: Given) -> builtins.list[AuditEntry]:
        path = ("records", given.pop("id"), "readers")
        return self._call("GET", *path, returns=list[AuditEntry], inside="readers", params=given)
