"""recollect demo --load and --remove: a year of somebody's life to look at, and how to be rid of it again."""

import shlex
from collections.abc import Sequence
from datetime import timedelta
from time import perf_counter
from typing import Any

from recollect import wiring
from recollect.cli import models, output
from recollect.cli.frame import Here
from recollect.demo import Loaded, Then, load, remove
from recollect.memory import Memory
from recollect.ports.clock import SystemClock

USER = "demo"
"""Whose memory it is, unless somebody says."""
LONG_AGO = timedelta(days=300)
QUESTION = "Where do I live?"
MADE = ("fact", "entity", "relation", "episode", "procedure")
TASK = "deploy a site to production"


def load_year(here: Here) -> None:
    """Load the demo, and tell what there is, what to ask, how to look at it and how to remove it."""
    user, started = here.options.user or USER, perf_counter()
    settings = here.settings_with(**models.without_weights(here))
    clock = Then(SystemClock().now())
    embedder = wiring.open_embedder(settings, here.fetching)
    rules: dict[str, Any] = {"miner": "rules", "contradictions": "prefer_new", "model": ""}
    with Memory.open(settings.db, embedder=embedder or "none", clock=clock, **rules) as memory:
        done = load(memory, clock, user, lambda done, total: here.progress("Conversations", done, total))
        asked = _asked(memory, clock, user)
    data: dict[str, Any] = {
        "user": user,
        "db": wiring.address(settings),
        "loaded": not done.before,
        "conversations": done.conversations,
        "counts": done.counts,
        "ask": [{"command": _command(here, *words), "answer": answer} for words, answer in asked],
        "look": _command(here, "serve"),
        "remove": _command(here, "demo", "--remove"),
        "seconds": round(perf_counter() - started, 2),
    }
    here.answer(data, lambda: _tell(data, done))


def remove_year(here: Here) -> None:
    """Forget the demo."""
    user, settings = here.options.user or USER, here.settings_with(**models.without_weights(here))
    here.existing(settings)
    with here.memory(settings) as memory:
        gone = remove(memory.scope(user))
    here.answer(
        {"user": user, "erased": gone},
        lambda: output.line(
            f"The demo is gone, and {user!r} with it: {output.counted(gone, 'record')} erased."
        ),
    )


def _asked(memory: Memory, clock: Then, user: str) -> list[tuple[tuple[str, ...], str]]:
    """What to ask, as arguments of a command, with what comes first of the answer."""
    mine, work = memory.scope(user), memory.scope(user, "work")
    then = clock.now() - LONG_AGO
    facts = ("recall", QUESTION, "--kind", "fact")
    return [
        (facts, _first(mine.recall(QUESTION, kinds=["fact"]).hits)),
        (
            (*facts, "--as-of", f"{then:%Y-%m-%d}"),
            _first(mine.recall(QUESTION, kinds=["fact"], as_of=then).hits),
        ),
        (("procedures", TASK, "--channel", "work"), _first(work.procedures(TASK))),
    ]


def _first(found: Sequence[Any]) -> str:
    return found[0].content if found else "nothing"


def _command(here: Here, *words: str) -> str:
    """A command that reads the demo, as it is typed."""
    where = () if here.options.db is None else ("--db", here.options.db)
    return shlex.join(("recollect", *words, "--user", here.options.user or USER, *where))


def _tell(data: dict[str, Any], done: Loaded) -> None:
    said = output.counted(data["counts"]["turn"], "turn")
    if done.before:
        output.line(f"The demo is there already, for {data['user']!r}: {said}. Nothing was changed.")
    else:
        output.line(
            f"A year of Mara's life, for {data['user']!r}: {done.conversations} conversations, {said}, "
            f"in {data['seconds']:.0f} s."
        )
        made = ", ".join(output.counted(data["counts"][kind], kind) for kind in MADE)
        output.line(f"What it made of them: {made}.")
    output.line("\nAsk it:")
    for one in data["ask"]:
        output.line(f"  {one['command']}\n    {one['answer']}")
    output.line(f"\nLook at it:  {data['look']}   then open the address it prints")
    output.line(f"Remove it:   {data['remove']}")
