"""Writes what an importer finds, in batches that each are there whole or not at all. Run again, after it was
killed or with a newer export, it goes on: what is there already is known again and left alone."""

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from pathlib import Path

from recollect.errors import Conflict, Invalid, NotFound
from recollect.importing import chatgpt, claude, markdown, mem0, mempalace, messages
from recollect.importing.detecting import OWN, detect, others
from recollect.importing.items import IMPORTED, TOO_LONG, UNFIT, Item, Items, Known, Left, Said, as_object
from recollect.importing.report import Report, Tally
from recollect.importing.shelf import Shelf
from recollect.limits import check_flag, check_progress, check_text
from recollect.model.records import Turn
from recollect.model.scope import GLOBAL
from recollect.record.turns import Message, check_message, digest
from recollect.scoped import ScopedMemory, workspace_of
from recollect.workspace import Workspace

AUTO = "auto"
READERS: dict[str, Callable[[Path], Items]] = {
    mem0.SOURCE: mem0.read,
    mempalace.SOURCE: mempalace.read,
    chatgpt.SOURCE: chatgpt.read,
    claude.SOURCE: claude.read,
    messages.SOURCE: messages.read,
    markdown.SOURCE: markdown.read,
}
SOURCES = tuple(READERS)
BATCH_CHARACTERS = 4 * 1024 * 1024
"""About how much text is written in one transaction at most."""

TAKEN = "its conversation has other words there: it was changed since it was imported, or is another one"

ELSEWHERE = "its conversation is in another channel, and can be in one only"


def import_from(
    memory: ScopedMemory,
    source: str,
    path: str | Path,
    *,
    progress: Callable[[int], None] | None = None,
    dry_run: bool = False,
    of: str | None = None,
) -> Report:
    """Take in what another program kept: `source` is one of `SOURCES`, or `auto` to tell by the file.

    Importing the same again changes nothing; importing a newer export adds what is new. `of` says whose
    memories are wanted where a file has several users'; without it they are those of the first."""
    path = Path(path)
    check_progress(progress)
    check_flag("dry_run", dry_run)
    check_text("of", of)
    told, source = source, _source(source, path)
    if source == messages.SOURCE:
        items = messages.read(path, memory.scope.conversation)
    else:
        items = READERS[source](path)
    tally = Tally()
    shelf = Shelf(memory, source, tally, dry_run, of)
    for batch in _batches(items, workspace_of(memory).settings.batch_limit):
        for item in batch:
            if isinstance(item, Left):
                tally.left(item)
        _record(memory, [item for item in batch if isinstance(item, Said)], tally, dry_run)
        shelf.keep([item for item in batch if isinstance(item, Known)])
        if progress:
            progress(tally.done)
    if not tally.taken:
        _check_right(source, path, tally, shelf)
    for name, found in others(path, source) if told == AUTO else ():
        tally.left(Left(name, f"it is of {found}: import it by itself"))
    return tally.report(source, dry_run)


def _check_right(source: str, path: Path, tally: Tally, shelf: Shelf) -> None:
    """`Invalid` or `NotFound` where nothing was taken because something else was asked for."""
    if (found := detect(path)) not in (None, source):
        raise Invalid(f"{path} is of {found}, not of {source}: import it with --from {found}.")
    if missing := shelf.missing():
        raise NotFound(f"Nothing in {path} is {missing}.")
    if not tally.done:
        raise Invalid(f"There is nothing of {source} in {path}: is it the right file, and the right source?")


def _source(source: str, path: Path) -> str:
    if source == AUTO:
        found = detect(path)
        if found is None:
            raise Invalid(
                f"{path} could be anything: say with --from which of {', '.join(SOURCES)} it is of."
            )
        if found == OWN:
            raise Invalid(f"{path} is an export of Recollect's own: use `import_`, or `recollect import`.")
        return found
    if source not in READERS:
        raise Invalid(f"There is no source {source!r}; there are {', '.join(SOURCES)} and {AUTO}.")
    return source


def _batches(items: Items, most: int) -> Iterator[list[Item]]:
    batch: list[Item] = []
    size = 0
    for item in items:
        batch.append(item)
        size += len(item.message.content) if isinstance(item, Said) else 0
        size += len(item.content) if isinstance(item, Known) else 0
        if len(batch) >= most or size >= BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _record(memory: ScopedMemory, items: list[Said], tally: Tally, dry_run: bool) -> None:
    """Record what was said and is not there yet."""
    work = workspace_of(memory)
    known = _known(work, items)
    new: list[Said] = []
    for given in items:
        item = _fitting(work, given)
        if isinstance(item, Left):
            tally.left(item)
            continue
        place, says = _place(item.message), _says(item.message)
        if place not in known:
            new.append(item)
        elif known[place] == says:
            tally.unchanged += 1
        else:
            tally.left(Left(item.where, TAKEN if known[place] else ELSEWHERE))
        known.setdefault(place, says)
    if dry_run:
        tally.imported["turn"] += len(new)
    else:
        _write(memory, new, tally)


def _write(memory: ScopedMemory, items: list[Said], tally: Tally) -> None:
    """Record them together; where one cannot be, the others all the same."""
    if not items:
        return
    try:
        new = _recorded(memory, [item.message for item in items])
    except (Invalid, Conflict) as error:
        if len(items) == 1:
            tally.left(Left(items[0].where, TAKEN if isinstance(error, Conflict) else UNFIT))
            return
        half = len(items) // 2
        _write(memory, items[:half], tally)
        _write(memory, items[half:], tally)
    else:
        tally.imported["turn"] += new
        tally.unchanged += len(items) - new


def _recorded(memory: ScopedMemory, messages: list[Message]) -> int:
    """Record them; how many are ours, and not of somebody who imports the same at this moment."""
    work, ours = workspace_of(memory), set[str]()

    def new_ids(count: int) -> list[str]:
        ids = work.new_ids(count)
        ours.update(ids)
        return ids

    seen = copy(memory)
    seen._work = replace(work, new_ids=new_ids)  # pyright: ignore[reportPrivateUsage]
    return sum(turn.id in ours for turn in seen.record_many(messages))


def _fitting(work: Workspace, item: Said) -> Said | Left:
    """The item, without its title and most of its metadata if it is these that are too much."""
    message = item.message
    told = {IMPORTED: {"from": as_object(message.metadata.get(IMPORTED)).get("from")}}
    if len(message.content) > work.settings.content_limit:
        return Left(item.where, TOO_LONG)
    for one in (message, replace(message, title=None, model=None, metadata=told)):
        try:
            check_message(one, work.settings)
        except Invalid:
            continue
        return replace(item, message=one)
    return Left(item.where, UNFIT)


def _place(message: Message) -> tuple[str, int]:
    return message.conversation or "", message.index or 0


def _says(message: Message) -> tuple[str, str]:
    return digest(message.content), str(message.role)


def _known(work: Workspace, items: list[Said]) -> dict[tuple[str, int], tuple[str, str] | None]:
    """What is recorded already in the places where these go; None for what is not read in this channel."""
    read = (GLOBAL, work.scope.channel)
    places: dict[str, list[int]] = {}
    for conversation, index in (_place(item.message) for item in items):
        places.setdefault(conversation, []).append(index)
    return {
        (conversation, turn.index): (turn.digest, str(turn.role)) if turn.channel in read else None
        for conversation, indexes in places.items()
        for turn in work.store.find(Turn, {"conversation": conversation, "index": indexes})
    }
