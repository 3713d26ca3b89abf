"""What reaches the terminal: JSON, tables and cards, none of which can drive it.

Memories hold what strangers wrote. Control characters, escape sequences, characters that turn the
reading direction and lone surrogates are shown as escapes, never sent as they are.
"""

import json
import logging
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

_TURNING = "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
_UNSAFE = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{_TURNING}\ud800-\udfff]")
_UNSAFE_IN_JSON = re.compile(f"[\x7f-\x9f{_TURNING}\ud800-\udfff]")
CARD_CHARACTERS = 600
"""How much of one memory a list shows to a terminal; `recollect show` and pipes get all of it."""


def safe(text: str) -> str:
    """The text with everything that could act on a terminal written as an escape; lines and tabs stay."""
    return _UNSAFE.sub(_escape, text)


def one_line(text: str) -> str:
    """The text, safe, on one line."""
    return " ".join(safe(text).split())


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def plain(value: Any) -> dict[str, Any]:
    """A record's fields by name."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _jsonable(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): item for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if is_dataclass(value):
        return plain(value)
    return str(value)


def dumps(data: Any) -> str:
    """The data as JSON that is safe to print, one line unless somebody reads it."""
    ascii_only = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    indent = 2 if sys.stdout.isatty() else None
    text = json.dumps(data, ensure_ascii=ascii_only, indent=indent, default=_jsonable)
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def document(data: Any) -> None:
    sys.stdout.write(dumps(data) + "\n")


def line(text: str) -> None:
    sys.stdout.write(safe(text) + "\n")


def error_line(text: str) -> None:
    sys.stderr.write(safe(text) + "\n")


def local(at: datetime | None) -> str:
    """A time as the person at the terminal reads it."""
    if at is None:
        return ""
    try:
        return f"{at.astimezone():%Y-%m-%d %H:%M %Z}"
    except (OverflowError, ValueError, OSError):  # years that the platform's zone tables do not reach
        return f"{at:%Y-%m-%d %H:%M %Z}"


def span(time: timedelta) -> str:
    """A time that has passed, as people say it: "40 s", "3 min", "2 h", "5 days"."""
    seconds = max(0, round(time.total_seconds()))
    if seconds < 100:
        return f"{seconds} s"
    if seconds < 100 * 60:
        return f"{seconds // 60} min"
    return f"{seconds // 3600} h" if seconds < 48 * 3600 else f"{seconds // 86400} days"


_HEIGHTS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[int]) -> str:
    """A small chart of numbers: bars on a terminal that has them, else the numbers."""
    if not sys.stdout.isatty() or (sys.stdout.encoding or "").lower().replace("-", "") != "utf8":
        return " ".join(map(str, values))
    most = max(values, default=0)
    heights = (-(-value * len(_HEIGHTS) // most) if most else 0 for value in values)
    return "".join(_HEIGHTS[height - 1] if height else " " for height in heights)


def section(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table among others: below its title on a terminal; in a pipe each row begins with the title."""
    if not rows:
        return
    if not sys.stdout.isatty():
        table((), [(title, *row) for row in rows])
        return
    from rich.text import Text

    _console().print(Text(f"\n{title}", style="bold"))
    table(headings, rows)


def counted(count: int, what: str) -> str:
    """The number and the noun: "1 memory", "1,200 memories"."""
    if count != 1 and not what.endswith("s"):
        what = what[:-1] + "ies" if what.endswith("y") and what[-2] not in "aeiou" else what + "s"
    return f"{count:,} {what}"


def summed(counts: Mapping[str, int]) -> str:
    """Several of those: "1 conversation, 2 turns"."""
    return ", ".join(counted(count, kind) for kind, count in counts.items())


def table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], styles: Mapping[str, str] | None = None
) -> None:
    """Rows: in columns on a terminal, separated by tabs in a pipe. `styles`: how certain cells look."""
    if not sys.stdout.isatty():
        for row in rows:
            line("\t".join(one_line(cell) for cell in row))
        return
    from rich.table import Table
    from rich.text import Text

    made = Table(*headings, box=None, pad_edge=False, header_style="dim")
    for row in rows:
        made.add_row(*(Text(safe(cell), style=(styles or {}).get(cell, "")) for cell in row))
    _console().print(made)


def cards(items: Iterable[tuple[Sequence[str], str]]) -> None:
    """Things with a text: a line of labels above it on a terminal, all on one line in a pipe."""
    if not sys.stdout.isatty():
        for labels, content in items:
            line("\t".join((*(one_line(label) for label in labels), one_line(content))))
        return
    from rich.padding import Padding
    from rich.text import Text

    console = _console()
    for labels, content in items:
        console.print(Text("  ".join(one_line(label) for label in labels if label), style="dim"))
        short = content if len(content) <= CARD_CHARACTERS else content[:CARD_CHARACTERS] + " …"
        console.print(Padding(Text(safe(short)), (0, 0, 0, 2)))


class Branch(NamedTuple):
    """Something in a tree, and what is in it."""

    labels: Sequence[str]
    inside: "Sequence[Branch]"


def tree(branches: Sequence[Branch]) -> None:
    """Things that are in one another: a tree on a terminal, in a pipe one line each, separated by tabs."""
    if not sys.stdout.isatty():
        for branch in branches:
            line("\t".join(one_line(label) for label in branch.labels))
            tree(branch.inside)
        return
    from rich.text import Text
    from rich.tree import Tree

    def grow(parent: Tree, inside: Sequence[Branch]) -> None:
        for branch in inside:
            place, *labels = (one_line(label) for label in branch.labels)
            short = (
                label if len(label) <= CARD_CHARACTERS else label[:CARD_CHARACTERS] + " …" for label in labels
            )
            grow(
                parent.add(Text.assemble((place, "dim"), "  ", "  ".join(filter(None, short)))), branch.inside
            )

    root = Tree("", hide_root=True, guide_style="dim")
    grow(root, branches)
    if branches:
        _console().print(root)


def _console(stream: TextIO | None = None) -> "Console":
    from rich.console import Console

    return Console(file=stream or sys.stdout, markup=False, highlight=False, emoji=False)


# Progress and warnings


def watched() -> bool:
    """Whether somebody sees the progress of long work."""
    return sys.stderr.isatty()


def bars() -> "Progress":
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.table import Column

    text = TextColumn("{task.description}", markup=False, table_column=Column())  # a long one may wrap
    amount = TextColumn("{task.fields[amount]}", markup=False)
    columns = (text, BarColumn(bar_width=20), amount, TimeElapsedColumn())
    return Progress(*columns, console=_console(sys.stderr), transient=True)


class _Warnings(logging.Handler):
    """The library's warnings, on standard error as it is at that moment."""

    def emit(self, record: logging.LogRecord) -> None:
        error_line(f"Warning: {record.getMessage()}")


_WARNINGS = _Warnings(logging.WARNING)


def prepare() -> None:
    """Make the streams such that no character can crash them, and let warnings through."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by whoever started us; no other file may take its place
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - for good
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    log = logging.getLogger("recollect")
    if _WARNINGS not in log.handlers:
        log.addHandler(_WARNINGS)


def set_quiet(quiet: bool) -> None:
    _WARNINGS.setLevel(logging.ERROR if quiet else logging.WARNING)
