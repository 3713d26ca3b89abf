"""From words on the command line to values; what cannot be read is a usage error that says why."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from recollect.errors import Invalid

STDIN = "-"


def a_time(text: str) -> datetime:
    """An ISO time; one without a zone is the local zone's, a date is its first moment."""
    try:
        return datetime.fromisoformat(text).astimezone()
    except (TypeError, ValueError, OverflowError, OSError):  # from a file it may be a number
        raise typer.BadParameter(
            f"{text!r} is not a time; write 2025-03-15, 2025-03-15T18:30 or 2025-03-15T18:30+01:00."
        ) from None


def a_day(text: str) -> date:
    """An ISO date."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a day; write 2025-03-15.") from None


def an_object(text: str) -> dict[str, Any]:
    """A JSON object."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise typer.BadParameter(f"this is not JSON: {error}.") from None
    if not isinstance(value, dict):
        raise typer.BadParameter('give a JSON object, as in \'{"source": "email"}\'.')
    return cast("dict[str, Any]", value)


def a_pair(text: str) -> tuple[str, Any]:
    """KEY=VALUE, the value as JSON where it is, else as text."""
    key, separator, value = text.partition("=")
    if not separator or not key:
        raise typer.BadParameter(f"{text!r} is not KEY=VALUE.")
    try:
        return key, json.loads(value)
    except (ValueError, RecursionError):
        return key, value


def one_of(allowed: Iterable[str]) -> Callable[[str], str]:
    """One of a few words."""
    words = tuple(allowed)

    def parse(text: str) -> str:
        if text not in words:
            raise typer.BadParameter(f"{text!r} is not one of {', '.join(words)}.")
        return text

    return parse


def time_option(help: str, *names: str) -> Any:
    return typer.Option(*names, parser=a_time, metavar="TIME", help=help)


Metadata = Annotated[
    dict[str, Any] | None,
    typer.Option(parser=an_object, metavar="JSON", help="A JSON object to keep with it."),
]
Content = Annotated[str, typer.Argument(metavar="CONTENT", help="The text, or - to read standard input.")]


def content(given: str) -> str:
    """The text itself, or standard input without its last line end."""
    if given != STDIN:
        return given
    text = _decoded(sys.stdin.buffer.read(), "Standard input")
    return text.removesuffix("\n").removesuffix("\r")


def lines(file: str) -> Iterator[str]:
    """The lines of a file, or of standard input."""
    if file == STDIN:
        for number, line in enumerate(sys.stdin.buffer, 1):
            yield _decoded(line, f"Line {number} of standard input", "utf-8-sig")
        return
    with Path(file).open("rb") as stream:
        for number, line in enumerate(stream, 1):
            yield _decoded(line, f"Line {number} of {file}", "utf-8-sig")


def _decoded(data: bytes, what: str, encoding: str = "utf-8") -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise Invalid(f"{what} is not UTF-8 text: {error.reason} at byte {error.start}.") from None
