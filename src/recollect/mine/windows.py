"""Which turns are mined together, and when."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from recollect.model.records import Conversation


class Span(NamedTuple):
    """Indexes of turns, from `start` up to `stop`."""

    start: int
    stop: int


def spans(start: int, stop: int, whole: int, part: int) -> Iterator[Span]:
    """All of it as one when it is at most `whole` turns; else in parts of at most `part`, about as long."""
    count = stop - start
    if count <= 0:
        return
    parts = 1 if count <= whole else -(-count // part)
    for n in range(parts):
        yield Span(start + count * n // parts, start + count * (n + 1) // parts)


def is_due(conversation: Conversation, now: datetime, quiet: timedelta) -> bool:
    """Whether the background should mine it, whoever spoke: it has ended, or nobody says anything. One whose
    last word is dated far ahead says nothing about when that was."""
    if conversation.mining_after is not None and now < conversation.mining_after:
        return False
    return conversation.ended_at is not None or abs(now - conversation.last_at) >= quiet


def retry_after(failures: int, now: datetime, first: timedelta, longest: timedelta) -> datetime:
    """When to try again what failed so many times: each time after twice as long."""
    return now + min(longest, first * 2 ** min(failures - 1, 20))
