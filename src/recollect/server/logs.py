"""What the server logs: a line for each record, as text or JSON, with nothing in it that anybody said.

Of an error that is not ours only its kind is told and where it came from: its message may quote what it
failed at. Control characters, which could forge a line or drive a terminal, are written as escapes.
"""

import json
import logging
import re
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from recollect import RecollectError
from recollect.settings import Settings

_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
FRAMES = 8
"""How many of the innermost places of an error are told."""
LOUD = ("httpx", "httpx2", "httpcore", "httpcore2", "openai", "alembic", "uvicorn", "mcp")
"""Loggers that tell of each request, or each step of theirs: with whole addresses, in which people put
passwords and keys."""
FIELDS = "fields"
"""What a record carries beside its message, by name: `log.info("…", extra={FIELDS: {…}})`."""


def install(settings: Settings, stream: TextIO | None = None) -> None:
    """Have everything logged so, from now on."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(Json() if settings.log_format == "json" else Text())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())
    logging.getLogger("recollect").handlers.clear()  # those of the command line
    for name in LOUD:
        logging.getLogger(name).setLevel(logging.WARNING)


def safe(text: str) -> str:
    """The text on one line, with nothing in it that acts on a terminal."""
    return _UNSAFE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _at(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def _failed(record: logging.LogRecord) -> dict[str, Any]:
    """What went wrong and where, without what it was about."""
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return {}
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES:]
    places = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
    message = {"message": str(error)} if isinstance(error, RecollectError) else {}
    return {"error": {"type": type(error).__name__, **message, "at": places}}


class Text(logging.Formatter):
    """Time, level, logger and message; then what there is beside it."""

    def format(self, record: logging.LogRecord) -> str:
        line = f"{_at(record)} {record.levelname} {record.name} {record.getMessage()}"
        given: dict[str, Any] = getattr(record, FIELDS, {})
        line += "".join(f" {name}={value}" for name, value in given.items())
        if error := _failed(record).get("error"):
            told = ": ".join(filter(None, (error["type"], error.get("message"))))
            line += f" [{told}; {' > '.join(error['at'])}]"
        return safe(line)


class Json(logging.Formatter):
    """An object a line."""

    def format(self, record: logging.LogRecord) -> str:
        told = {
            "at": _at(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, FIELDS, {}),
            **_failed(record),
        }
        return json.dumps(told, default=str)  # ASCII: whatever is not, is an escape
