"""Places in the palace: as they are written (`W-042/R-11/C-2` a closet, `§ W-042/R-11/D-007` a drawer), and
what is in them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from recollect.errors import Invalid
from recollect.model.records import Closet, Record, Turn

LONGEST_CLOSET = 64
"""How far the indexes of one closet's turns may reach: so the closet of a turn is found among few."""
_LISTED = 1000

ITEM, TIME = "@i", "@t"
ORDER = ("@p", "@l", "@e", ITEM, TIME)
"""What a drawer may be tagged with: people, places, events, items, times."""

Tags = Mapping[str, tuple[str, ...]]

_LARGEST = 2**31 - 1
_NUMBER = r"\s*-?\s*([0-9]{1,10})\s*"
_PLACE = re.compile(rf"\s*§?\s*W{_NUMBER}(?:/\s*R{_NUMBER}(?:/\s*([CD]){_NUMBER})?)?", re.IGNORECASE)


class Pointer(NamedTuple):
    """Where a drawer is. A drawer is a turn; its number is one more than its place in its conversation."""

    wing: int
    room: int
    drawer: int

    def __str__(self) -> str:
        return f"§ {room_place(self.wing, self.room)}/D-{self.drawer:03}"


class Opened(NamedTuple):
    """A wing, a room in it, or a closet in that."""

    wing: int
    room: int | None = None
    closet: int | None = None


def wing_place(wing: int) -> str:
    return f"W-{wing:03}"


def room_place(wing: int, room: int) -> str:
    return f"{wing_place(wing)}/R-{room:02}"


def closet_place(wing: int, room: int, number: int) -> str:
    return f"{room_place(wing, room)}/C-{number}"


def pointer(closet: Closet, index: int) -> str:
    """What cites the turn with this index, which lies in the closet."""
    return str(Pointer(closet.wing, closet.room, index + 1))


def beginnings(indexes: Iterable[int]) -> dict[str, list[int]]:
    """By which `first` the closets of these turns can be found. Nothing where that does not pay: early in
    conversations, or with too many turns."""
    wanted = set(indexes)
    if max(wanted, default=0) < 2 * LONGEST_CLOSET:
        return {}
    found = {n for index in wanted for n in range(max(0, index + 1 - LONGEST_CLOSET), index + 1)}
    return {"first": sorted(found)} if len(found) <= _LISTED else {}


def parse(text: str) -> Pointer:
    """The pointer as people and models write it: with or without the §, in any case, with spaces."""
    place = read_place(text)
    if not isinstance(place, Pointer):
        raise Invalid(f"{_short(text)} is no pointer to a drawer; one looks like § W-042/R-11/D-007.")
    return place


def parse_place(text: str) -> Opened:
    """A wing, a room or a closet."""
    place = read_place(text)
    if isinstance(place, Pointer):
        raise Invalid(f"{_short(text)} is a drawer, in which there is nothing but its turn.")
    return place


def read_place(text: str) -> Pointer | Opened:
    """Any place."""
    found = _PLACE.fullmatch(text) if isinstance(text, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]
    wing, room, mark, last = found.groups() if found else (None, None, None, None)
    numbers = [int(part) for part in (wing, room, last) if part is not None]
    if not numbers or not all(1 <= number <= _LARGEST for number in numbers):
        raise Invalid(
            f"{_short(text)} is no place in the palace; places look like W-042, W-042/R-11, W-042/R-11/C-2 "
            "and § W-042/R-11/D-007."
        )
    return Pointer(*numbers) if mark in ("D", "d") else Opened(*numbers)


def _short(text: object) -> str:
    return repr(text)[:100]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A wing, a room, a closet or a drawer, with how much is in it."""

    level: str
    place: str
    """Such as `W-042`, `W-042/R-11`, `W-042/R-11/C-2` or `§ W-042/R-11/D-007`."""
    number: int
    """The last part of its place; the next page begins `after` it."""
    name: str
    """Its subject, conversation or topic; what a drawer says, word for word."""
    type: str = ""
    """What kind of subject a wing has, or who speaks in a drawer."""
    first: datetime
    last: datetime
    rooms: int = 0
    closets: int = 0
    drawers: int = 0
    conversation: str | None = None
    tags: Tags = field(default_factory=dict[str, tuple[str, ...]])


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawer:
    """A turn in its place, with what it is tagged with and what was derived from it."""

    pointer: str
    turn: Turn
    closet: Closet
    tags: Tags
    derived: tuple[Record, ...] = ()

    def __str__(self) -> str:
        return " ".join((self.pointer, *tagged(self.tags)))


def tagged(tags: Tags) -> list[str]:
    """The tags as they are written: `@p Anna, Ben`."""
    return [f"{tag} {', '.join(tags[tag])}" for tag in ORDER if tags.get(tag)]
