"""The files of an export, wherever they are: a file, a folder, a zip. Nothing is unpacked to the disk."""

import gzip
import json
import re
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from recollect.errors import Invalid, NotFound
from recollect.importing.arrays import CUT, ITEM_LIMIT, NOT_JSON, TOO_DEEP, TOO_LONG, Bad, Cut, Text, elements

RATIO = 300
"""How many times larger than in its zip a file may be; that of text is below 30."""
UNPACKED = 64 * 1024 * 1024
"""Up to so many bytes it may be larger than that."""
FAILURES = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, gzip.BadGzipFile)
"""What a damaged or encrypted archive raises while it is read."""


class Source:
    """One file of an export: its name there, and how it is opened."""

    def __init__(self, name: str, path: Path, member: zipfile.ZipInfo | None = None) -> None:
        self.name = name
        self._path = path
        self._member = member

    @contextmanager
    def open(self) -> Generator[IO[bytes]]:
        if self._member is None:
            with self._path.open("rb") as stream:
                yield self._inflated(stream, self._path.stat().st_size)
            return
        with zipfile.ZipFile(self._path) as archive:
            if self._member.flag_bits & 1:
                raise Invalid(f"{self.name} is encrypted: unpack it first, and import what was in it.")
            with archive.open(self._member) as stream:
                yield self._inflated(stream, self._member.file_size)

    def _inflated(self, stream: IO[bytes], size: int) -> IO[bytes]:
        if not self.name.endswith(".gz"):
            return stream
        return cast(
            "IO[bytes]", Bounded(cast("IO[bytes]", gzip.GzipFile(fileobj=stream)), size * RATIO + UNPACKED)
        )


class Bounded:
    """A stream that ends in an error when more comes out of it than can be honest."""

    def __init__(self, stream: IO[bytes], limit: int) -> None:
        self._stream = stream
        self._left = limit

    def read(self, size: int = -1) -> bytes:
        return self._counted(self._stream.read(size))

    def readline(self, size: int = -1) -> bytes:
        return self._counted(self._stream.readline(size))

    def _counted(self, data: bytes) -> bytes:
        self._left -= len(data)
        if self._left < 0:
            raise Invalid("A compressed file is far larger inside than out: it is not an export.")
        return data


def sources(path: Path, pattern: str) -> list[Source]:
    """The files whose name without folders is like the pattern, in order; a single file, whatever it is
    called."""
    if not path.exists():
        raise NotFound(f"There is no file {path}.")
    wanted = re.compile(pattern)
    if path.is_dir():
        inside = sorted(one for one in path.iterdir() if one.is_file() and wanted.fullmatch(one.name))
        return [Source(one.name, one) for one in inside]
    if not path.is_file() or not zipfile.is_zipfile(path):  # of a pipe nothing is read twice
        return [Source(path.name, path)]
    return [
        Source(member.filename, path, member)
        for member in members(path)
        if wanted.fullmatch(PurePosixPath(member.filename).name)
    ]


def members(path: Path) -> list[zipfile.ZipInfo]:
    """What is in a zip, by name; `Invalid` for one that would be far larger than it looks. Names that lead
    out of it are passed over."""
    try:
        with zipfile.ZipFile(path) as archive:
            found = [member for member in archive.infolist() if not member.is_dir()]
    except FAILURES:
        raise Invalid(f"{path} is a damaged zip: fetch the export again.") from None
    for member in found:
        if member.file_size > member.compress_size * RATIO + UNPACKED:
            raise Invalid(f"{path} is far larger inside than out: it is not an export.")
    safe = (one for one in found if not {"..", ""} & {*one.filename.split("/")} and "\\" not in one.filename)
    return sorted(safe, key=lambda member: member.filename)


def values(source: Source) -> Generator[tuple[str, Any]]:
    """The values in a file with their places: the elements of an array, the lines of JSON Lines, or the one
    document that it is. `Bad` for what cannot be read."""
    with source.open() as stream:
        try:
            if source.name.removesuffix(".gz").endswith((".jsonl", ".ndjson")):
                yield from lines(source.name, stream)
                return
            text = Text(stream)
            if text.next() == "[":
                numbered = enumerate(elements(text), 1)
                yield from ((f"{source.name}, item {number}", value) for number, value in numbered)
            else:
                yield from _several(source.name, text)
        except (Cut, *FAILURES):
            yield source.name, Bad(CUT)


def _several(name: str, text: Text) -> Iterator[tuple[str, Any]]:
    """One document, or several one after another, as JSON Lines under another name."""
    number = 0
    while text.next():
        number += 1
        yield f"{name}, item {number}", text.value()


def lines(name: str, stream: IO[bytes], limit: int = ITEM_LIMIT) -> Iterator[tuple[str, Any]]:
    """The values of JSON Lines."""
    number = 0
    while line := stream.readline(limit):
        number += 1
        where = f"{name}, line {number}"
        if len(line) >= limit:
            while (line := stream.readline(limit)) and not line.endswith(b"\n"):
                pass
            yield where, Bad(TOO_LONG)
        elif line.strip():
            yield where, _loaded(line.decode("utf-8", "surrogateescape").removeprefix("\ufeff"))


def _loaded(line: str) -> Any:
    try:
        return json.loads(line)
    except RecursionError:
        return Bad(TOO_DEEP)
    except ValueError:
        return Bad(NOT_JSON)
