"""Calling tools: whatever they do, what comes of it is an observation."""

import asyncio
import inspect
import json
import time
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from recollect.agent.prompts import Prompts
from recollect.agent.schema import misfit
from recollect.agent.tools import Tool
from recollect.agent.waiting import Cancelled, Job, Late, Workers, once
from recollect.ports.acting import Call
from recollect.record.working import bounded
from recollect.settings import Settings

_SHOWN = 500
"""How much of what a tool raises is told."""


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


def read(call: Call, tools: Mapping[str, Tool], prompts: Prompts) -> Asked:
    """What is asked for, if it can be done; else what the model has to put right."""
    tool = tools.get(call.tool)
    if tool is None:
        names = ", ".join(tools) or "none"
        return Asked(call, None, {}, prompts.unknown_tool.format(tool=call.tool[:100], tools=names))
    arguments, problem = _read_arguments(call.arguments)
    problem = problem or misfit(arguments, tool.parameters)
    if not problem:
        return Asked(call, tool, arguments)
    schema = json.dumps(tool.parameters, ensure_ascii=False, default=str)
    shown = prompts.broken_input.format(tool=tool.name, problem=problem, schema=schema)
    return Asked(call, tool, arguments, shown)


def _read_arguments(text: str) -> tuple[dict[str, Any], str]:
    """The arguments; or what is wrong with them."""
    try:
        value = json.loads(text or "{}")
    except json.JSONDecodeError as error:
        return {}, f"it is not JSON: {error}."
    except (ValueError, RecursionError):
        return {}, "it is not JSON."
    return (cast("dict[str, Any]", value), "") if isinstance(value, dict) else ({}, "it must be an object.")


def outcomes(
    asked: Sequence[Asked], workers: Workers, settings: Settings, prompts: Prompts, until: float
) -> Iterator[Outcome]:
    """What comes of several calls, in their order. They are made at once; none is waited for longer than it
    may take, or than `until`."""
    begun = time.monotonic()
    jobs = [_begun(one, workers, settings, prompts) for one in asked]
    for one, job in zip(asked, jobs, strict=True):
        if job is None or one.tool is None:
            yield Outcome(one, one.problem, f"Invalid: {one.problem}")
            continue
        seconds = min(_seconds(one.tool, settings), max(0.0, until - begun))
        yield _awaited(one, job, workers, prompts, begun, seconds)


def _begun(asked: Asked, workers: Workers, settings: Settings, prompts: Prompts) -> Job[str] | None:
    tool = asked.tool
    if tool is None or asked.problem:
        return None

    def work() -> str:
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
    own. What takes too long is cancelled."""

    async def result() -> Any:
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
