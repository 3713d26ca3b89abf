"""Palaces of any size, stored as mining stores them but without reading what was said."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice

from recollect.model.changes import Append, Put, TurnDraft
from recollect.model.places import LONGEST_CLOSET, closet_place
from recollect.model.records import Closet, Role
from recollect.ports.store import Store

START = datetime(2024, 1, 1, 9, tzinfo=UTC)
AT_ONCE = 5_000


def fill(
    store: Store, user: str, drawers: int, *, talks: int = 1, wings: int = 1, size: int = LONGEST_CLOSET
) -> None:
    """So many drawers, over so many conversations, each of which is about one of the wings' subjects; `size`
    in a closet."""
    own, each = store.user(user), drawers // talks
    turns, closets = _turns(talks, each), _closets(talks, each, wings, size)
    while drafts := tuple(islice(turns, AT_ONCE)):
        own.apply([Append(drafts)])
    while puts := [Put(closet) for closet in islice(closets, AT_ONCE)]:
        own.apply(puts)


def _turns(talks: int, each: int) -> Iterator[TurnDraft]:
    for talk in range(talks):
        for index in range(each):
            at = START + timedelta(days=talk, minutes=index)
            yield TurnDraft(
                id=f"t-{talk}-{index}",
                conversation=f"talk-{talk:05}",
                index=index,
                role=Role.ASSISTANT if index % 2 else Role.USER,
                content=f"What was said as number {index} in talk {talk}: tea, bread and the boat.",
                at=at,
                recorded_at=at,
                digest=f"{talk}-{index}",
                title=f"Talk {talk}" if index == 0 else None,
            )


def _closets(talks: int, each: int, wings: int, size: int) -> Iterator[Closet]:
    for talk in range(talks):
        wing, room = talk % wings + 1, talk // wings + 1
        for number, first in enumerate(range(0, each, size), 1):
            yield Closet(
                id=closet_place(wing, room, number),
                wing=wing,
                room=room,
                number=number,
                subject=f"Subject {wing}",
                slug=f"subject {wing}",
                title=f"Topic {number}",
                conversation=f"talk-{talk:05}",
                first=first,
                last=min(first + size, each) - 1,
                at=START + timedelta(days=talk, minutes=first),
            )
