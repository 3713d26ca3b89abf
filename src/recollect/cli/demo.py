"""recollect demo: what was said in one process is known in another, corrected, and gone when asked."""

import json
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from recollect import wiring
from recollect.cli import models, output
from recollect.cli.frame import Here, command
from recollect.errors import RecollectError
from recollect.scoped import ScopedMemory
from recollect.settings import Settings
from recollect.wiring import database_file

app = typer.Typer()

MARCH_15 = datetime(2025, 3, 15, 18, 30, tzinfo=UTC)
MARCH_20 = datetime(2025, 3, 20, tzinfo=UTC)
APRIL_2 = datetime(2025, 4, 2, tzinfo=UTC)
QUESTION = "What's my budget for the trip?"
FACT, CORRECTED = "The budget for the Hawaii trip is $10,000", "The budget for the Hawaii trip is $12,500"
CHILD_SECONDS = 60


class Story:
    """The steps so far, each told as it happens, with what came of it and how long it took."""

    def __init__(self, here: Here) -> None:
        self._here = here
        self.steps: list[dict[str, Any]] = []

    @contextmanager
    def step(self, title: str) -> Generator[list[str]]:
        """Time the body, which adds the lines of its result."""
        started = perf_counter()
        results: list[str] = []
        yield results
        ms = (perf_counter() - started) * 1000
        self.steps.append({"step": title, "result": results, "ms": round(ms, 1)})
        if not self._here.options.json:
            lines = "".join(f"\n   {line}" for line in results)
            output.line(f"{len(self.steps)}. {title}  ({ms:,.0f} ms){lines}\n")
            sys.stdout.flush()


@dataclass(frozen=True, slots=True)
class Stage:
    """Where the story plays."""

    settings: Settings
    user: str
    code: str
    """A word that is nowhere else in the database."""
    own: bool
    """Whether nobody else's memory is in that database."""

    def traces(self) -> int:
        """How often something that was said can be found in the bytes of the files."""
        words = [self.code, "Hawaii", "10,000", "12,500"] if self.own else [self.code]
        path = database_file(self.settings)
        files = [path.with_name(path.name + end) for end in ("", "-wal", "-shm", "-journal")]
        data = [file.read_bytes().lower() for file in files if file.exists()]
        return sum(content.count(word.lower().encode()) for content in data for word in words)


@command(
    app,
    "recollect demo",
    "recollect demo --db ./demo.db --json",
    "recollect demo --load",
    "recollect demo --load --user mara --db ./mara.db",
    "recollect demo --remove",
)
def demo(
    here: Here,
    load: Annotated[
        bool,
        typer.Option(
            "--load", help="Load a year of somebody's life to look at, for the user 'demo' or --user."
        ),
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Remove what --load has loaded.")] = False,
) -> None:
    """Play the two-session story: said in March, asked for in another process, corrected, forgotten.

    It runs in a temporary database; with --db in that one, as a user of its own that is erased at the end.
    With --load it fills your database with a year in forty conversations instead, and leaves it there.
    """
    if load and remove:
        raise typer.BadParameter("either --load or --remove.")
    if load or remove:
        from recollect.cli.demo_year import load_year, remove_year

        (load_year if load else remove_year)(here)
    else:
        _play(here)


def _play(here: Here) -> None:
    story, started = Story(here), perf_counter()
    with _stage(here) as stage:
        with here.memory(stage.settings) as memory:
            mine = memory.scope(stage.user, conversation="march-15")
            try:
                _first_session(story, stage, mine)
                _second_session(story, stage)
                _correction(story, mine)
                _forgetting(story, stage, mine)
            finally:
                mine.forget(everything=True)
        data = {"ok": True, "db": wiring.address(stage.settings), "embedder": stage.settings.embedder}
    data |= {"steps": story.steps, "seconds": round(perf_counter() - started, 2)}
    here.answer(data, lambda: output.line(f"Done in {data['seconds']:.1f} s."))


@contextmanager
def _stage(here: Here) -> Generator[Stage]:
    changes = models.without_weights(here)
    user, code = f"demo-{secrets.token_hex(4)}", secrets.token_hex(6)
    if here.options.db is not None:
        yield Stage(here.settings_with(**changes), user, code, own=False)
        return
    with tempfile.TemporaryDirectory(prefix="recollect-demo-") as folder:
        settings = here.settings_with(**changes, db=str(Path(folder) / "recollect.db"))
        yield Stage(settings, user, code, own=True)


def _first_session(story: Story, stage: Stage, mine: ScopedMemory) -> None:
    said = [
        ("user", "My budget for the Hawaii trip is $10,000"),
        ("assistant", "Noted. That covers flights and a week in Maui for two."),
        ("user", "We like snorkelling, and Ana is allergic to peanuts"),
        ("user", f"The booking code is {stage.code}"),
    ]
    with story.step(f"March 15, process {os.getpid()}: a conversation is recorded") as results:
        for role, content in said:
            mine.record(role, content, at=MARCH_15)
            results.append(f"{role}: {content}")


def _second_session(story: Story, stage: Stage) -> None:
    settings = stage.settings
    arguments = ["recall", QUESTION, "--db", settings.db, "--user", stage.user]
    command = [sys.executable, "-m", "recollect", *arguments, "--embedder", settings.embedder, "--json"]
    with story.step("Days later, another process asks") as results:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        try:
            printed, problem = child.communicate(timeout=CHILD_SECONDS)
        except BaseException:
            child.kill()
            child.communicate()
            raise
        if child.returncode != 0:
            raise RecollectError(f"The second process failed: {problem.strip()}")
        found = json.loads(printed)
        answer = found["hits"][0]["content"] if found["hits"] else "nothing"
        results += [f"process {child.pid}: {QUESTION}", f"found: {answer}"]
        results.append(f"the recall itself took {sum(found['timings_ms'].values()):.0f} ms of it")
    _expect("$10,000", answer)


def _correction(story: Story, mine: ScopedMemory) -> None:
    with story.step("The budget is remembered as a fact, and corrected on April 2") as results:
        fact = mine.remember(FACT, valid_from=MARCH_15)
        mine.correct(fact.id, CORRECTED, since=APRIL_2)
        now = mine.recall(QUESTION, kinds=["fact"])
        then = mine.recall(QUESTION, kinds=["fact"], as_of=MARCH_20)
        answers = [found.hits[0].content if found else "nothing" for found in (now, then)]
        results += [f"now: {answers[0]}", f"as of March 20: {answers[1]}"]
    _expect("$12,500", answers[0])
    _expect("$10,000", answers[1])


def _forgetting(story: Story, stage: Stage, mine: ScopedMemory) -> None:
    ours = not wiring.is_server(stage.settings)  # a server's files are not ours to read
    before = stage.traces() if ours else 0
    with story.step("Everything is forgotten") as results:
        gone = mine.forget(everything=True)
        found = mine.recall(QUESTION)
        results += [f"{output.counted(gone.total, 'record')} erased", f"recall finds {_counted(found.hits)}"]
    if found:
        raise RecollectError("Something that was forgotten is found: run `recollect doctor`.")
    if not ours:
        return
    with story.step("The files are searched byte by byte for what was said") as results:
        left = stage.traces()
        results.append(f"traces before: {before}, now: {left}")
    if left:
        raise RecollectError(
            f"{left} traces are left. Another process may be reading the database: run `recollect tend`."
        )


def _counted(hits: Sequence[Any]) -> str:
    return output.counted(len(hits), "memory") if hits else "nothing"


def _expect(wanted: str, answer: str) -> None:
    if wanted not in answer:
        raise RecollectError(f"{wanted} was expected and {answer!r} came back: run `recollect doctor`.")
