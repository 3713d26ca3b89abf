"""What every command stands on: the shared options, the open memory, and one way to answer."""

import functools
import inspect
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec

import typer

from recollect import settings as settings_module
from recollect import wiring
from recollect.cli import output
from recollect.errors import NotFound
from recollect.memory import Memory
from recollect.model.scope import GLOBAL
from recollect.scoped import ScopedMemory
from recollect.settings import Settings

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

P = ParamSpec("P")


def _everywhere(*names: str, help: str, metavar: str | None = None) -> Any:
    return typer.Option(*names, help=help, metavar=metavar, rich_help_panel="Everywhere")


@dataclass(frozen=True)
class Options:
    """The options that stand before or after every command's name; the one nearest to its end wins."""

    db: Annotated[
        str | None,
        _everywhere("--db", metavar="PATH", help="The database. Default: RECOLLECT_DB, or your data folder."),
    ] = None
    user: Annotated[
        str | None,
        _everywhere("--user", metavar="NAME", help="Whose memory. Default: your login name."),
    ] = None
    channel: Annotated[
        str | None, _everywhere("--channel", metavar="NAME", help="The channel, a part of that memory.")
    ] = None
    agent: Annotated[str | None, _everywhere("--agent", metavar="NAME", help="The agent.")] = None
    conversation: Annotated[
        str | None, _everywhere("--conversation", "-c", metavar="NAME", help="The conversation.")
    ] = None
    embedder: Annotated[
        str | None,
        _everywhere(
            "--embedder",
            metavar="NAME",
            help="What computes vectors: a model, a directory, a URL, hashing, or none.",
        ),
    ] = None
    json: Annotated[
        bool, _everywhere("--json", help="Answer in JSON: one document; of a chat, a line an event.")
    ] = False
    quiet: Annotated[bool, _everywhere("--quiet", "-q", help="No warnings and no progress.")] = False

    def then(self, given: Mapping[str, Any]) -> "Options":
        """These options, with those of `given` that were given in their place."""
        return Options(
            **{**asdict(self), **{name: value for name, value in given.items() if value not in (None, False)}}
        )


_SHARED = inspect.signature(Options).parameters
SHARED = tuple(_SHARED)
CONTEXT = "typer_context"


class Here:
    """Where one command runs: its options, its settings, its memory, and where its answer goes."""

    def __init__(self, options: Options, command: str | None = None) -> None:
        self.options = options
        self.command = command
        """What a group's own part is followed by, if anything."""
        self._bars: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    @property
    def user(self) -> str:
        return self.settings.user if self.options.user is None else self.options.user

    @functools.cached_property
    def settings(self) -> Settings:
        return self.settings_with()

    def settings_with(self, **changes: Any) -> Settings:
        """The settings of the environment and the command line, changed."""
        given: dict[str, Any] = {"db": self.options.db, "embedder": self.options.embedder, **changes}
        return settings_module.load(**{name: value for name, value in given.items() if value is not None})

    @contextmanager
    def memory(self, settings: Settings | None = None) -> Generator[Memory]:
        """The memory, open; a model that is fetched on first use shows how far it is."""
        settings = settings or self.settings
        embedder = wiring.open_embedder(settings, self.fetching)
        with Memory.open(settings.db, embedder=embedder or "none") as memory:
            yield memory

    def scope(self, memory: Memory) -> ScopedMemory:
        options = self.options
        return memory.scope(self.user, options.channel or GLOBAL, options.agent, options.conversation)

    @contextmanager
    def mine(self) -> Generator[ScopedMemory]:
        """The user's own part of the memory, open; the database is made when there is none."""
        with self.memory() as memory:
            yield self.scope(memory)

    @contextmanager
    def stored(self) -> Generator[ScopedMemory]:
        """The same for commands that need something to be there: they make no database."""
        self.existing()
        with self.mine() as mine:
            yield mine

    def existing(self, settings: Settings | None = None) -> str:
        """Where the database is; `NotFound` when there is none."""
        settings = settings or self.settings
        where = wiring.address(settings)
        if wiring.is_server(settings):
            if wiring.server_version(settings) is None:
                raise NotFound(f"There is no memory in {where} yet; make it with `recollect db create`.")
        elif not (path := Path(where)).exists() or (path.is_file() and not path.stat().st_size):
            raise NotFound(f"There is no database at {where} yet; the first `recollect record` makes it.")
        return where

    def answer(self, data: Any, human: Callable[[], None]) -> None:
        """Print the result: as JSON when that was asked for, else the way people read it."""
        self.stop_progress()
        if self.options.json:
            output.document(data)
        else:
            human()

    def note(self, text: str) -> None:
        """Something worth knowing that is not the answer."""
        if not self.options.quiet:
            self.stop_progress()
            output.error_line(text)

    def progress(self, label: str, done: int, total: int | None = None) -> None:
        """How far long work is; shown only to somebody who watches."""
        self._show(label, done, total, f"{done:,}" if total is None else f"{done:,} of {total:,}")

    def fetching(self, done: int, total: int, source: str) -> None:
        """How far a download is, in bytes. The bar of a source that failed gives way to the next one's."""
        label = f"Fetching the model: {source}"
        if self._bars is not None and label not in self._tasks:
            self.stop_progress()
        self._show(label, done, total, f"{done / 1e6:.1f} of {total / 1e6:.1f} MB")

    def _show(self, label: str, done: int, total: int | None, amount: str) -> None:
        if self.options.quiet or not output.watched():
            return
        if self._bars is None:
            self._bars = output.bars()
            self._bars.start()
        if label not in self._tasks:
            self._tasks[label] = self._bars.add_task(output.safe(label), amount=amount)
        self._bars.update(self._tasks[label], completed=done, total=total, amount=amount)

    def stop_progress(self) -> None:
        if self._bars is not None:
            self._bars.stop()
        self._bars, self._tasks = None, {}


def _nothing(here: Here) -> None:
    pass


def new_app(
    name: str,
    help: str,
    *examples: str,
    cls: Any = None,
    callback: Callable[..., None] = _nothing,
    alone: bool = False,
) -> typer.Typer:
    """A group of commands that takes the shared options too, and those of `callback`; `alone`: which does
    something without a command, too."""
    app = typer.Typer(
        name=name,
        cls=cls,
        help=help,
        epilog=_epilog(examples),
        no_args_is_help=not alone,
        invoke_without_command=alone,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    app.callback(help=help)(_with_options(callback))
    return app


def command(
    app: typer.Typer, *examples: str, name: str | None = None, hidden: bool = False
) -> Callable[[Callable[Concatenate[Here, P], None]], Callable[Concatenate[Here, P], None]]:
    """Register a command. It is called with a `Here` first, then with its own parameters."""

    def register(run: Callable[Concatenate[Here, P], None]) -> Callable[Concatenate[Here, P], None]:
        app.command(name, epilog=_epilog(examples), hidden=hidden)(_with_options(run))
        return run

    return register


def _with_options(run: Callable[..., None]) -> Callable[..., None]:
    """`run` with the shared options after its own, and without its first parameter, the `Here`."""
    context = inspect.Parameter(CONTEXT, inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    _, *own = inspect.signature(run, eval_str=True).parameters.values()

    @functools.wraps(run)
    def call(**values: Any) -> None:
        context: typer.Context = values.pop(CONTEXT)
        context.obj = (context.obj or Options()).then({name: values.pop(name) for name in SHARED})
        here = Here(context.obj, context.invoked_subcommand)
        output.set_quiet(here.options.quiet)
        try:
            run(here, **values)
        finally:
            here.stop_progress()

    parameters = [context, *own, *_SHARED.values()]
    signature = inspect.Signature([p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters])
    call.__signature__ = signature  # pyright: ignore[reportAttributeAccessIssue]
    return call


def _epilog(examples: tuple[str, ...]) -> str:
    heading = "[bold]Examples[/bold]" if len(examples) > 1 else "[bold]Example[/bold]"
    return "\n\n".join((heading, *("  " + example.replace("[", r"\[") for example in examples)))
