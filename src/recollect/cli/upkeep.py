"""recollect tend, rebuild."""

import logging
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from typing import Annotated, Any

import typer

from recollect import settings as settings_module
from recollect import wiring
from recollect.cli import output
from recollect.cli.failing import FAILED, INTERRUPTED
from recollect.cli.frame import Here, command, new_app
from recollect.errors import NotFound, SettingsError
from recollect.lasting import rare_collections, steady_memory
from recollect.memory import Memory
from recollect.metrics import parked, state
from recollect.tend.tender import Outcome
from recollect.tend.visits import Planned

log = logging.getLogger("recollect.tend")

app = typer.Typer()
_WAYS = "--once, --forever, --dry-run"
DRY_LINES = 20
"""How many steps of each chore a dry run shows to people."""
rebuild = new_app(
    "rebuild",
    "Build an index anew from what is stored.",
    "recollect rebuild vectors",
    "recollect rebuild text",
    "recollect rebuild milvus",
    "recollect rebuild neo4j",
)


@command(
    app,
    "recollect tend",
    "recollect tend --dry-run",
    "recollect tend --dry-run --user derek --json",
    "recollect tend --forever",
    "recollect tend --retry",
)
def tend(
    here: Here,
    once: Annotated[bool, typer.Option("--once", help="Do what waits, then end. The default.")] = False,
    forever: Annotated[bool, typer.Option("--forever", help="Go on until ended, as a worker does.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be done, and why; with --user, for one.")
    ] = False,
    retry: Annotated[
        bool, typer.Option("--retry", help="Also try at once what failed and was put aside.")
    ] = False,
) -> None:
    """Do the background's work: missing vectors, mining, what the retention policy says, erasures to finish.

    Any number of workers may run at once. A change to the configured model that was begun is carried on and,
    once every vector is there, made; with --forever it is also begun.
    """
    if once + forever + dry_run > 1 or dry_run + retry > 1:
        raise typer.BadParameter("give only one of them, and --dry-run without --retry.", param_hint=_WAYS)
    if dry_run:
        _dry_run(here)
        return
    if here.options.user is not None:
        raise typer.BadParameter(
            "workers look after everybody; only --dry-run shows one user's.", param_hint="--user"
        )
    try:
        here.existing()
    except NotFound:  # a worker may come first; a wrong address should be seen all the same
        here.note(f"There is no database at {wiring.address(here.settings)} yet: an empty one is made.")
    interrupted = False
    with here.memory() as memory:
        if retry:
            tried = memory.store.unpark()
            here.note(f"Tried again: {tried:,}." if tried else "Nothing is put aside.")
        if forever:
            steady_memory()
            outcomes, interrupted = _forever(here, memory)
        else:
            outcomes = _once(here, memory)
    here.answer({"jobs": [output.plain(outcome) for outcome in outcomes]}, lambda: _tell(outcomes))
    if interrupted:
        raise typer.Exit(INTERRUPTED)
    if any(outcome.problem for outcome in outcomes):
        raise typer.Exit(FAILED)


command(app, "recollect worker --forever", name="worker", hidden=True)(tend)


# What would be done


def _dry_run(here: Here) -> None:
    here.existing()
    planned: dict[str, list[Planned]] = {}
    with here.memory() as memory:
        waiting = waits(memory)
        for step in memory.tending(here.options.user):
            planned.setdefault(step.chore, []).append(step)
    every = [output.plain(step) for steps in planned.values() for step in steps]

    def tell() -> None:
        output.section("waiting", ("", ""), [(name, str(value)) for name, value in waiting.items()])
        for chore, steps in planned.items():
            rows = [(step.user, step.action, step.kind, step.id, step.why) for step in steps[:DRY_LINES]]
            output.section(chore, ("whose", "action", "kind", "id", "why"), rows)
            if len(steps) > DRY_LINES:
                here.note(f"{chore}: {len(steps) - DRY_LINES:,} more; --json shows all of them.")

    here.answer({"waiting": waiting, "planned": every}, tell)


def waits(memory: Memory) -> dict[str, Any]:
    """What the background would find to do in the whole database."""
    store = memory.store
    stats = state(store, memory.settings)
    rows = stats["rows"]
    return {
        "chunks_without_vector": rows["chunks_waiting_for_a_vector"],
        "text_index_outdated": not store.text_is_current(),
        "erasures_to_finish": store.needs_scrub(),
        "models_to_drop": rows["spaces_to_drop"],
        "conversations_to_mine": stats["waiting"]["mine"]["conversations"],
        "conversations_to_conclude": stats["waiting"]["conclude"]["conversations"],
        "put_aside": sum(parked(stats).values()),
    }


# Doing it


def _once(here: Here, memory: Memory) -> list[Outcome]:
    return memory.tend(lambda job, done: here.progress(f"Tending: {job}", done))


def _forever(here: Here, memory: Memory) -> tuple[list[Outcome], bool]:
    """Tend until the process is asked to end: what was done in all, job by job, and whether Ctrl-C ended it.
    Whatever goes wrong is told and tried again in the next round."""
    total: dict[str, Outcome] = {}
    if memory.embedder is not None:
        # A worker's settings say what its operator wants. Only once, when it starts: two workers with
        # different models would chase each other.
        memory.store.add_space(memory.embedder.space)
    rare_collections()
    with _ending(memory.stop) as ending:
        where, every = wiring.address(here.settings), memory.settings.tend_seconds
        here.note(f"Tending {where} every {every:g} s; Ctrl-C ends it.")
        pause = 0.0
        while not ending.wait(pause):
            pause = every
            try:
                done = _once(here, memory)
            except Exception as error:
                log.warning("This round failed, the next one follows: %s", str(error) or type(error).__name__)
                log.debug("It failed so:", exc_info=True)
                continue
            for new in done:
                old = total.get(new.job, Outcome(new.job, 0, 0.0))
                seconds = old.seconds + new.seconds
                total[new.job] = Outcome(new.job, old.done + new.done, seconds, new.problem)
                if new.done:
                    here.note(f"{new.job}: {new.done:,} done in {new.seconds:.1f} s")
            here.stop_progress()
    return list(total.values()), ending.interrupted


class _Ending(threading.Event):
    """Set once the process is asked to end."""

    interrupted = False


@contextmanager
def _ending(stop: Callable[[], None]) -> Generator[_Ending]:
    """The first signal lets the step be finished that is being done; a second one ends the process."""
    ending = _Ending()

    def end(number: int, _: object) -> None:
        ending.interrupted = number == signal.SIGINT
        for each, handler in before.items():
            signal.signal(each, handler)
        stop()
        ending.set()

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield ending
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _tell(outcomes: list[Outcome]) -> None:
    rows = [(o.job, f"{o.done:,}", f"{o.seconds:.2f} s", o.problem or "") for o in outcomes]
    output.table(("job", "done", "time", "problem"), rows)


def _answer(here: Here, what: str, chunks: int, started: float) -> None:
    seconds = perf_counter() - started
    here.answer(
        {"rebuilt": what, "chunks": chunks, "seconds": seconds},
        lambda: output.line(f"Rebuilt the {what} of {output.counted(chunks, 'chunk')} in {seconds:.1f} s."),
    )


@command(
    rebuild,
    "recollect rebuild vectors --model all-MiniLM-L6-v2",
    "recollect rebuild vectors --model all-MiniLM-L6-v2 --cancel",
    "recollect rebuild vectors",
)
def vectors(
    here: Here,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="The model to change to, as for --embedder.")
    ] = None,
    cancel: Annotated[
        bool, typer.Option("--cancel", help="Give up a change to that model that was begun.")
    ] = False,
) -> None:
    """Change to another model, or compute every vector anew.

    With another model than the memory is searched by, its vectors are computed while everything goes on
    as before, and then searched. Stopped half way, it goes on where it was when run again. With the model
    that is searched already, every vector is computed anew.
    """
    started = perf_counter()
    settings = here.settings_with(embedder=model or here.options.embedder)
    embedder = wiring.open_embedder(settings, here.fetching)
    if embedder is None:
        raise SettingsError(
            "No embedder is configured: set RECOLLECT_EMBEDDER or give --embedder; "
            "`recollect models list` names those that work here."
        )
    # Opened without an embedder: that another one is searched is no news here.
    with here.memory(here.settings_with(embedder="none")) as memory:
        if cancel:
            memory.store.drop_space(embedder.space)
            told = f"No vectors of {embedder.space.model} are computed any more."
            here.answer({"cancelled": embedder.space.model}, lambda: output.line(told))
            return
        progress = partial(here.progress, "Computing vectors")
        done = memory.rebuild_vectors(progress, embedder)
    _answer(here, "vectors", done, started)
    if settings.embedder != settings_module.load().embedder:
        here.note(_then_set(settings.embedder))


def _then_set(name: str) -> str:
    setting = "RECOLLECT_EMBEDDER to that address" if "@" in name else f"RECOLLECT_EMBEDDER={name}"
    return f"Now set {setting}, and restart what runs with another model: until then it recalls by words."


@command(rebuild, "recollect rebuild text")
def text(here: Here) -> None:
    """Build the index of words anew."""
    started, done = perf_counter(), 0
    with here.memory() as memory:
        for done in memory.rebuild_text():
            here.progress("Indexing words", done)
    _answer(here, "text", done, started)


@command(rebuild, "recollect rebuild milvus")
def milvus(here: Here) -> None:
    """Drop what Milvus has and copy it there anew. Until a user is copied, the database is searched."""
    _projection(here, "milvus")


@command(rebuild, "recollect rebuild neo4j")
def neo4j(here: Here) -> None:
    """Drop the graph that Neo4j has and copy it there anew. Until a user is copied, the database is asked."""
    _projection(here, "neo4j")


def _projection(here: Here, name: str) -> None:
    started = perf_counter()
    here.existing()
    with here.memory() as memory:
        progress = partial(here.progress, f"Copying to {name}")
        users = memory.rebuild_projection(name, lambda _, done: progress(done))
    seconds = perf_counter() - started
    here.answer(
        {"rebuilt": name, "users": users, "seconds": seconds},
        lambda: output.line(f"Copied {output.counted(users, 'user')} to {name} in {seconds:.1f} s."),
    )
