"""recollect recall, list, conversations, show, timeline, graph, stats."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

import typer

from recollect.cli import output, values
from recollect.cli.frame import Here, command
from recollect.model.recollection import Hit, Recollection
from recollect.model.records import (
    BY_KIND,
    MEMORY_KINDS,
    SEARCHABLE,
    Conversation,
    Entity,
    Record,
    Relation,
    Turn,
)
from recollect.model.shapes import shapes, to_json
from recollect.recall.neighbours import HOPS, LIMIT, MOST
from recollect.recall.techniques import TECHNIQUES
from recollect.scoped import ScopedMemory

app = typer.Typer()

LISTED = tuple(kind for kind in BY_KIND if kind != "tombstone")
INTERNAL = ("mined_to", "next_index", "digest")
"""Fields that mean something to the library only; with --json they are there."""

_ARTICLE = {
    "greeting": "a greeting",
    "tool": "a request to a tool",
    "general knowledge": "general knowledge",
}

Since = Annotated[datetime | None, values.time_option("Only from this time on.")]
Until = Annotated[datetime | None, values.time_option("Only before this time.")]


def _technique(help: str) -> Any:
    return typer.Option(parser=values.one_of(tuple(TECHNIQUES)), metavar="TECHNIQUE", help=help)


@command(
    app,
    """recollect recall "What's my budget for the trip?" """.strip(),
    'recollect recall "budget" --as-of 2025-03-20 --kind fact',
    'recollect recall "Hawaii" --json | jq -r .context',
    'recollect recall "Hawaii" --explain --without gate --using recency',
)
def recall(
    here: Here,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The question, or - to read standard input.")],
    top_k: Annotated[
        int | None, typer.Option("--top-k", "-k", min=1, max=1000, help="How many memories at most.")
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            parser=values.one_of(SEARCHABLE), metavar="KIND", help=f"{', '.join(SEARCHABLE)}. Repeatable."
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(min=-1, max=1, help="The least similarity of what is found by meaning alone."),
    ] = None,
    since: Since = None,
    until: Until = None,
    as_of: Annotated[datetime | None, values.time_option("What was true then.")] = None,
    known_at: Annotated[datetime | None, values.time_option("What was known then.")] = None,
    context: Annotated[bool, typer.Option("--context", help="Print the block for a model instead.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say why each memory is here, and what was left out.")
    ] = False,
    using: Annotated[list[str] | None, _technique("Switch a technique on, e.g. recency. Repeatable.")] = None,
    without: Annotated[list[str] | None, _technique("Switch a technique off, e.g. gate. Repeatable.")] = None,
) -> None:
    """Find the memories that bear on a question; --conversation and --agent narrow it."""
    text = values.content(query)
    with here.stored() as mine:
        found = mine.recall(
            text,
            top_k=top_k,
            kinds=kind or None,
            threshold=threshold,
            conversation=here.options.conversation,
            agent=here.options.agent,
            since=since,
            until=until,
            as_of=as_of,
            known_at=known_at,
            techniques=dict.fromkeys(using or (), True) | dict.fromkeys(without or (), False),
            explain=explain,
        )
    data = output.plain(found) | {"timings_ms": found.timings_ms}
    data |= {"explanation": found.explain()} if explain else {}
    here.answer(data, lambda: _tell(here, found, context, explain))


def _tell(here: Here, found: Recollection, context: bool, explain: bool) -> None:
    if explain:
        output.line(found.explain())
    elif found.skipped and found.skipped not in _ARTICLE:
        here.note(f"Not searched: {found.skipped}.")
    elif found.skipped:
        here.note(f"Not searched: this looks like {_ARTICLE[found.skipped]}. Add --without gate to search.")
    elif not found:
        here.note("Nothing is remembered that bears on this.")
    elif context:
        output.line(found.context)
    else:
        output.cards((_labels(hit), hit.content) for hit in found.hits)


def _labels(hit: Hit) -> tuple[str, ...]:
    return f"{hit.score:.3f}", hit.role or hit.kind, output.local(hit.at), hit.id


@command(
    app,
    "recollect list",
    "recollect list --kind turn --conversation march-15 --oldest-first",
    "recollect list --kind fact --history --json",
    name="list",
)
def list_(
    here: Here,
    kind: Annotated[
        str, typer.Option(parser=values.one_of(LISTED), metavar="KIND", help=f"{', '.join(LISTED)}.")
    ] = "fact",
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 50,
    after: Annotated[str | None, typer.Option(metavar="ID", help="Go on behind this one.")] = None,
    oldest_first: Annotated[bool, typer.Option("--oldest-first", help="Oldest first.")] = False,
    history: Annotated[bool, typer.Option("--history", help="Show corrected memories too.")] = False,
) -> None:
    """List what is stored, newest first; --conversation, --channel and --agent narrow it."""
    where = _where(here, kind)
    if kind in MEMORY_KINDS and not history:
        where["superseded_by"] = None
    with here.stored() as mine:
        found = mine.list(kind, limit=limit, after=after, oldest_first=oldest_first, **where)
        names = _names(mine, found)
    following = found[-1].id if len(found) == limit else None
    here.answer(
        {"items": [to_json(record) for record in found], "next": following},
        lambda: _tell_list(here, kind, found, following, names),
    )


def _where(here: Here, kind: str) -> dict[str, Any]:
    known = {field.name for field in shapes(BY_KIND[kind])}
    where: dict[str, Any] = {}
    for name in ("channel", "agent", "conversation"):
        value = getattr(here.options, name)
        if value is None:
            continue
        if name not in known:
            raise typer.BadParameter(f"a {kind} has no {name}.", param_hint=f"--{name}")
        where[name] = value
    return where


def _names(mine: ScopedMemory, found: list[Record]) -> dict[str, str]:
    """What those are called that relations hold between."""
    ends = {id for r in found if isinstance(r, Relation) for id in (r.source, r.target)}
    entities = (mine.get(id) for id in sorted(ends))
    return {entity.id: entity.name for entity in entities if isinstance(entity, Entity)}


def _tell_list(
    here: Here, kind: str, found: list[Record], following: str | None, names: dict[str, str]
) -> None:
    output.cards((_record_labels(record), _text(record, names)) for record in found)
    if not found:
        here.note(f"There is no {kind} here.")
    elif following:
        here.note(f"More: --after {following}")


def _record_labels(record: Record) -> tuple[str, ...]:
    who = str(record.role) if isinstance(record, Turn) else record.kind
    ended = getattr(record, "valid_to", None)
    marks = [f"until {output.local(ended)}"] if ended else []
    marks += ["pinned"] if getattr(record, "pinned", False) else []
    return record.id, who, output.local(_when(record)), " ".join(marks)


def _when(record: Record) -> datetime | None:
    names = ("at", "valid_from", "created_at", "started_at", "first_seen", "updated_at")
    return next((getattr(record, name) for name in names if hasattr(record, name)), None)


def _text(record: Record, names: Mapping[str, str]) -> str:
    """What a record says, whatever its kind."""
    match record:
        case Relation():
            return " ".join((names.get(record.source, "?"), record.type, names.get(record.target, "?")))
        case Entity() if record.description:
            return f"{record.name}: {record.description}"
        case _:
            said = ("content", "description", "name", "title", "summary", "tool", "operation", "type")
            return next((str(text) for name in said if (text := getattr(record, name, None))), "")


@command(app, "recollect conversations --channel work", "recollect show march-15")
def conversations(
    here: Here,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 50,
    after: Annotated[str | None, typer.Option(metavar="NAME", help="Go on behind this one.")] = None,
) -> None:
    """List the conversations, by name; --channel and --agent narrow it."""
    where = _where(here, Conversation.kind)
    with here.stored() as mine:
        found = mine.list(Conversation.kind, limit=limit, after=after, oldest_first=True, **where)
    rows = [
        (c.id, str(c.next_index), output.local(c.last_at), c.channel, c.title or "")
        for c in found
        if isinstance(c, Conversation)
    ]

    def tell() -> None:
        output.table(("conversation", "turns", "last", "channel", "title"), rows)
        if not rows:
            here.note("There are no conversations here.")

    following = found[-1].id if len(found) == limit else None
    here.answer({"conversations": [to_json(c) for c in found], "next": following}, tell)


@command(app, "recollect show 0195a3c2-…", "recollect show march-15")
def show(
    here: Here, id: Annotated[str, typer.Argument(metavar="ID", help="An id, or a conversation's name.")]
) -> None:
    """Show everything about one record; of a conversation, its turns too."""
    with here.stored() as mine:
        record = mine.get(id)
        turns = mine.conversation(id) if isinstance(record, Conversation) else []
    data = to_json(record)
    if isinstance(record, Conversation):
        data["turns"] = [to_json(turn) for turn in turns]
    here.answer(data, lambda: _tell_record(record, turns))


def _tell_record(record: Record, turns: list[Turn]) -> None:
    data = to_json(record)
    content = data.pop("content", "")
    for name, value in data.items():
        if name in INTERNAL or value in (None, "", [], {}):
            continue
        at = getattr(record, name, None)
        if isinstance(at, datetime):
            value = output.local(at)
        output.line(f"{name:<14} {value if isinstance(value, str) else output.dumps(value)}")
    if content:
        output.line(f"\n{content}")
    output.cards((_record_labels(turn), turn.content) for turn in turns)


@command(
    app,
    "recollect timeline --since 2025-03-01",
    "recollect timeline Derek --limit 20",
    "recollect timeline Derek --as-of 2025-03-20",
)
def timeline(
    here: Here,
    entity: Annotated[
        str | None, typer.Argument(metavar="ENTITY", help="Only what is about this person or thing.")
    ] = None,
    since: Since = None,
    until: Until = None,
    as_of: Annotated[datetime | None, values.time_option("How things stood then.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many events at most.")] = 100,
) -> None:
    """Show what was said, learnt, corrected and ended, oldest first."""
    with here.stored() as mine:
        events = mine.timeline(entity, since=since, until=until, as_of=as_of, limit=limit)

    def tell() -> None:
        output.cards(((output.local(e.at), e.what, e.kind, e.id), e.content) for e in events)
        if not events:
            here.note("Nothing happened yet in the time that was asked for.")

    here.answer({"events": [output.plain(event) for event in events]}, tell)


@command(
    app,
    "recollect graph Derek",
    "recollect graph Derek --hops 2 --as-of 2025-03-20",
)
def graph(
    here: Here,
    entity: Annotated[str, typer.Argument(metavar="ENTITY", help="Whom or what to begin with.")],
    hops: Annotated[int, typer.Option(min=1, max=HOPS, help="How many relations away to look.")] = 1,
    as_of: Annotated[datetime | None, values.time_option("How things stood then.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=MOST, help="How many people and things at most.")] = LIMIT,
) -> None:
    """Show who and what a person or thing is related to, and since when."""
    with here.stored() as mine:
        around = mine.neighbours(entity, hops=hops, as_of=as_of, limit=limit)
    names = {one.id: one.name for one in around.entities}

    def tell() -> None:
        output.table(
            ("from", "relation", "to", "since"),
            (
                (names[r.source], r.type, names[r.target], output.local(r.valid_from))
                for r in around.relations
            ),
        )
        if not around.relations:
            here.note(f"No relation of {names[around.entities[0].id]} is known; mining finds them.")

    here.answer(
        {
            "entities": [to_json(one) for one in around.entities],
            "relations": [to_json(one) for one in around.relations],
        },
        tell,
    )
