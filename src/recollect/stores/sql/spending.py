"""What models were asked for a user, by day."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from recollect.ports.store import Spent
from recollect.stores.sql import schema
from recollect.stores.sql.backend import Backend
from recollect.stores.sql.codec import decode_text, encode_text
from recollect.stores.sql.rows import UserRows

_FIRST = date(1970, 1, 1)
_TABLE = schema.spending


def spend(backend: Backend, rows: UserRows, spent: Sequence[Spent]) -> None:
    """Add to what is stored. Whoever was erased meanwhile does not come back for it."""
    if not rows.all(backend.locked(rows.select(schema.users, schema.users.c.seq))):
        return
    days = sorted({_number(one.day) for one in spent})
    stored = rows.all_in(rows.select(_TABLE), _TABLE.c.day, days)
    totals = {_key(one): one for one in map(_spent, stored)}
    for one in spent:
        key = _key(one)
        totals[key] = _sum(totals[key], one) if key in totals else one
    rows.delete_in(_TABLE, _TABLE.c.day, days)
    rows.insert(
        _TABLE,
        [
            {
                "day": day,
                "source": encode_text(source),
                "model": encode_text(model),
                "calls": total.calls,
                "prompt": total.prompt,
                "completion": total.completion,
            }
            for (day, source, model), total in totals.items()
        ],
    )


def spending(rows: UserRows, since: date | None) -> list[Spent]:
    wanted = rows.select(_TABLE).order_by(_TABLE.c.day, _TABLE.c.source, _TABLE.c.model)
    if since is not None:
        wanted = wanted.where(_TABLE.c.day >= _number(since))
    return [_spent(row) for row in rows.all(wanted)]


def _number(day: date) -> int:
    return (day - _FIRST).days


def _key(one: Spent) -> tuple[int, str, str]:
    return _number(one.day), one.source, one.model


def _spent(row: Mapping[str, Any]) -> Spent:
    day = _FIRST + timedelta(days=row["day"])
    source, model = decode_text(row["source"]), decode_text(row["model"])
    return Spent(day, source, model, row["calls"], row["prompt"], row["completion"])


def _sum(one: Spent, other: Spent) -> Spent:
    return Spent(
        one.day,
        one.source,
        one.model,
        one.calls + other.calls,
        one.prompt + other.prompt,
        one.completion + other.completion,
    )
