"""How the tools do: pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.model.records import ToolInvocation

_KIND = re.compile(r"[A-Za-z_][\w.]{0,79}(?=\s*(?::|\(|$))")
UNNAMED = "error"
"""The kind of an error that does not begin with the name of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStats:
    """How often a tool was called, how that went, and how long it took on the average."""

    tool: str
    last_used: datetime
    calls: int = 0
    successes: int = 0
    timed: int = 0
    average_ms: float | None = None
    """Of the calls that were timed."""
    last_error: str | None = None
    """What kind of error the last failure was; nothing of what it said."""

    @property
    def failures(self) -> int:
        return self.calls - self.successes


def error_kind(error: str | None) -> str:
    """The name that an error begins with, such as TimeoutError; never what it says."""
    found = _KIND.match((error or "").strip())
    return found.group() if found else UNNAMED


def tool_stats(calls: Iterable[ToolInvocation]) -> list[ToolStats]:
    """Of each tool, the most used first. The calls come oldest first and are read once."""
    known: dict[str, ToolStats] = {}
    for call in calls:
        known[call.tool] = _with(known.get(call.tool) or ToolStats(tool=call.tool, last_used=call.at), call)
    return sorted(known.values(), key=lambda stats: (-stats.calls, stats.tool))


def _with(stats: ToolStats, call: ToolInvocation) -> ToolStats:
    timed, average = stats.timed, stats.average_ms
    if call.latency_ms is not None:
        timed += 1
        average = (average or 0.0) + (call.latency_ms - (average or 0.0)) / timed
    return replace(
        stats,
        calls=stats.calls + 1,
        successes=stats.successes + call.success,
        timed=timed,
        average_ms=average,
        last_used=max(stats.last_used, call.at),
        last_error=stats.last_error if call.success else error_kind(call.error),
    )
