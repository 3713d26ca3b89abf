"""Errors in the language of the command line: a message on standard error and an exit code."""

import json
import os
import sys
from typing import Any, cast

import typer
import typer.core

from recollect.cli import output
from recollect.errors import NotFound, RecollectError, StoreMissing

OK, FAILED, USAGE, MISSING, INTERRUPTED = 0, 1, 2, 3, 130

_PARSER_ERROR: type[BaseException] = typer.BadParameter.__mro__[2]
"""What the parser raises for every mistake on the command line; typer has no public name for it."""

EXIT_CODES: dict[type[BaseException], int] = {
    _PARSER_ERROR: USAGE,
    NotFound: MISSING,
    StoreMissing: MISSING,
    RecollectError: FAILED,
    OSError: FAILED,
    typer.Abort: INTERRUPTED,
    KeyboardInterrupt: INTERRUPTED,
}
"""What each error exits with; the first that fits. Anything else is a bug and shows its traceback."""


class Root(typer.core.TyperGroup):
    """The whole command line, with our way of failing."""

    def main(self, args: Any = None, *others: Any, **extra: Any) -> Any:
        given = list(sys.argv[1:] if args is None else args)
        extra["standalone_mode"] = False
        output.prepare()
        try:
            code = super().main(given, *others, **extra)
        except tuple(EXIT_CODES) as error:
            code = _report(error, as_json="--json" in given)
        sys.exit(code if isinstance(code, int) else OK)

    def invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:  # the reader has had enough: `recollect list | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(OK) from None
        return result


def _report(error: BaseException, as_json: bool) -> int:
    code = next(code for kind, code in EXIT_CODES.items() if isinstance(error, kind))
    if as_json:
        kind = "Usage" if code == USAGE else type(error).__name__
        sys.stderr.write(json.dumps({"error": {"type": kind, "message": _message(error)}}) + "\n")
    elif code == USAGE:
        from typer import rich_utils

        rich_utils.rich_format_error(cast("typer.BadParameter", error))
    elif code == INTERRUPTED:
        output.error_line("Interrupted.")
    else:
        output.error_line(f"Error: {_message(error)}")
    return code


def _message(error: BaseException) -> str:
    if isinstance(error, _PARSER_ERROR):
        return cast("typer.BadParameter", error).format_message()
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    return str(error) or type(error).__name__
