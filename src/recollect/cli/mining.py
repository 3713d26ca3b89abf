"""recollect mine, unmine, review, entity."""

from typing import Annotated

import typer

from recollect.cli import output
from recollect.cli.failing import FAILED
from recollect.cli.frame import Here, command, new_app
from recollect.cli.values import one_of
from recollect.model.mined import Contradiction
from recollect.model.records import Entity, MemoryRecord
from recollect.model.shapes import to_json
from recollect.tend.review import KEEP

app = typer.Typer()
entity = new_app(
    "entity",
    "People, places and things that memories are about.",
    'recollect entity merge "Annie" "Anna Keller"',
    'recollect entity split "Anna" "Anna Schmidt"',
)

_COUNTS = ("turns", "added", "reinforced", "superseded")


@command(app, "recollect mine", "recollect mine march-15", "recollect mine --json")
def mine(
    here: Here,
    which: Annotated[
        str | None, typer.Argument(metavar="CONVERSATION", help="Only this one. Default: all that wait.")
    ] = None,
) -> None:
    """Work out what is worth knowing of what was said: facts, preferences, relations, procedures.

    The background does this by itself. Doing it twice changes nothing.
    """
    with here.stored() as stored:
        wanted = which or here.options.conversation
        done = stored.mine(wanted, progress=lambda turns: here.progress("Mining", turns))

    def tell() -> None:
        if not any(m.turns or m.problem for m in done):
            here.note("There is nothing new to mine.")
            return
        counted = ([f"{getattr(m, name):,}" for name in _COUNTS] for m in done)
        rows = [(m.conversation, *row, m.problem or m.way) for m, row in zip(done, counted, strict=True)]
        output.table(("conversation", *_COUNTS, "by"), rows)

    here.answer({"mined": [output.plain(m) for m in done]}, tell)
    if any(m.problem for m in done):
        raise typer.Exit(FAILED)


@command(app, "recollect unmine march-15", "recollect mine march-15")
def unmine(
    here: Here,
    which: Annotated[str, typer.Argument(metavar="CONVERSATION", help="Whose knowledge is undone.")],
) -> None:
    """Undo what was mined from a conversation; its turns stay, and it is mined again on demand only.

    What other conversations say too keeps those sources, and what was corrected here holds again.
    """
    with here.stored() as stored:
        gone = stored.unmine(which)
    rows = [(kind, f"{count:,}") for kind, count in gone.counts.items()]
    here.answer({"unmined": dict(gone.counts)}, lambda: output.table(("undone", ""), rows))


Name = Annotated[str, typer.Argument(metavar="NAME", help="A name, an alias or an id.")]


@command(entity, 'recollect entity merge "Annie" "Anna Keller"')
def merge(
    here: Here,
    name: Name,
    into: Annotated[str, typer.Argument(metavar="INTO", help="Who it really is.")],
) -> None:
    """Take two entities for one, with all that is known of both."""
    with here.stored() as stored:
        _tell(here, stored.merge(name, into))


@command(entity, 'recollect entity split "Anna" "Anna Schmidt"')
def split(
    here: Here,
    name: Name,
    alias: Annotated[str, typer.Argument(metavar="ALIAS", help="The name that is somebody else's.")],
) -> None:
    """Make an alias of an entity an entity of its own; mining takes the two for two from then on."""
    with here.stored() as stored:
        _tell(here, stored.split(name, alias))


def _tell(here: Here, one: Entity) -> None:
    row = (one.name, one.type, ", ".join(one.aliases), one.id)
    here.answer(to_json(one), lambda: output.table(("name", "type", "aliases", "id"), [row]))


@command(app, "recollect review", "recollect review 0195a3c2-… --keep new", "recollect review --json")
def review(
    here: Here,
    id: Annotated[str | None, typer.Argument(metavar="ID", help="The newer memory of the two.")] = None,
    keep: Annotated[
        str | None,
        typer.Option(parser=one_of(KEEP), metavar="WHICH", help=f"{', '.join(KEEP)}: what holds of the two."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 50,
) -> None:
    """List memories that contradict each other, or say which one holds.

    They are kept beside each other where RECOLLECT_CONTRADICTIONS is flag_review. Of an ID, the new one then
    corrects the old one, or is forgotten, or both hold.
    """
    if (id is None) != (keep is None):
        raise typer.BadParameter("say which memory and what to keep: recollect review ID --keep new")
    with here.stored() as stored:
        if id is not None and keep is not None:
            stored.settle(id, keep)
            kept = "Both hold." if keep == "both" else f"The {keep} one holds."
            here.answer({"settled": id, "keep": keep}, lambda: output.line(kept))
            return
        found = stored.contradictions(limit=limit)

    def tell() -> None:
        output.cards(((pair.id, side), m.content) for pair in found for side, m in _sides(pair))
        if not found:
            here.note("Nothing contradicts anything.")

    pairs = [{side: to_json(memory) for side, memory in _sides(pair)} for pair in found]
    here.answer({"contradictions": pairs}, tell)


def _sides(pair: Contradiction) -> tuple[tuple[str, MemoryRecord], ...]:
    return ("new", pair.new), ("old", pair.old)
