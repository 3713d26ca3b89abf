"""What is too much for one request, or for memory, goes in parts."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from recollect.client.connection import as_json
from recollect.errors import Invalid
from recollect.record.turns import Message, as_message

BATCH = 200
"""The most turns of one request, ..."""
BATCH_BYTES = 4 * 1024 * 1024
"""... and about the most bytes: far below what a server takes."""
PART_BYTES = 64 * 1024

_FIELDS = tuple(field.name for field in fields(Message))


def batches(messages: Iterable[Message | Mapping[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """The messages as they are sent, so many at a time."""
    batch: list[dict[str, Any]] = []
    size = 0
    for given in messages:
        told = said(given)
        size += len(as_json(told))
        batch.append(told)
        if len(batch) == BATCH or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def said(given: Message | Mapping[str, Any]) -> dict[str, Any]:
    """One message as it is sent."""
    message = as_message(given)
    return {name: value for name in _FIELDS if (value := getattr(message, name)) is not None}


def written(lines: Iterable[str]) -> Iterator[bytes]:
    """Lines as they are sent; blank ones are left out."""
    for number, line in enumerate(lines, 1):
        if not isinstance(line, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise Invalid(f"Line {number} must be text, not {type(line).__name__}.")
        if whole := line.strip():
            yield whole.replace("\n", " ").encode("utf-8", "surrogatepass") + b"\n"


def counted(lines: Iterable[bytes], progress: Callable[[int], None] | None) -> Iterator[bytes]:
    """The lines in larger parts; who asked is told how many records were sent so far."""
    part: list[bytes] = []
    size, count = 0, -1  # the first is the header
    for line in lines:
        part.append(line)
        size, count = size + len(line), count + 1
        if size >= PART_BYTES:
            yield b"".join(part)
            part, size = [], 0
            if progress:
                progress(count)
    yield b"".join(part)
