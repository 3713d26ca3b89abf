"""Alice, by a build of ours whose statements all forgot whose rows they are about: what does she see?

Run in a process of its own, so that nothing was built with the filter before: python … URL
"""

import json
import re
import sys
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Table, bindparam

from recollect.stores.sql import rows


def _of_anybody(table: Table) -> ColumnElement[bool]:
    return (table.c.user_id == bindparam(rows._USER)).is_not(None)


rows._of_user = _of_anybody

from recollect.errors import RecollectError  # noqa: E402
from recollect.model.changes import Append, Remove, Revise  # noqa: E402
from recollect.model.records import RECORD_TYPES  # noqa: E402
from recollect.ports.store import UserStore  # noqa: E402
from recollect.stores.postgres import search  # noqa: E402
from recollect.stores.postgres.backend import Options, open_store  # noqa: E402
from recollect.testing.store_samples import SPACE, START, axis, draft, question  # noqa: E402

FILTER = re.compile(r"\b(?:\w\.)?user_id = (?=%)")


def unfiltered(statement: str) -> str:
    return FILTER.sub("'' <> ", statement)


for name in ("_STATE", "_NEAREST", "_AMONG", "_DOT"):
    setattr(search, name, unfiltered(getattr(search, name)))


class _Now:
    def now(self) -> datetime:
        return datetime(2025, 3, 15, 12, tzinfo=UTC)


OPTIONS = Options(pool=2, timeout=30.0, index_over=100_000, cache_bytes=1 << 26, clock=_Now())


def seen(user: UserStore) -> dict[str, Any]:
    """Everything there is to see."""
    return {
        "records": sorted(f"{kind.kind} {r.id}" for kind in RECORD_TYPES for r in user.find(kind)),
        "got": sorted(
            r.id for kind in RECORD_TYPES for r in user.get(kind, [f"sample-{kind.kind}", "bobs", "t-bob"])
        ),
        "counted": sum(user.count(kind) for kind in RECORD_TYPES),
        "words": sorted(c.owner for c in user.search(question("budget"))),
        "vectors": sorted(c.owner for c in user.search(question(vector=axis(0)))),
        "feed": sorted(entry.id for entry in user.feed()),
        "usage": sorted(user.usage(["bobs", "mine"])),
        "chunks": sorted(user.chunks(["bobs", "t-bob", "mine"], SPACE)),
        "derived": sorted(user.linking("sources", ["t-bob", "t-alice"])),
        "waiting": sorted(chunk.text for chunk in user.unembedded(SPACE, 100)),
    }


def attempts(user: UserStore) -> None:
    """Everything there is to change."""
    for change in (
        Revise("fact", "bobs", {"channel": "mine"}),
        Remove("fact", ("bobs",)),
        Remove("turn", ("t-bob",)),
        Append((draft("mine", id="t-new", conversation="of bob"),)),
    ):
        try:
            user.apply([change], SPACE)
        except RecollectError as error:
            print(type(error).__name__, file=sys.stderr)
    user.touch({"bobs": ("fact", 7, START)})
    user.embed(SPACE, dict.fromkeys(user.unembedded(SPACE, 100), axis(3)))
    user.erase()


if __name__ == "__main__":
    store = open_store(sys.argv[1], OPTIONS)
    print(json.dumps(seen(store.user("alice"))))
    attempts(store.user("alice"))
    print(json.dumps(seen(store.user("alice"))))
    store.close()
