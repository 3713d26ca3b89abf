"""recollect palace."""

from typing import Annotated, Any

import typer

from recollect.cli import output
from recollect.cli.frame import Here, command
from recollect.cli.output import Branch
from recollect.model.places import Drawer, Place, Pointer, read_place, tagged
from recollect.model.shapes import to_json
from recollect.scoped import ScopedMemory

app = typer.Typer()

_LEVELS = ("wing", "room", "closet", "drawer")


@command(
    app,
    "recollect palace",
    "recollect palace W-042 --depth 2",
    'recollect palace "§ W-042/R-11/D-007"',
    "recollect palace --wing W-042 --json",
)
def palace(
    here: Here,
    place: Annotated[
        str | None,
        typer.Argument(metavar="PLACE", help="What to open: W-042, W-042/R-11, a closet or a pointer."),
    ] = None,
    wing: Annotated[str | None, typer.Option(metavar="WING", help="The same, for a wing.")] = None,
    depth: Annotated[int, typer.Option(min=1, max=4, help="How many levels to show.")] = 3,
    limit: Annotated[int, typer.Option(min=1, help="How many places of each at most.")] = 20,
    after: Annotated[int | None, typer.Option(metavar="NUMBER", min=0, help="Go on behind this one.")] = None,
) -> None:
    """Show what was talked about as a tree: subjects, conversations, topics, turns. A pointer shows its turn,
    word for word, with what was derived from it."""
    if place is not None and wing is not None:
        raise typer.BadParameter("give a place or a wing, not both.", param_hint="--wing")
    opened = place or wing
    with here.stored() as mine:
        if opened is not None and isinstance(read_place(opened), Pointer):
            drawer = mine.drawer(opened)
            here.answer(_drawer_data(drawer), lambda: _tell_drawer(drawer))
            return
        places = mine.palace(opened, limit=limit, after=after)
        tree = [_node(mine, one, depth, limit) for one in places]
    following = places[-1].number if len(places) == limit else None

    def tell() -> None:
        output.tree([_branch(node) for node in tree])
        if not tree:
            here.note("There is nothing here: a conversation has its place once it was mined.")
        elif following is not None:
            here.note(f"More: --after {following}")

    here.answer({"places": tree, "next": following}, tell)


def _node(mine: ScopedMemory, place: Place, depth: int, limit: int) -> dict[str, Any]:
    """A place with what is in it, as far down as is asked for."""
    node = {name: value for name, value in output.plain(place).items() if value not in (None, "", 0, {})}
    if depth > 1 and place.level != _LEVELS[-1]:
        inside = mine.palace(place.place, limit=limit)
        node["places"] = [_node(mine, one, depth - 1, limit) for one in inside]
        if len(inside) == limit:
            node["next"] = inside[-1].number
    return node


def _branch(node: dict[str, Any]) -> Branch:
    counts = {level: node.get(f"{level}s", 0) for level in _LEVELS[1:]} if node["level"] != "drawer" else {}
    inside = output.summed({level: count for level, count in counts.items() if count})
    first, last = (output.local(node[name])[:10] for name in ("first", "last"))
    when = first if first == last else f"{first} to {last}"
    labels = (node["place"], node["name"], node.get("type", ""), inside, when, *tagged(node.get("tags", {})))
    more = [Branch(("…",), [])] if "next" in node else []
    return Branch(labels, [*map(_branch, node.get("places", ())), *more])


def _drawer_data(drawer: Drawer) -> dict[str, Any]:
    return {
        "pointer": drawer.pointer,
        "tags": drawer.tags,
        "turn": to_json(drawer.turn),
        "closet": to_json(drawer.closet),
        "derived": [to_json(record) for record in drawer.derived],
    }


def _tell_drawer(drawer: Drawer) -> None:
    turn, closet = drawer.turn, drawer.closet
    output.line(str(drawer))
    output.line(f"{turn.role}  {output.local(turn.at)}  {turn.conversation}  {turn.id}")
    output.line(" / ".join(part for part in (closet.subject, closet.title) if part))
    output.line(f"\n{turn.content}\n")
    output.cards(
        (
            (record.kind, record.id),
            getattr(record, "content", "") or getattr(record, "name", "") or _bond(record),
        )
        for record in drawer.derived
    )


def _bond(record: Any) -> str:
    return f"{record.source} {record.type} {record.target}"
