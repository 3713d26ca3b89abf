"""Where turns go in the palace. Planning only: what is placed stays where it is, and no number is used twice.

A wing is a subject, a room one conversation in it, a closet a run of turns about one topic. Two workers that
give out the same number conflict, because both expect that nothing is there; the one that loses plans again.
Whoever mines a conversation has to expect it as it was read, so that no two place the same turns.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

from recollect.mine.extracted import USER, Topic, Window
from recollect.model.changes import Change, Expect, Put
from recollect.model.places import LONGEST_CLOSET, beginnings, closet_place
from recollect.model.records import Closet, Turn
from recollect.ports.store import UserView
from recollect.text.names import folded

UNTITLED = "Conversation"
"""The title of turns of which no topic is known."""
OWN = "You"
"""The subject of the user's own wing."""
OWN_SLUG = "_user"  # no name has it: in a slug nothing but letters and digits is kept
WING_TYPES = ("person", "project", "topic", "agent")
LONGEST = 120
"""Characters of a title or a subject."""


class Named(Protocol):
    """Somebody or something with a name: a mention, an entity."""

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def aliases(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class Palace:
    """As much of what is built as planning needs to know."""

    placed: tuple[Closet, ...] = ()
    """The closets of the conversation, at least those in which turns of the window lie or may go on."""
    wings: Mapping[str, Closet] = field(default_factory=dict[str, Closet])
    """Of each slug that was asked for, a closet of its wing."""
    rooms: Mapping[int, int] = field(default_factory=dict[int, int])
    """The conversation's room in each wing that may be concerned."""
    last_wing: int = 0
    last_rooms: Mapping[int, int] = field(default_factory=dict[int, int])
    """The greatest number in each of these wings, erased ones included."""
    last_closets: Mapping[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    """The same in each of these rooms."""


class _Subject(NamedTuple):
    name: str
    type: str
    slugs: tuple[str, ...]
    """Its own, by which a new wing is known, and those of its other names."""


class _Wing(NamedTuple):
    number: int
    subject: str
    type: str
    slug: str


class _Run(NamedTuple):
    """Neighbouring turns that belong together; without a topic they go on with what was before them."""

    topic: Topic | None
    turns: tuple[Turn, ...]


_OWN_SUBJECT = _Subject(OWN, "person", (OWN_SLUG,))


def slug(name: str) -> str:
    """The name as wings are told apart by it: no case, accents, punctuation or leading article."""
    return "-".join(folded(name).split()) or "-".join(name.casefold().split())


def read_palace(view: UserView, window: Window, topics: Sequence[Topic], subjects: Sequence[Named]) -> Palace:
    """What `plan_closets` needs to know, all of it by index."""
    talk = window.conversation.id
    indexes = [turn.index for turn in window.turns]
    near = beginnings([*indexes, *(index - 1 for index in indexes if index)])
    placed = tuple(view.find(Closet, {"conversation": talk, **near}, order="first"))
    wanted = {OWN_SLUG} | {s for topic in topics for s in _subject(topic, subjects).slugs}
    found = {one: next(view.find(Closet, {"slug": one}, order="wing", limit=1), None) for one in wanted}
    wings = {one: closet for one, closet in found.items() if closet is not None}
    concerned = {closet.wing for closet in (*wings.values(), *placed)}
    rooms = {
        closet.wing: closet.room
        for wing in sorted(concerned)
        for closet in view.find(Closet, {"conversation": talk, "wing": wing}, limit=1)
    }
    return Palace(
        placed=placed,
        wings=wings,
        rooms=rooms,
        last_wing=_greatest(view, "wing", {}),
        last_rooms={wing: _greatest(view, "room", {"wing": wing}) for wing in concerned},
        last_closets={
            (wing, room): _greatest(view, "number", {"wing": wing, "room": room})
            for wing, room in rooms.items()
        },
    )


def _greatest(view: UserView, number: str, where: Mapping[str, int]) -> int:
    found = next(view.find(Closet, where, order=number, descending=True, limit=1), None)
    return 0 if found is None else getattr(found, number)


def plan_closets(
    window: Window, topics: Sequence[Topic], subjects: Sequence[Named], known: Palace
) -> list[Change]:
    """A place for each turn of the window that has none. `subjects` are those that are named, with their
    types and aliases: the mentions, and the entities that they turned out to be."""
    building = _Building(known, subjects)
    for run in _runs(window, topics, known.placed):
        building.place(run)
    return building.changes()


def _runs(window: Window, topics: Sequence[Topic], placed: Sequence[Closet]) -> Iterator[_Run]:
    """The turns that have no place, cut where the topic or the channel changes or another closet lies."""
    free = [t for t in sorted(window.turns, key=lambda t: t.index) if _closet_of(t.index, placed) is None]
    told = [_topic_of(turn.index, topics) for turn in free]
    run: list[Turn] = []
    topic: Topic | None = None
    for turn, named in zip(free, told, strict=True):
        if run and _cut(run, turn, topic, named, placed):
            yield _Run(topic, tuple(run))
            run = []
        topic = named or topic
        run.append(turn)
    if run:
        yield _Run(topic, tuple(run))


def _cut(
    run: Sequence[Turn], turn: Turn, topic: Topic | None, named: Topic | None, placed: Sequence[Closet]
) -> bool:
    """Whether a turn begins something else. What came before the first topic belongs to it, unless it goes
    on with an earlier closet."""
    last = run[-1]
    if last.channel != turn.channel or any(last.index < closet.first < turn.index for closet in placed):
        return True
    if turn.index - run[0].index >= LONGEST_CLOSET:
        return True
    if named is None or named == topic:
        return False
    return topic is not None or any(closet.last + 1 == run[0].index for closet in placed)


def _topic_of(index: int, topics: Sequence[Topic]) -> Topic | None:
    """The narrowest of the topics that a turn belongs to."""
    around = [topic for topic in topics if topic.first <= index <= topic.last and topic.title.strip()]
    return min(around, key=lambda topic: topic.last - topic.first, default=None)


def _closet_of(index: int, placed: Sequence[Closet]) -> Closet | None:
    return next((closet for closet in placed if closet.first <= index <= closet.last), None)


def _subject(topic: Topic, subjects: Sequence[Named]) -> _Subject:
    """Whom or what a topic belongs to, under the name that is known best."""
    said = _short(topic.subject) or _short(topic.title)
    wanted = slug(said)
    for one in subjects:
        names = [slug(name) for name in (one.name, *one.aliases)]
        if wanted in names:
            type = one.type if one.type in WING_TYPES else "topic"
            others = dict.fromkeys(name for name in (wanted, *names[1:]) if name)
            return _known_as(_short(one.name), type, (names[0], *others))
    return _known_as(said, "topic", (wanted,))


def _known_as(name: str, type: str, slugs: tuple[str, ...]) -> _Subject:
    if slugs[0] in ("", slug(USER)):
        return _OWN_SUBJECT
    return _Subject(name, type, tuple(dict.fromkeys(slugs)))


def _short(text: str) -> str:
    return " ".join(text.split())[:LONGEST].strip()


def _wing_of(closet: Closet) -> _Wing:
    return _Wing(closet.wing, closet.subject, closet.type, closet.slug)


class _Building:
    """The palace as it will be, and what is new of it."""

    def __init__(self, known: Palace, subjects: Sequence[Named]) -> None:
        self._subjects = subjects
        self._stored = {closet.id: closet for closet in known.placed}
        self._closets = dict(self._stored)
        self._wings = {slug: _wing_of(closet) for slug, closet in known.wings.items()}
        self._last_wing = known.last_wing
        self._last_rooms = dict(known.last_rooms)
        self._last_closets = dict(known.last_closets)
        self._rooms = dict(known.rooms)

    def place(self, run: _Run) -> None:
        first, last = run.turns[0], run.turns[-1]
        before = next((c for c in self._closets.values() if c.last + 1 == first.index), None)
        if before is not None and self._goes_on(before, run):
            if last.index - before.first < LONGEST_CLOSET:
                self._closets[before.id] = replace(before, last=last.index)
                return
            wing, title = _wing_of(before), before.title
        elif run.topic is None:
            wing, title = self._wing(_OWN_SUBJECT), UNTITLED
        else:
            wing, title = self._wing(_subject(run.topic, self._subjects)), _short(run.topic.title)
        room = self._room(wing.number)
        number = self._last_closets.get((wing.number, room), 0) + 1
        self._last_closets[wing.number, room] = number
        made = Closet(
            id=closet_place(wing.number, room, number),
            wing=wing.number,
            room=room,
            number=number,
            subject=wing.subject,
            type=wing.type,
            slug=wing.slug,
            title=title,
            conversation=first.conversation,
            first=first.index,
            last=last.index,
            at=first.at,
            channel=first.channel,
            agent=first.agent,
        )
        self._closets[made.id] = made

    def _goes_on(self, before: Closet, run: _Run) -> bool:
        """Whether what comes right after a closet belongs into it."""
        if before.channel != run.turns[0].channel:
            return False
        if run.topic is None:
            return True
        wing = self._known_wing(_subject(run.topic, self._subjects))
        return wing is not None and (wing.number, _short(run.topic.title)) == (before.wing, before.title)

    def _known_wing(self, subject: _Subject) -> _Wing | None:
        """The oldest wing that goes by one of the subject's names."""
        return min((self._wings[name] for name in subject.slugs if name in self._wings), default=None)

    def _wing(self, subject: _Subject) -> _Wing:
        wing = self._known_wing(subject)
        if wing is None:
            self._last_wing += 1
            wing = _Wing(self._last_wing, subject.name, subject.type, subject.slugs[0])
            self._wings |= dict.fromkeys(subject.slugs, wing)
        return wing._replace(type=subject.type) if wing.type == "topic" else wing  # known better by now

    def _room(self, wing: int) -> int:
        if wing not in self._rooms:
            self._last_rooms[wing] = self._rooms[wing] = self._last_rooms.get(wing, 0) + 1
        return self._rooms[wing]

    def changes(self) -> list[Change]:
        changed = [c for c in self._closets.values() if c != self._stored.get(c.id)]
        expected: list[Change] = [Expect(c.kind, c.id, self._stored.get(c.id)) for c in changed]
        return [*expected, *(Put(closet) for closet in changed)]
