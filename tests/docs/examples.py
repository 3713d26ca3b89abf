"""Reads the examples out of a Markdown page and runs them as a reader would: top to bottom, in one place.

python    executed; all blocks of a page share one namespace
text      right after a python block: what that block prints
console   lines `$ recollect …` are run and must succeed; the lines under one are what it prints

In expected output `...` stands for anything; ids, durations and scores match any of them. A block under
`<!-- no-run: reason -->` is not run. A page whose Python asks a server at its usual address has one to ask.
"""

import asyncio
import contextlib
import doctest
import inspect
import io
import os
import re
import subprocess
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<language>[\w-]*)")
NO_RUN = re.compile(r"<!--\s*no-run\b:?\s*(?P<reason>.*?)\s*-->")
SERVER = "http://127.0.0.1:7070"
VARYING = [
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "<id>"),
    (re.compile(r"\b\d+(?:\.\d+)? ?(?:µs|ms|s|seconds?|minutes?)\b"), "<duration>"),
    (re.compile(r"\b\d\.\d{3}\b(?!\.\.\.)"), "<score>"),  # another weight is no other example
]


class ExampleError(AssertionError):
    """An example does not do what its page says."""


@dataclass(frozen=True)
class Block:
    language: str
    code: str
    line: int  # of the first line of code, from 1
    adjoins: bool  # nothing but blank lines since the block before
    no_run: str | None  # the reason; "" when there is none


def blocks(markdown: str) -> list[Block]:
    found: list[Block] = []
    lines = iter(enumerate(markdown.splitlines(), start=1))
    adjoins, no_run = False, None
    for number, line in lines:
        if fence := FENCE.match(line):
            body = _until(lines, fence["ticks"])
            code = textwrap.dedent("\n".join(body)) + "\n"
            found.append(Block(fence["language"], code, number + 1, adjoins, no_run))
            adjoins, no_run = True, None
        elif line.strip():
            comment = NO_RUN.search(line)
            adjoins, no_run = False, comment["reason"] if comment else None
    return found


def _until(lines: Iterator[tuple[int, str]], ticks: str) -> Iterator[str]:
    for _, line in lines:
        if line.strip() == ticks:
            return
        yield line


def commands(console: str) -> list[tuple[str, str]]:
    """Each `$ command` with the output shown under it; a command goes on after a trailing backslash."""
    found: list[tuple[str, str]] = []
    for line in console.replace("\\\n", "").splitlines():
        if line.startswith("$ "):
            found.append((line[2:].strip(), ""))
        elif found:
            command, output = found[-1]
            found[-1] = (command, f"{output}{line}\n")
    return found


def matches(expected: str, got: str) -> bool:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    return doctest.OutputChecker().check_output(_steady(expected), _steady(got), flags)


def _steady(output: str) -> str:
    for pattern, name in VARYING:
        output = pattern.sub(name, output)
    return output.strip() + "\n"


def asks_a_server(page: Path) -> bool:
    found = blocks(page.read_text("utf-8"))
    return any(SERVER in block.code and block.language == "python" and not block.no_run for block in found)


def run_page(page: Path, environment: Mapping[str, str], server: str = SERVER) -> None:
    """Run every example of the page in the current directory; `environment` is for its commands, `server` is
    where one really is."""
    found = blocks(page.read_text("utf-8").replace(SERVER, server))
    namespace: dict[str, object] = {"__name__": "__main__"}
    try:
        for number, block in enumerate(found):
            where = f"{page}:{block.line}"
            if block.no_run == "":
                raise ExampleError(f"{where}: no-run without a reason")
            if block.no_run:
                continue
            if block.language == "python":
                _run_python(page, block, _shown_after(found, number), namespace)
            elif block.language == "console":
                _run_console(where, block, environment)
    finally:
        _close(namespace)


def _shown_after(found: list[Block], number: int) -> str | None:
    after = found[number + 1 : number + 2]
    return after[0].code if after and after[0].language == "text" and after[0].adjoins else None


def _run_python(page: Path, block: Block, expected: str | None, namespace: dict[str, object]) -> None:
    printed = io.StringIO()
    padded = "\n" * (block.line - 1) + block.code  # so that a traceback points into the page
    with contextlib.redirect_stdout(printed):
        exec(compile(padded, str(page), "exec"), namespace)
    if expected is not None and not matches(expected, printed.getvalue()):
        raise ExampleError(_difference(f"{page}:{block.line}", expected, printed.getvalue()))


def _run_console(where: str, block: Block, environment: Mapping[str, str]) -> None:
    for command, expected in commands(block.code):
        if not re.match(r"recollect(\s|$)", command):
            continue
        done = subprocess.run(
            command,
            shell=True,  # quoting, pipes and redirections work as they do for the reader
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        if done.returncode:
            raise ExampleError(f"{where}: `{command}` exits with {done.returncode}\n{done.stderr}")
        if expected.strip() and not matches(expected, done.stdout):
            raise ExampleError(_difference(f"{where}: `{command}`", expected, done.stdout))


def _difference(where: str, expected: str, got: str) -> str:
    return f"{where}\nexpected:\n{textwrap.indent(expected, '  ')}\ngot:\n{textwrap.indent(got, '  ')}"


def _close(namespace: dict[str, object]) -> None:
    """A page may leave its memory open for the reader; the test may not."""
    for value in namespace.values():
        close = getattr(value, "close", None)
        if callable(close) and not isinstance(value, type):
            closing = close()
            if inspect.iscoroutine(closing):
                asyncio.run(closing)
