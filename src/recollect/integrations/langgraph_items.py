"""What a LangGraph item is in a memory, and which items an operation asks for; pure."""

import hashlib
import json
import operator as orders
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from langgraph.store.base import MatchCondition, PutOp, get_text_at_path

from recollect import Fact

ITEM = "langgraph"
"""In the metadata of a fact: the item that it is."""
INLINE = 32 * 1024
"""The most characters of a value, as JSON, that is kept beside the text it is found by. A longer one is that
text itself."""
LABEL = 200
"""The most characters of a namespace that are readable in its label."""
ORDERS = {"$gt": orders.gt, "$gte": orders.ge, "$lt": orders.lt, "$lte": orders.le}

Namespace = tuple[str, ...]
Place = tuple[Namespace, str]


@dataclass(frozen=True, slots=True)
class Kept:
    """An item with the fact that it is kept as."""

    fact: Fact
    noted: Mapping[str, Any]

    @property
    def namespace(self) -> Namespace:
        return tuple(self.noted["namespace"])

    @property
    def place(self) -> Place:
        return self.namespace, self.noted["key"]

    @property
    def value(self) -> dict[str, Any]:
        return self.noted["value"] if "value" in self.noted else json.loads(self.fact.content)

    @property
    def created_at(self) -> datetime:
        return datetime.fromisoformat(self.noted["created_at"])

    @property
    def indexed(self) -> bool:
        return self.noted["indexed"]

    def is_over(self, now: datetime) -> bool:
        return self.fact.expires_at is not None and self.fact.expires_at <= now

    def fields(self) -> dict[str, Any]:
        """What LangGraph makes an item of."""
        return {
            "namespace": self.namespace,
            "key": self.noted["key"],
            "value": self.value,
            "created_at": self.created_at,
            "updated_at": datetime.fromisoformat(self.noted["updated_at"]),
        }


def item_of(fact: Any) -> Kept | None:
    """The item that a fact is, if it is one."""
    noted: object = fact.metadata.get(ITEM)
    return Kept(fact, cast("Mapping[str, Any]", noted)) if isinstance(noted, Mapping) else None


def label_of(channel: str, namespace: Namespace) -> str:
    """What a namespace is called among agents and conversations: as LangGraph writes it, where that can be a
    name."""
    name = ".".join(namespace)
    if not name or len(name) > LABEL or not name.isprintable() or not name.strip():
        name = "." + hashlib.sha256(json.dumps(namespace).encode()).hexdigest()
    return f"{channel}:{name}"


def slot_of(place: Place) -> str:
    return f"langgraph:{hashlib.sha256(json.dumps(place).encode()).hexdigest()}"


def written(op: PutOp, fields: Sequence[str], created: datetime, now: datetime) -> dict[str, Any]:
    """An item as it is remembered: found by the text of its fields; the value exact, beside it."""
    value = dict(op.value or {})
    paths = () if op.index is False else fields if op.index is None else op.index
    text = "\n".join(text for path in paths for text in get_text_at_path(value, path))
    _check_names(value)
    encoded = json.dumps(value, allow_nan=False, ensure_ascii=False)
    noted: dict[str, Any] = {
        "namespace": list(op.namespace),
        "key": op.key,
        "created_at": created.isoformat(),
        "updated_at": now.isoformat(),
        "indexed": bool(text.strip()),
    }
    if op.ttl is not None:
        noted["ttl"] = op.ttl
    if inline := len(encoded) <= INLINE:
        noted["value"] = value
    return {
        "content": (text if text.strip() else f"{'.'.join(op.namespace)} {op.key}") if inline else encoded,
        "slot": slot_of((op.namespace, op.key)),
        "pinned": op.ttl is None,  # no retention policy takes an item that is to stay
        "expires_at": None if op.ttl is None else now + timedelta(minutes=op.ttl),
        "metadata": {ITEM: noted},
    }


def _check_names(value: object) -> None:
    """JSON would make texts of other names in silence."""
    if isinstance(value, Mapping):
        named = cast("Mapping[object, object]", value)
        if odd := [name for name in named if not isinstance(name, str)]:
            raise ValueError(f"The names in a value must be text, not {type(odd[0]).__name__}.")
        for inner in named.values():
            _check_names(inner)
    elif isinstance(value, list | tuple):
        for inner in cast("Sequence[object]", value):
            _check_names(inner)


def same(content: str) -> str:
    """Recall tells what says the same once: its score is that of all of them."""
    return " ".join(content.casefold().split())


def is_match(condition: MatchCondition, namespace: Namespace) -> bool:
    wanted = condition.path
    if len(namespace) < len(wanted):
        return False
    match condition.match_type:
        case "prefix":
            part = namespace[: len(wanted)]
        case "suffix":
            part = namespace[len(namespace) - len(wanted) :]
        case _:  # it is not checked where it is made
            raise ValueError(f"Unsupported match type: {condition.match_type}")
    return all(label in ("*", own) for label, own in zip(wanted, part, strict=True))


def passes(value: Mapping[str, Any], filter: Mapping[str, Any] | None) -> bool:
    return all(_compares(value.get(name), wanted) for name, wanted in (filter or {}).items())


def _compares(value: Any, wanted: Any) -> bool:
    """Whether a part of a value is as wanted: the same, or by operators; of an object so far as is named."""
    if isinstance(wanted, Mapping):
        parts = cast("Mapping[str, Any]", wanted)
        if any(name.startswith("$") for name in parts):
            return all(_holds(value, operator, other) for operator, other in parts.items())
        return isinstance(value, Mapping) and passes(cast("Mapping[str, Any]", value), parts)
    if isinstance(wanted, list | tuple):
        several = list(cast("Sequence[Any]", wanted))
        own = cast("list[Any]", value) if isinstance(value, list) else None
        return own is not None and len(own) == len(several) and all(map(_compares, own, several))
    return value == wanted


def _holds(value: Any, operator: str, other: Any) -> bool:
    match operator:
        case "$eq":
            return value == other
        case "$ne":
            return value != other
        case _ if operator in ORDERS:
            return _ordered(value, operator, other)
        case _:
            raise ValueError(f"Unsupported operator: {operator}")


def _ordered(value: Any, operator: str, other: Any) -> bool:
    """Numbers by size, also those written as text, other texts by their letters; else there is no order."""
    try:
        pair: tuple[Any, Any] = float(value), float(other)
    except (TypeError, ValueError):
        if not (isinstance(value, str) and isinstance(other, str)):
            return False
        pair = value, other
    return bool(ORDERS[operator](*pair))
