"""The verbs by which what is remembered leaves a server, and comes back."""

from collections.abc import Callable, Iterator
from typing import Any

from recollect.client.connection import Connection
from recollect.client.likeness import Given, like
from recollect.client.streams import counted, written
from recollect.limits import check_many, check_progress
from recollect.model.scope import Scope
from recollect.record.transfer import Imported
from recollect.scoped import ScopedMemory
from recollect.tend.erase import Forgotten, check_one_target


class RemoteLeaving:
    """The part of a user's memory behind a server that gives it away and takes it back."""

    _connection: Connection
    _call: Callable[..., Any]

    @property
    def scope(self) -> Scope: ...

    @property
    def _params(self) -> Given: ...

    @property
    def _headers(self) -> dict[str, str]: ...

    @like(ScopedMemory.forget)
    def forget(self, given: Given) -> Forgotten:
        named = {name: given.get(name) for name in ("id", "conversation", "channel", "agent")}
        check_one_target(everything=given.get("everything", False), **named)
        params = {name: given[name] for name in ("dry_run", "with_sources", "undo") if name in given}
        routes = {"id": "records", "conversation": "conversations", "channel": "channels", "agent": "agents"}
        for name, id in named.items():
            if id:
                return self._call("DELETE", routes[name], id, returns=Forgotten, params=params)
        params["confirm"] = self.scope.user
        return self._call("DELETE", "everything", returns=Forgotten, params=params)

    @like(ScopedMemory.undo)
    def undo(self, given: Given) -> dict[str, int]:
        return self._call("POST", "undo", returns=dict[str, int], body={"undo": given["token"]})

    @like(ScopedMemory.export)
    def export(self, given: Given) -> Iterator[str]:
        return self._connection.lines(("export",), self._params, self._headers)

    @like(ScopedMemory.import_)
    def import_(self, given: Given) -> Imported:
        lines, progress = given["lines"], given.get("progress")
        check_many("The lines", lines)
        check_progress(progress)
        parts = counted(written(lines), progress)
        done: Imported = self._connection.send(("import",), parts, Imported, self._params, self._headers)
        if progress:
            progress(done.total + done.unchanged)
        return done
