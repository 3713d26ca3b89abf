"""What is searched, portion by portion, for indexes beside the database."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, func, select

from recollect.model.space import Space
from recollect.ports.stored import Searched, SearchedFeed
from recollect.stores.sql import schema
from recollect.stores.sql.backend import Backend, only_reads
from recollect.stores.sql.codec import decode_text, decode_time, decode_vectors
from recollect.stores.sql.reading import active_space, texts
from recollect.stores.sql.rows import UserRows, own_select
from recollect.text import analyse

_CHUNKS, _VECTORS, _GONE = schema.chunks, schema.vectors, schema.deletions
_AFTER = _CHUNKS.c.seq > bindparam("since")
_STEPS = own_select(_CHUNKS, _CHUNKS.c.seq).where(_AFTER).order_by(_CHUNKS.c.seq)
_LAST = _STEPS.limit(1).offset(bindparam("skipped"))
_ENDS = own_select(schema.users, schema.users.c.seq)
_CHANGED = (
    own_select(_CHUNKS, *_CHUNKS.c, _VECTORS.c.vector)
    .select_from(
        _CHUNKS.outerjoin(
            _VECTORS,
            (_VECTORS.c.user_id == _CHUNKS.c.user_id)
            & (_VECTORS.c.space == bindparam("space"))
            & (_VECTORS.c.doc == _CHUNKS.c.doc),
        )
    )
    .where(_AFTER, _CHUNKS.c.seq <= bindparam("upto"))
)
_REMOVED = own_select(_GONE, _GONE.c.id).where(
    _GONE.c.seq > bindparam("since"), _GONE.c.seq <= bindparam("upto"), _GONE.c.kind == "chunk"
)
_SOME = own_select(_CHUNKS, _CHUNKS.c.doc).where(_AFTER).limit(bindparam("most")).subquery()
_LACKING = select(func.count()).select_from(_SOME)


class SearchedUser:
    """The part of a user's store that search indexes follow."""

    _backend: Backend
    _user: str

    @only_reads
    def searched_since(self, since: int, most: int, *, terms: bool = False) -> SearchedFeed:
        with self._backend.read(self._user) as connection:
            rows = UserRows(connection, self._user)
            number, space = active_space(connection) or (0, None)
            ends = rows.all(_LAST, since=since, skipped=most - 1) or rows.all(_ENDS)
            span = {"since": since, "upto": ends[0]["seq"] if ends else since}
            changed = rows.all(_CHANGED, space=number, **span)
            gone = rows.all(_REMOVED, **span)
            text_of = texts(rows, changed) if terms else {}
        found = tuple(_searched(row, space, text_of.get(row["owner"])) for row in changed)
        return SearchedFeed(span["upto"], space, found, tuple(int(row["id"]) for row in gone))

    @only_reads
    def active_space(self) -> Space | None:
        with self._backend.read(self._user) as connection:
            found = active_space(connection)
        return None if found is None else found[1]

    @only_reads
    def lacking(self, since: int, most: int) -> int:
        with self._backend.read(self._user) as connection:
            found = UserRows(connection, self._user).run(_LACKING, since=since, most=most)
            return found.scalar_one()


def _searched(row: Mapping[str, Any], space: Space | None, text: str | None) -> Searched:
    blob, whole = row["vector"], 0 if space is None else 2 * space.dimensions
    return Searched(
        doc=row["doc"],
        kind=row["kind"],
        channel=decode_text(row["channel"]),
        agent=_text(row["agent"]),
        conversation=_text(row["conversation"]),
        role=row["role"],
        confidence=row["confidence"],
        at=decode_time(row["at"]),
        valid_from=decode_time(row["valid_from"]),
        valid_to=_time(row["valid_to"]),
        stated_to=_time(row["stated_to"]),
        recorded_at=decode_time(row["recorded_at"]),
        retired_at=_time(row["retired_at"]),
        expires_at=_time(row["expires_at"]),
        corrects=row["supersedes"] is not None,
        terms=() if text is None else tuple(analyse.terms(text[row["start"] : row["stop"]])),
        vector=decode_vectors([blob], whole // 2)[0] if blob is not None and len(blob) == whole else None,
    )


def _text(value: str | None) -> str | None:
    return None if value is None else decode_text(value)


def _time(value: int | None) -> datetime | None:
    return None if value is None else decode_time(value)
