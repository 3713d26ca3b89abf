"""Export and import: a user's whole memory as JSON Lines, there and back."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, cast

from recollect.errors import Invalid, TooLarge
from recollect.limits import check_content, check_metadata
from recollect.model.changes import Change, Put
from recollect.model.records import RECORD_TYPES, Record, Turn, searchable_text
from recollect.model.scope import check_name
from recollect.model.shapes import from_json, to_json
from recollect.record.memories import indexed_all
from recollect.record.turns import digest
from recollect.workspace import Workspace

FORMAT = 1
LINE_OVERHEAD = 8
"""How many characters a line may have for each character of content: JSON escapes, and the rest."""


@dataclass(frozen=True, slots=True)
class Imported:
    """How many records of each kind were taken in, and how many were there already."""

    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    unchanged: int = 0

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def export(work: Workspace) -> Iterator[str]:
    """One JSON object a line: a header, then every record. Vectors are left out: they are computed."""
    header = {"recollect": FORMAT, "user": work.scope.user, "secret": work.store.secret().hex()}
    yield json.dumps(header)
    for kind in RECORD_TYPES:
        for record in work.store.find(kind):
            yield json.dumps(to_json(record), allow_nan=False)


def import_(work: Workspace, lines: Iterable[str], progress: Callable[[int], None] | None = None) -> Imported:
    """Take in what `export` wrote. Taking in the same lines again changes nothing."""
    numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    _read_header(work, numbered)
    counts: dict[str, int] = {}
    unchanged = 0
    while batch := list(islice(numbered, work.settings.batch_limit)):
        records = [_read(work, number, line) for number, line in batch]
        new = _new(work, records)
        unchanged += len(records) - len(new)
        work.apply(*_puts(work, new))
        for record in new:
            counts[record.kind] = counts.get(record.kind, 0) + 1
        if progress:
            progress(sum(counts.values()) + unchanged)
    return Imported(counts, unchanged)


def _read_header(work: Workspace, lines: Iterator[tuple[int, str]]) -> None:
    for number, line in lines:
        header = _object(work, number, line)
        if header.get("recollect") != FORMAT:
            raise Invalid(
                f"Line {number} is not the header of an export of format {FORMAT}. "
                "Import a file that `recollect export` wrote."
            )
        if not work.store.adopt_secret(_secret(number, header)):
            raise Invalid(
                "This memory has forgotten things of its own, which an import with another key would forget "
                "to forget. Import into a new user."
            )
        return
    raise Invalid("There is nothing to import: the file is empty.")


def _secret(number: int, header: Mapping[str, Any]) -> bytes:
    try:
        secret = bytes.fromhex(header["secret"])
    except (KeyError, TypeError, ValueError):
        secret = b""
    if len(secret) != 32:
        raise Invalid(f"Line {number}: the header has no usable secret.")
    return secret


def _object(work: Workspace, number: int, line: str) -> Mapping[str, Any]:
    limit = work.settings.content_limit * LINE_OVERHEAD + work.settings.metadata_limit
    if len(line) > limit:
        raise TooLarge(f"Line {number} has {len(line):,} characters; the limit is {limit:,}.")
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"Line {number} is not JSON: {error}.") from None
    if not isinstance(value, dict):
        raise Invalid(f"Line {number} is not a JSON object.")
    return cast("dict[str, Any]", value)


def _read(work: Workspace, number: int, line: str) -> Record:
    try:
        record = from_json(_object(work, number, line))
        check_name("id", record.id)
        for name in ("channel", "conversation", "agent"):
            if (value := getattr(record, name, None)) is not None:
                check_name(name, value)
        check_content(getattr(record, "content", ""), work.settings)
        check_metadata(record.metadata, work.settings)
        if isinstance(record, Turn) and record.digest != digest(record.content):
            raise Invalid("the turn's content does not match its hash; the file was changed")
    except Invalid as error:
        raise type(error)(f"Line {number}: {error}") from None
    return record


def _new(work: Workspace, records: list[Record]) -> list[Record]:
    """The records that are not stored yet just so."""
    by_kind: dict[type[Record], list[str]] = {}
    for record in records:
        by_kind.setdefault(type(record), []).append(record.id)
    stored = {(kind, r.id): r for kind, ids in by_kind.items() for r in work.store.get(kind, ids)}
    return [record for record in records if stored.get((type(record), record.id)) != record]


def _puts(work: Workspace, records: list[Record]) -> list[Change]:
    searchable = [record for record in records if searchable_text(record).strip()]
    chunks = dict(zip((r.id for r in searchable), indexed_all(work, searchable), strict=True))
    return [Put(record, chunks.get(record.id)) for record in records]
