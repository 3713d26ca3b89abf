"""What the store suite stores: records with every field set, drafts, vectors, and a clock that is moved."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from recollect.model.changes import Append, Chunk, Put, TurnDraft
from recollect.model.records import Entity, Fact, MemoryRecord, Record, Role
from recollect.model.search import Filter, Search
from recollect.model.searched import searchable_text
from recollect.model.shapes import FieldShape, shapes
from recollect.model.space import Space
from recollect.text.analyse import terms

R = TypeVar("R", bound=Record)
M = TypeVar("M", bound=MemoryRecord)
Vector = NDArray[np.float32]

START = datetime(2026, 3, 15, 9, 30, 0, 123456, tzinfo=UTC)
SPACE = Space("suite-model", 16, unrelated=0.1)
OTHER_SPACE = Space("suite-other", 8)

HARD_TEXTS: dict[str, str] = {
    "empty": "",
    "spaces": " \t\n ",
    "planes": "".join(
        chr(plane * 0x10000 + offset) for plane in range(17) for offset in (0x41, 0x1F600 & 0xFFFF)
    ),
    "nul": "before\x00after\x00",
    "surrogates": "lone \ud800 and \udfff, reversed \udc00\ud800",
    "escape": "\x10 \x100000 \x10d800 \\u0000 \\x10",
    "controls": "".join(map(chr, range(32))) + "\x7f\x85\u2028\u2029\ufeff\ufffe\uffff",
    "combining": "Zoe\u0308 Zoë ﬁn \u202eright to left\u202c",
    "quotes": "it's \"so\" `quoted` 'twice' ''",
    "operators": 'NEAR(a b) AND OR NOT * ^ - + : ( ) " "" {x} col:term a* "a" + "b"',
    "sql": "'; DROP TABLE turns; -- %s ? :name @x $1 %% {}",
    "scripts": "Привет שלום سلام नमस्ते 你好世界 こんにちは 안녕하세요 สวัสดี ສະບາຍດີ 🙂👩‍👩‍👧‍👧",
}
"""Text that stores and text indexes have tripped over."""


class ManualClock:
    """The `Clock` port, moved by hand."""

    def __init__(self, now: datetime = START) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now

    def advance(self, **step: float) -> datetime:
        """Move by a `timedelta`, backwards too; the new time."""
        self._now += timedelta(**step)
        return self._now


def draft(
    content: str = "My budget is $10,000",
    *,
    id: str,
    conversation: str = "march-15",
    index: int | None = None,
    vector: Vector | None = None,
    chunked: bool = True,
    at: datetime = START,
    **fields: Any,
) -> TurnDraft:
    """A turn to append, searched as one chunk."""
    role = fields.pop("role", Role.USER)
    return TurnDraft(
        id=id,
        conversation=conversation,
        index=index,
        role=role,
        content=content,
        at=at,
        recorded_at=fields.pop("recorded_at", at),
        digest=digest(content),
        chunks=(Chunk(0, len(content), vector),) if chunked else (),
        **fields,
    )


def digest(content: str) -> str:
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def append(*drafts: TurnDraft) -> Append:
    return Append(drafts)


def said(count: int, *, prefix: str = "turn", conversation: str = "march-15") -> Append:
    """Turns `turn-000`, `turn-001`, …, a second apart."""
    return Append(
        tuple(
            draft(
                f"{prefix} number{i}",
                id=f"{prefix}-{i:03}",
                conversation=conversation,
                at=START + timedelta(seconds=i),
            )
            for i in range(count)
        )
    )


def fact(id: str, content: str = "The budget is $10,000", **fields: Any) -> Fact:
    """A fact, known and valid since the start."""
    return memory(Fact, id, content, **fields)


def memory(kind: type[M], id: str, content: str, **fields: Any) -> M:
    values: dict[str, Any] = {"recorded_at": START, "valid_from": START, **fields}
    return kind(id=id, content=content, **values)


def entity(id: str, name: str, **fields: Any) -> Entity:
    values: dict[str, Any] = {"description": "well known", "first_seen": START, **fields}
    return Entity(id=id, name=name, **values)


def put(record: Record, vector: Vector | None = None) -> Put:
    """Store a record, searched as one chunk."""
    return Put(record, (Chunk(0, len(searchable_text(record)), vector),))


def sample(kind: type[R], id: str = "sample", variant: int = 0) -> R:
    """A record of any kind with every field set, and set to something that is not its default."""
    values = {field.name: _value(field, variant) for field in shapes(kind)}
    values["id"] = id
    return kind(**values)


def _value(field: FieldShape, variant: int) -> Any:
    number = 1 + variant + sum(map(ord, field.name)) % 1000
    match field.shape:
        case "time":
            return START + timedelta(days=variant, microseconds=number)
        case "text":
            return f"{field.name} {variant} \x00\ud800 ünï 🙂"
        case "enum":
            members: list[StrEnum] = list(field.type)
            return members[1 + variant % (len(members) - 1)]
        case "tuple":
            return (f"{field.name}-b-{variant}", f"{field.name}-a")
        case "number":
            return {int: number, float: number / 1024, bool: variant % 2 == 0}[field.type]
        case _:
            return {"variant": variant, "nested": [None, True, 1.5, {"k\x00": "\ud800é"}]}


def vectors(count: int, dimensions: int = SPACE.dimensions, seed: int = 7) -> NDArray[np.float32]:
    """Unit vectors, the same every time, that also a store of 16-bit floats holds exactly."""
    rows = np.random.default_rng(seed).normal(size=(count, dimensions))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows.astype(np.float16).astype(np.float32)


def axis(place: int, dimensions: int = SPACE.dimensions) -> Vector:
    """A unit vector along one axis: the same as itself, unrelated to the others."""
    return np.eye(dimensions, dtype=np.float32)[place]


def question(
    words: str = "",
    vector: Vector | None = None,
    *,
    now: datetime = START,
    threshold: float = -2.0,
    limit: int = 1000,
    **filters: Any,
) -> Search:
    """A search that lets everything through, unless told otherwise."""
    return Search(
        filter=Filter(now=now, **filters),
        terms=tuple(terms(words)),
        vector=vector,
        threshold=threshold,
        limit=limit,
    )


def ids(records: Sequence[Record]) -> list[str]:
    return [record.id for record in records]
