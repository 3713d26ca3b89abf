"""The palace as it is read: level by level as it is opened, and a drawer by its pointer.

A drawer is a turn. What it is tagged with is worked out when somebody looks: who and what cites the turn,
and the times that it names.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from recollect.errors import Invalid, NotFound
from recollect.limits import check_given, check_whole
from recollect.model.places import (
    ITEM,
    TIME,
    Drawer,
    Opened,
    Place,
    Pointer,
    Tags,
    closet_place,
    parse,
    parse_place,
    pointer,
    room_place,
    wing_place,
)
from recollect.model.records import MEMORY_TYPES, Closet, Conversation, Entity, Record, Relation, Turn
from recollect.model.search import AtLeast, AtMost
from recollect.ports.store import UserView
from recollect.ports.stored import Tally
from recollect.workspace import Workspace

ERASED = "(erased)"
"""What is shown for a subject that was forgotten."""
TAGS = {"person": "@p", "agent": "@p", "place": "@l", "event": "@e"}
_READ = 10_000  # characters in which times are looked for
_AT_ONCE = 200


# The tree


def palace(
    work: Workspace,
    wing: str | int | None = None,
    room: str | int | None = None,
    closet: str | int | None = None,
    *,
    limit: int = 50,
    after: int | None = None,
) -> list[Place]:
    """The wings; of a wing its rooms, of a room its closets, of a closet its drawers. Each level is read
    when it is opened, in order of its numbers, from the channels that are read here."""
    check_whole("limit", limit)
    if after is not None:
        check_whole("after", after)
    opened = _opened(wing, room, closet)
    return work.reading(lambda work, view: _read(view, work.channels, opened, limit, after), latest=False)


def _opened(wing: str | int | None, room: str | int | None, closet: str | int | None) -> Opened | None:
    """What is to be opened: numbers, or places as they are written (`W-042/R-11` says both)."""
    if wing is None:
        if room is not None or closet is not None:
            raise Invalid("Say in which wing.")
        return None
    opened = parse_place(wing) if isinstance(wing, str) else Opened(check_whole("wing", wing))
    if room is not None:
        number = parse_place(f"W-1/{room}").room if isinstance(room, str) else check_whole("room", room)
        opened = opened._replace(room=number)
    if closet is not None:
        if opened.room is None:
            raise Invalid("Say in which room.")
        number = parse_place(f"W-1/R-1/{closet}").closet if isinstance(closet, str) else closet
        opened = opened._replace(closet=check_whole("closet", number or 0))
    return opened


def _read(
    view: UserView, channels: Sequence[str], opened: Opened | None, limit: int, after: int | None
) -> list[Place]:
    """A page takes as long as what is on it: nothing that lies in its places, or before it, is read."""
    behind = after or 0
    if opened is None or opened.room is None:
        tallies = view.places(channels, opened.wing if opened else None, behind, limit)
        named = {closet.id: closet for closet in view.get(Closet, [tally.closet for tally in tallies])}
        known = [(tally, named[tally.closet]) for tally in tallies]
        return [_wing(view, *one) for one in known] if opened is None else _rooms(view, known)
    if opened.closet is None:
        return [_closet(closet) for closet in _closets(view, channels, opened, behind, limit)]
    found = view.get(Closet, [closet_place(opened.wing, opened.room, opened.closet)])
    kept = [c for c in found if c.conversation is not None and c.channel in channels]
    return _drawers(view, kept[0], limit, after) if kept else []


def _closets(
    view: UserView, channels: Sequence[str], opened: Opened, behind: int, limit: int
) -> list[Closet]:
    """Those of a room behind a number, without what was erased."""
    kept: list[Closet] = []
    inside = {"wing": opened.wing, "room": opened.room}
    while len(kept) < limit:
        where = {**inside, "number": AtLeast(behind + 1)}
        found = list(view.find(Closet, where, order="number", limit=limit))
        kept += [c for c in found if c.conversation is not None and c.channel in channels]
        if len(found) < limit:
            break
        behind = found[-1].number
    return kept[:limit]


def _wing(view: UserView, tally: Tally, named: Closet) -> Place:
    if not named.subject:  # it was forgotten there; another may still bear it
        others = view.find(Closet, {"wing": tally.number}, order="room", limit=_AT_ONCE)
        named = next((closet for closet in others if closet.subject), named)
    return Place(
        level="wing",
        place=wing_place(tally.number),
        number=tally.number,
        name=named.subject or ERASED,
        type=named.type,
        rooms=tally.rooms,
        closets=tally.closets,
        drawers=tally.drawers,
        first=tally.first,
        last=tally.last,
    )


def _rooms(view: UserView, known: Sequence[tuple[Tally, Closet]]) -> list[Place]:
    titles = {c.id: c.title for c in view.get(Conversation, [named.conversation or "" for _, named in known])}
    return [
        Place(
            level="room",
            place=room_place(named.wing, named.room),
            number=tally.number,
            name=titles.get(named.conversation or "") or named.conversation or "",
            conversation=named.conversation,
            closets=tally.closets,
            drawers=tally.drawers,
            first=tally.first,
            last=tally.last,
        )
        for tally, named in known
    ]


def _closet(closet: Closet) -> Place:
    return Place(
        level="closet",
        place=closet.id,
        number=closet.number,
        name=closet.title,
        conversation=closet.conversation,
        drawers=_size(closet),
        first=closet.at,
        last=closet.at,
    )


def _size(closet: Closet) -> int:
    return closet.last - closet.first + 1


def _drawers(view: UserView, closet: Closet, limit: int, after: int | None) -> list[Place]:
    """The turns of a closet; what was erased of it is missing."""
    turns: list[Turn] = []
    start = closet.first if after is None else max(closet.first, after)
    while start <= closet.last and len(turns) < limit:
        stop = min(start + _AT_ONCE, closet.last + 1)
        where = {"conversation": closet.conversation, "index": list(range(start, stop))}
        turns += view.find(Turn, where, order="index")
        start = stop
    turns = turns[:limit]
    tags = tags_of(view, turns)
    return [
        Place(
            level="drawer",
            place=pointer(closet, turn.index),
            number=turn.index + 1,
            name=turn.content,
            type=str(turn.role),
            conversation=turn.conversation,
            drawers=1,
            first=turn.at,
            last=turn.at,
            tags=tags[turn.id],
        )
        for turn in turns
    ]


# One drawer


def resolve(work: Workspace, text: str) -> Drawer:
    """The drawer that a pointer cites; `NotFound` when there is none, or it was erased."""
    check_given("pointer", text)
    wanted = parse(text)
    index = wanted.drawer - 1

    def read(view: UserView) -> Drawer | None:
        for closet in _around(view, wanted):
            for turn in view.find(Turn, {"conversation": closet.conversation, "index": index}):
                return _drawer(view, closet, turn)
        return None

    drawer = work.store.reading(read, latest=False)
    if drawer is None:
        raise NotFound(f"There is no drawer {wanted}.")
    return drawer


def _around(view: UserView, wanted: Pointer) -> Iterator[Closet]:
    """The closets of the room that a drawer may lie in. All of a room is of one conversation, and closets are
    found by where in it they begin: the nearest is the one, nearly always."""
    index = wanted.drawer - 1
    inside = {"wing": wanted.wing, "room": wanted.room}
    for most in (1, None):  # which of them was not erased
        talks = (closet.conversation for closet in view.find(Closet, inside, order="number", limit=most))
        if talk := next(filter(None, talks), None):
            break
    else:
        return
    before = {**inside, "conversation": talk, "first": AtMost(index)}
    for most in (1, None):
        for closet in view.find(Closet, before, order="first", descending=True, limit=most):
            if index <= closet.last:
                yield closet


def _drawer(view: UserView, closet: Closet, turn: Turn) -> Drawer:
    owners = list(view.linking("sources", [turn.id]))
    kinds: tuple[type[Record], ...] = (*MEMORY_TYPES, Entity, Relation)
    derived = tuple(record for kind in kinds for record in view.get(kind, owners)) if owners else ()
    return Drawer(
        pointer=pointer(closet, turn.index),
        turn=turn,
        closet=closet,
        tags=tags_of(view, [turn])[turn.id],
        derived=derived,
    )


# Tags


def tags_of(view: UserView, turns: Sequence[Turn]) -> dict[str, Tags]:
    """What each turn is tagged with: `@p` people, `@l` places, `@e` events, `@i` items, `@t` times."""
    cited = view.linking("sources", [turn.id for turn in turns])
    entities = {entity.id: entity for entity in view.get(Entity, list(cited))} if cited else {}
    tags: dict[str, Tags] = {}
    for turn in turns:
        found: dict[str, tuple[str, ...]] = {}
        for entity in entities.values():
            if turn.id in cited[entity.id]:
                tag = TAGS.get(entity.type, ITEM)
                found[tag] = (*found.get(tag, ()), entity.name)
        if times := _times(turn):
            found[TIME] = times
        tags[turn.id] = found
    return tags


def _times(turn: Turn) -> tuple[str, ...]:
    """The days that a turn names, as they were where it was said."""
    from recollect.text.times import time_phrases  # its rules take a while to compile

    zone = _zone(turn.zone)
    phrases = [p for p in time_phrases(turn.content[:_READ], turn.at, zone) if not p.soft]
    return tuple(dict.fromkeys(_days(p.since, p.until, zone) for p in phrases))


def _zone(name: str | None) -> tzinfo:
    try:
        return ZoneInfo(name) if name else UTC
    except (OSError, ValueError, KeyError):  # one that this machine does not know
        return UTC


def _days(since: datetime | None, until: datetime | None, zone: tzinfo) -> str:
    first = "" if since is None else f"{since.astimezone(zone):%Y-%m-%d}"
    last = "" if until is None else f"{(until - timedelta(microseconds=1)).astimezone(zone):%Y-%m-%d}"
    return first if first == last else f"{first}..{last}"
