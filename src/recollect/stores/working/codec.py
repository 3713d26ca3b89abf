"""Working memory as bytes; any text comes back as it was, lone surrogates too."""

import json
from dataclasses import asdict
from datetime import datetime
from typing import Any

from recollect.model.working import ItemType, WorkingItem


def encode(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def decode(data: bytes) -> Any:
    return json.loads(data.decode("utf-8", "surrogatepass"))


def encode_item(item: WorkingItem) -> bytes:
    """The same bytes for the same item, every time."""
    return encode({**asdict(item), "at": item.at.isoformat()})


def decode_item(data: bytes) -> WorkingItem:
    fields: dict[str, Any] = decode(data)
    fields |= {"type": ItemType(fields["type"]), "at": datetime.fromisoformat(fields["at"])}
    return WorkingItem(**fields)
