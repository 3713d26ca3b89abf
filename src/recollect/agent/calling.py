"""Calling tools: whatever they do, what comes of it is an observation."""

import asyncio
import inspect
import json
import threading
import time
from collections.abc import Awaitable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from recollect.agent.prompts import Prompts
from recollect.agent.schema import coerced, misfit
from recollect.agent.tools import Tool
from recollect.agent.waiting import Cancelled, Job, Late, Workers, once
from recollect.errors import Invalid
from recollect.limits import check_json
from recollect.ports.acting import Call, read_arguments, unread
from recollect.ports.ending import ENDING, Ending
from recollect.record.working import bounded
from recollect.settings import Settings

_SHOWN = 500
"""How much of what a tool raises is told."""
MOST_LEFT = 8
"""How many calls of one tool may hang with nobody waiting for them; then it is not called any more."""
_UNDER_WAY: dict[int, set[Ending]] = {}
"""The calls that run, of each tool's function."""
_LOCK = threading.Lock()


class Asked(NamedTuple):
    """A call with its arguments read; or why it cannot be made."""

    call: Call
    tool: Tool | None
    arguments: Mapping[str, Any]
    problem: str = ""


class Outcome(NamedTuple):
    asked: Asked
    output: str
    error: str | None = None
    """What went wrong, beginning with its kind; None when it went well."""
    milliseconds: float = 0.0

    @property
    def success(self) -> bool:
        return self.error is None


def read(call: Call, tools: Mapping[str, Tool], settings: Settings, prompts: Prompts) -> Asked:
    """What is asked for, if it can be done; else what the model has to put right."""
    arguments, problem = _read_arguments(call.arguments, settings)
    tool = tools.get(call.tool)
    if tool is None:
        names = ", ".join(tools) or "none"
        return Asked(call, None, arguments, prompts.unknown_tool.format(tool=call.tool[:100], tools=names))
    if not problem:
        arguments = coerced(arguments, tool.parameters)
        problem = misfit(arguments, tool.parameters)
    if not problem:
        return Asked(call, tool, arguments)
    schema = json.dumps(tool.parameters, ensure_ascii=False, default=str)
    shown = prompts.broken_input.format(tool=tool.name, problem=problem, schema=schema)
    return Asked(call, tool, arguments, shown)


def _read_arguments(text: str, settings: Settings) -> tuple[dict[str, Any], str]:
    """The arguments; or what is wrong with them. They are shown, written down and told to others, so they
    are no deeper than JSON may be, and without halves of characters."""
    arguments, problem = read_arguments(text)
    try:
        check_json("input", arguments, settings.content_limit, "RECOLLECT_CONTENT_LIMIT")
    except Invalid as error:
        return unread(text), str(error)
    whole = _sendable(json.dumps(arguments, ensure_ascii=False))
    return json.loads(whole), problem


def _sendable(text: str) -> str:
    """The text with what cannot be sent in place of a lone surrogate."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def outcomes(
    asked: Sequence[Asked], workers: Workers, settings: Settings, prompts: Prompts, until: float
) -> Iterator[Outcome]:
    """What comes of several calls, in their order. They are made at once; none is waited for longer than it
    may take, or than `until`."""
    begun = time.monotonic()
    asked = [*map(_bearable, asked)]
    jobs = [_begun(one, workers, settings, prompts) for one in asked]
    for one, job in zip(asked, jobs, strict=True):
        if job is None or one.tool is None:
            yield Outcome(one, one.problem, f"Invalid: {one.problem}")
            continue
        seconds = min(_seconds(one.tool, settings), max(0.0, until - begun))
        yield _awaited(one, job, workers, prompts, begun, seconds)


def _bearable(asked: Asked) -> Asked:
    """The call; refused where the tool has hung too often already: whatever hangs keeps its thread."""
    if asked.tool is None or asked.problem:
        return asked
    with _LOCK:
        left = sum(ending.over for ending in _UNDER_WAY.get(id(asked.tool.call), ()))
    if left < MOST_LEFT:
        return asked
    return asked._replace(
        problem=f"{asked.tool.name} is not called: {left} earlier calls of it have not come to an end yet."
    )


@contextmanager
def _under_way(tool: Tool) -> Generator[None]:
    """Counts a call for as long as it runs, be it waited for or not."""
    key, ending = id(tool.call), ENDING.get() or Ending()
    with _LOCK:
        _UNDER_WAY.setdefault(key, set()).add(ending)
    try:
        yield
    finally:
        with _LOCK:
            _UNDER_WAY[key].discard(ending)
            if not _UNDER_WAY[key]:
                del _UNDER_WAY[key]


def _begun(asked: Asked, workers: Workers, settings: Settings, prompts: Prompts) -> Job[str] | None:
    tool = asked.tool
    if tool is None or asked.problem:
        return None

    def work() -> str:
        with _under_way(tool):
            output = tool.call(asked.arguments)
            if inspect.isawaitable(output):
                output = _awaited_in(workers.loop, output, _seconds(tool, settings))
        return bounded(_text(output), settings.agent_output_limit) or prompts.no_output.format(tool=tool.name)

    return workers.begin(once(work), f"tool-{tool.name}")


def _awaited(
    asked: Asked, job: Job[str], workers: Workers, prompts: Prompts, begun: float, seconds: float
) -> Outcome:
    name = asked.call.tool
    error: str | None = None
    try:
        output = workers.one(job, begun + seconds)
    except Cancelled:
        raise
    except Late:
        output = prompts.late_tool.format(tool=name, seconds=seconds)
        error = f"TimeoutError: {output}"
    except BaseException as raised:
        if isinstance(raised, (KeyboardInterrupt, GeneratorExit)):
            raise
        error = _raised(raised)
        output = prompts.failed_tool.format(tool=name, problem=error)
    return Outcome(asked, output, error, (time.monotonic() - begun) * 1000)


def _seconds(tool: Tool, settings: Settings) -> float:
    return tool.seconds or settings.agent_tool_seconds


def _awaited_in(loop: asyncio.AbstractEventLoop | None, output: Awaitable[Any], seconds: float) -> Any:
    """What is awaited, in the loop of whoever asked, to which connections may be bound; else in one of its
    own. What takes too long, or nobody waits for any more, is cancelled."""
    ending = ENDING.get()

    async def result() -> Any:
        task, here = asyncio.current_task(), asyncio.get_running_loop()
        if ending is not None and task is not None:
            ending.then(lambda: here.call_soon_threadsafe(task.cancel))
        async with asyncio.timeout(seconds):
            return await output

    return (
        asyncio.run(result()) if loop is None else asyncio.run_coroutine_threadsafe(result(), loop).result()
    )


def _raised(error: BaseException) -> str:
    try:
        text = str(error).strip()
    except Exception:  # noqa: BLE001 - an error's text is anybody's code
        text = ""
    return f"{type(error).__name__}: {bounded(text, _SHOWN)}" if text else type(error).__name__


def _text(output: Any) -> str:
    if output is None or isinstance(output, str):
        return output or ""
    if isinstance(output, (bytes, bytearray)):
        return bytes(output).decode("utf-8", "replace")
    try:
        return json.dumps(output, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return str(output)
