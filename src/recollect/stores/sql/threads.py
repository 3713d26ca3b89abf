"""Where runs of messages have led to, by their digests."""

from collections.abc import Sequence

from recollect.errors import NotFound
from recollect.model.changes import Thread
from recollect.ports.store import Led
from recollect.stores.sql import schema
from recollect.stores.sql.rows import UserRows

_TABLE, _TALKS = schema.threads, schema.conversations


def put_threads(rows: UserRows, threads: Sequence[Thread]) -> None:
    """Note where each conversation stands now; what the same run led to in it before is no longer so."""
    if not threads:
        return
    stands = _standing(rows, [thread.conversation for thread in threads])
    led: dict[str, list[str]] = {}
    for thread in dict.fromkeys(threads):
        if thread.conversation not in stands:
            raise NotFound(f"There is no conversation {thread.conversation!r}.")
        led.setdefault(thread.conversation, []).append(thread.digest)
    for conversation, digests in led.items():
        theirs = rows.delete(_TABLE).where(_TABLE.c.conversation == conversation)
        rows.change_in(theirs, _TABLE.c.digest, digests)
        index, _ = stands[conversation]
        rows.insert(_TABLE, [{"digest": d, "conversation": conversation, "index": index} for d in digests])


def threads_of(rows: UserRows, digests: Sequence[str]) -> list[Led]:
    found = rows.all_in(rows.select(_TABLE), _TABLE.c.digest, list(dict.fromkeys(digests)))
    stands = _standing(rows, [row["conversation"] for row in found])
    led = [
        Led(row["digest"], row["conversation"], row["index"], stands[row["conversation"]][0] == row["index"])
        for row in found
        if row["conversation"] in stands
    ]
    return sorted(led, key=lambda one: (-stands[one.conversation][1], one.conversation))


def drop_threads(rows: UserRows, conversations: Sequence[str]) -> None:
    rows.delete_in(_TABLE, _TABLE.c.conversation, conversations)


def _standing(rows: UserRows, conversations: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Where each conversation that exists stands, and when somebody last spoke in it."""
    wanted = rows.select(_TALKS, _TALKS.c.id, _TALKS.c.next_index, _TALKS.c.last_at)
    found = rows.all_in(wanted, _TALKS.c.id, list(dict.fromkeys(conversations)))
    return {row["id"]: (row["next_index"], row["last_at"]) for row in found}
