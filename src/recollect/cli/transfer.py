"""recollect export, import, copy."""

import os
import sys
import tempfile
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import IO, Annotated

import typer

from recollect import wiring
from recollect.cli import output, values
from recollect.cli.frame import Here, command
from recollect.errors import Invalid, NotFound
from recollect.importing import AUTO, SOURCES, Report, import_from
from recollect.importing.detecting import OWN, detect
from recollect.record.copy import Copied, check_has, copy_store
from recollect.record.transfer import Imported
from recollect.scoped import ScopedMemory

app = typer.Typer()


@command(
    app,
    "recollect export memory.jsonl",
    "recollect export | gzip > memory.jsonl.gz",
    "recollect export --user derek --json > memory.json",
)
def export(
    here: Here,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Where to; - is standard output.")
    ] = values.STDIN,
) -> None:
    """Write the whole memory of one user as JSON Lines, for `recollect import`.

    With --json and no file it is one JSON document instead, which import takes as well.
    """
    with here.stored() as mine:
        lines = mine.export()
        if file == values.STDIN:
            _write(here, sys.stdout, _as_document(lines) if here.options.json else lines)
            return
        with _atomic(Path(file)) as stream:
            count = _write(here, stream, lines)
    here.answer(
        {"file": file, "records": count},
        lambda: output.line(f"Exported {output.counted(count, 'record')} of {here.user} to {file}"),
    )


def _write(here: Here, stream: IO[str], lines: Iterable[str]) -> int:
    """Write the lines; how many there are without the header."""
    count = -1
    for count, line in enumerate(lines):
        stream.write(line + "\n")
        if stream is not sys.stdout and count % 1000 == 0:
            here.progress("Exporting", count)
    return count


def _as_document(lines: Iterable[str]) -> Iterator[str]:
    """The lines as one JSON array, still a line each."""
    before = "["
    for line in lines:
        yield before
        before = line + ","
    yield before.removesuffix(",")
    yield "]"


def _from_document(lines: Iterable[str]) -> Iterator[str]:
    """The lines of an export, be it JSON Lines or the array; places in the file stay the same."""
    for line in lines:
        text = line.strip().removesuffix(",")
        yield "" if text in ("[", "]") else text


@contextmanager
def _atomic(path: Path) -> Generator[IO[str]]:
    """A file that is there whole, readable by its owner only, or not at all."""
    if path.exists() and not path.is_file():  # a device or a named pipe
        with path.open("w", encoding="utf-8") as stream:
            yield stream
        return
    path = path.resolve()
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@command(
    app,
    "recollect import memory.jsonl",
    "zcat memory.jsonl.gz | recollect import - --user derek",
    "recollect import --from chatgpt export.zip --dry-run",
    "recollect import --from markdown notes/ --json | jq .skipped",
    name="import",
)
def import_(
    here: Here,
    file: Annotated[
        str, typer.Argument(metavar="PATH", help="A file, a zip or a folder; - is an export of ours.")
    ],
    source: Annotated[
        str,
        typer.Option(
            "--from",
            parser=values.one_of((OWN, *SOURCES, AUTO)),
            metavar="SOURCE",
            help=f"What wrote it: {', '.join((OWN, *SOURCES))}; without it, that is told by the file.",
        ),
    ] = AUTO,
    of: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose memories, where the file has several users'.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only tell what would be imported, and what not and why.")
    ] = False,
) -> None:
    """Take in what `recollect export` wrote, or what other programs keep. Doing it twice changes nothing.

    Stopped half way, it goes on when run again. What is left out is told, with the reason.
    """
    if file != values.STDIN and not Path(file).exists():
        raise NotFound(f"There is no file {file}.")
    if source == AUTO and _told_by(file) == OWN:
        source = OWN
    if source != OWN:
        if file == values.STDIN:
            raise typer.BadParameter(f"an import from {source} needs a file, not -.", param_hint="PATH")
        _import_from(here, source, Path(file), of, dry_run)
        return
    if dry_run or of is not None:
        raise typer.BadParameter("an export of Recollect's own is imported as a whole.", param_hint="--from")
    with here.mine() as mine:
        taken = mine.import_(
            _from_document(values.lines(file)), lambda done: here.progress("Importing", done)
        )
    here.answer(
        {"imported": dict(taken.counts), "total": taken.total, "unchanged": taken.unchanged},
        lambda: _tell(here, taken),
    )


def _told_by(file: str) -> str:
    """The source, by what is in the file."""
    if file == values.STDIN or not (Path(file).is_file() or Path(file).is_dir()):
        return OWN
    if (found := detect(Path(file))) is None:
        names = ", ".join((OWN, *SOURCES))
        raise Invalid(f"{file} is nothing that is known here: say with --from which of {names} wrote it.")
    return found


def _import_from(here: Here, source: str, path: Path, of: str | None, dry_run: bool) -> None:
    with _looking(here) if dry_run else here.mine() as mine:
        report = import_from(
            mine, source, path, progress=lambda done: here.progress("Importing", done), dry_run=dry_run, of=of
        )
    here.answer({**asdict(report), "total": report.total}, lambda: _tell_from(here, report))


@contextmanager
def _looking(here: Here) -> Generator[ScopedMemory]:
    """The user's memory, for a look only: where there is none yet an empty one, which is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        settings = here.settings_with(embedder="none")
        if not wiring.is_server(settings) and not Path(wiring.address(settings)).exists():
            settings = here.settings_with(embedder="none", db=str(Path(folder, "memory.db")))
        with here.memory(settings) as memory:
            yield here.scope(memory)


def _tell(here: Here, taken: Imported) -> None:
    kinds = output.summed(taken.counts)
    records = output.counted(taken.total, "record")
    output.line(f"Imported {records} for {here.user}{f' ({kinds})' if kinds else ''}.")
    _tell_unchanged(taken.unchanged)


def _tell_unchanged(count: int) -> None:
    if count:
        output.line(f"{count:,} {'was' if count == 1 else 'were'} there already.")


def _tell_from(here: Here, report: Report) -> None:
    kinds = output.summed(report.imported) or "nothing"
    did = "Would import" if report.dry_run else "Imported"
    output.line(f"{did} {kinds} from {report.source} for {here.user}.")
    if report.corrected:
        output.line(f"Corrected {output.counted(report.corrected, 'memory')} that had changed there.")
    _tell_unchanged(report.unchanged)
    if report.skipped:
        output.line(f"Left out {sum(one.count for one in report.skipped):,}:")
    for one in report.skipped:
        more = ", …" if one.count > len(one.first) else ""
        output.line(f"  {one.count:,}: {one.reason} ({'; '.join(one.first)}{more})")


@command(
    app,
    "recollect copy memory.db backup.db",
    "recollect copy memory.db hers.db --user anna",
    "recollect copy memory.db postgresql://me@server/memory",
    "recollect copy memory.db encrypted.db --to-key-file new.key",
    "RECOLLECT_KEY_FILE=old.key recollect copy encrypted.db readable.db --to-plain",
    "recollect copy memory.db backup.db --json | jq .verified",
)
def copy(
    here: Here,
    source: Annotated[str, typer.Argument(metavar="FROM", help="The database to copy; it may be in use.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="The database to copy to; made when missing.")],
    to_key_file: Annotated[
        str | None, typer.Option(metavar="FILE", help="The key of TO, if it is not that of FROM.")
    ] = None,
    to_plain: Annotated[
        bool, typer.Option("--to-plain", help="TO is not encrypted, though FROM is.")
    ] = False,
) -> None:
    """Copy everything of every user, or of one with --user, to another database, and verify it.

    What is written or forgotten meanwhile is copied as well. Stopped half way, it goes on when run again;
    run again later, it brings the copy up to date. A target that holds something else of a user is refused.
    """
    if to_plain and to_key_file:
        raise typer.BadParameter("give only one of --to-key-file and --to-plain.", param_hint="--to-plain")
    key: dict[str, str | None] = {"key": "", "key_file": ""} if to_plain else {"key_file": to_key_file}
    settings = here.settings_with(db=source), here.settings_with(db=target, **key)
    here.existing(settings[0])
    source, target = map(wiring.address, settings)
    if source == target or Path(source).resolve() == Path(target).resolve():
        raise Invalid("A database cannot be copied to itself: give another one to copy to.")
    with closing(wiring.open_store(settings[0])) as old:
        if here.options.user is not None:
            check_has(old, here.options.user)  # before a target is made
        wiring.make_missing(settings[1])
        with closing(wiring.open_store(settings[1])) as new:
            progress = partial(here.progress, "Copying")
            copied = copy_store(old, new, here.options.user, progress)
    here.answer(
        {
            "from": source,
            "to": target,
            "verified": True,  # or it had failed
            "records": copied.records,
            "new": copied.new,
            "vectors_of": None if copied.space is None else copied.space.model,
            "users": copied.users,
            "only_in_target": copied.others,
        },
        lambda: _tell_copied(copied, target),
    )


def _tell_copied(copied: Copied, target: str) -> None:
    records, users = output.counted(copied.new, "record"), output.counted(len(copied.users), "user")
    before = copied.records - copied.new
    there = f"; {before:,} {'was' if before == 1 else 'were'} there already" if before else ""
    output.line(f"Copied {records} of {users} to {target}{there}.")
    output.line("Verified: every kind has the same count and the same content hash on both sides.")
    if later := sum(user.later for user in copied.users):
        output.line(f"{output.counted(later, 'change')} came after that; each was copied and read back.")
    if copied.space is None:
        output.line("Vectors were not copied: `recollect tend` computes the target's own.")
    if copied.others:
        names = ", ".join(copied.others[:5])
        output.line(f"Only the target has {output.counted(len(copied.others), 'user')}: {names}.")
