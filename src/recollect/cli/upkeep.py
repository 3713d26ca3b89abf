"""recollect tend, rebuild."""

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from typing import Annotated, Any

import typer

from recollect import settings as settings_module
from recollect import wiring
from recollect.cli import output
from recollect.cli.failing import FAILED
from recollect.cli.frame import Here, command, new_app
from recollect.errors import SettingsError
from recollect.memory import Memory
from recollect.tend.tender import Outcome

app = typer.Typer()
rebuild = new_app(
    "rebuild",
    "Build an index anew from what is stored.",
    "recollect rebuild vectors",
    "recollect rebuild text",
)


@command(app, "recollect tend", "recollect tend --dry-run", "recollect tend --forever")
def tend(
    here: Here,
    once: Annotated[bool, typer.Option("--once", help="Do what waits, then end. The default.")] = False,
    forever: Annotated[bool, typer.Option("--forever", help="Go on until ended, as a worker does.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what waits.")] = False,
) -> None:
    """Do the background's work: missing vectors, mining, an outdated text index, erasures to finish.

    A change to the configured model that was begun is carried on and, once every vector is there, made.
    With --forever it is also begun.
    """
    if once + forever + dry_run > 1:
        raise typer.BadParameter("give only one of --once, --forever and --dry-run.", param_hint="--once")
    if dry_run:
        here.existing()
    with here.memory() as memory:
        if dry_run:
            waiting = waits(memory)
            rows = [(name, str(value)) for name, value in waiting.items()]
            here.answer({"waiting": waiting}, lambda: output.table(("waiting", ""), rows))
            return
        outcomes = _forever(here, memory) if forever else _once(here, memory)
    here.answer({"jobs": [output.plain(outcome) for outcome in outcomes]}, lambda: _tell(outcomes))
    if any(outcome.problem for outcome in outcomes):
        raise typer.Exit(FAILED)


command(app, "recollect worker --forever", name="worker", hidden=True)(tend)


def waits(memory: Memory) -> dict[str, Any]:
    """What the background would find to do."""
    store = memory.store
    stats = store.stats()
    rows = stats["rows"]
    return {
        "chunks_without_vector": rows["chunks_waiting_for_a_vector"],
        "text_index_outdated": not store.text_is_current(),
        "erasures_to_finish": store.needs_scrub(),
        "models_to_drop": rows["spaces_to_drop"],
        "conversations_to_mine": stats["mining"]["waiting"],
    }


def _once(here: Here, memory: Memory) -> list[Outcome]:
    return memory.tend(lambda job, done: here.progress(f"Tending: {job}", done))


def _forever(here: Here, memory: Memory) -> list[Outcome]:
    """Tend until the process is asked to end; what was done in all, job by job."""
    total: dict[str, Outcome] = {}
    if memory.embedder is not None:
        # A worker's settings say what its operator wants. Only once, when it starts: two workers with
        # different models would chase each other.
        memory.store.add_space(memory.embedder.space)
    with _termination() as ending:
        where, every = wiring.address(here.settings), memory.settings.tend_seconds
        here.note(f"Tending {where} every {every:g} s; Ctrl-C ends it.")
        while True:
            for new in _once(here, memory):
                old = total.get(new.job, Outcome(new.job, 0, 0.0))
                seconds = old.seconds + new.seconds
                total[new.job] = Outcome(new.job, old.done + new.done, seconds, new.problem)
                if new.done:
                    here.note(f"{new.job}: {new.done:,} done in {new.seconds:.1f} s")
            here.stop_progress()
            if ending.wait(memory.settings.tend_seconds):
                return list(total.values())


@contextmanager
def _termination() -> Generator[threading.Event]:
    """Set once the process is asked to end; Ctrl-C interrupts as ever."""
    ending = threading.Event()
    before = signal.signal(signal.SIGTERM, lambda _signal, _frame: ending.set())
    try:
        yield ending
    finally:
        signal.signal(signal.SIGTERM, before)


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
