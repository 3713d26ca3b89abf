"""recollect bench: the benchmarks' own commands, loaded only when one is asked for."""

import importlib
from typing import Any

import typer.core
import typer.main

from recollect.cli.frame import Options, new_app
from recollect.errors import RecollectError

MODULE = "recollect.bench.command"
PASSED_ON = ("json", "quiet")


class Lazy(typer.core.TyperGroup):
    """The group of commands in MODULE's `app`."""

    def loaded(self) -> Any:
        try:
            return typer.main.get_group(importlib.import_module(MODULE).app)
        except ModuleNotFoundError as error:
            raise RecollectError(
                f"The benchmarks cannot run here: {error}. Install recollect with its benchmarks."
            ) from None

    def list_commands(self, ctx: Any) -> list[str]:
        return self.loaded().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command; those shared options that mean the same to it may stand before its name."""
        found = self.loaded().get_command(ctx, cmd_name)
        if found is not None:
            options = (ctx.obj or Options()).then({name: ctx.params.get(name) for name in PASSED_ON})
            given = {f"--{name}" for name in PASSED_ON if getattr(options, name)}
            ctx.default_map = {cmd_name: {p.name: True for p in found.params if given & {*p.opts}}}
        return found


app = new_app(
    "bench",
    "Measure how fast it is here, and how good.",
    "recollect bench latency",
    "recollect bench latency --json",
    "recollect bench gate",
    "recollect bench longmemeval longmemeval_oracle.json --setting pool",
    "recollect bench locomo locomo10.json --json",
    "recollect bench peers locomo10.json --peers mem0,chroma",
    "recollect bench tending",
    "recollect bench gateway",
    "recollect bench load --soak 600",
    "recollect bench years --plot years.png",
    "recollect bench agent",
    "recollect bench scale --json > scale.json",
    cls=Lazy,
)
