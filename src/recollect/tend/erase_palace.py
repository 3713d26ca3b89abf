"""What forgetting leaves of the palace: numbers, so that no pointer ever leads elsewhere, and no words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from recollect.errors import NotFound
from recollect.mine.palace import OWN_SLUG, UNTITLED, slug
from recollect.model.changes import Change, Expect, Put
from recollect.model.records import Closet, Conversation, Entity, Record, Turn
from recollect.workspace import Workspace

_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)
_AT_ONCE = 500


def husk(closet: Closet) -> Closet:
    """What stays of a closet that was erased."""
    return Closet(id=closet.id, wing=closet.wing, room=closet.room, number=closet.number, at=_NO_TIME)


def turns_in(work: Workspace, closet: Closet) -> list[Turn]:
    """The turns that lie in a closet."""
    if closet.conversation is None:
        raise NotFound(f"There is nothing with the id {closet.id!r}.")
    return _turns(work, closet)


def emptied(work: Workspace, gone: Mapping[str, Record], labelled: Iterable[Closet] = ()) -> list[Change]:
    """What becomes of the closets of erased turns. One with none left is a husk. One with some left has a
    title and a subject that may have come from those that are gone: the title goes, the subject stays if
    something else bears it. `labelled` are those with a channel or an agent that was forgotten."""
    erased: dict[str, set[int]] = {}
    for record in gone.values():
        if isinstance(record, Turn):
            erased.setdefault(record.conversation, set()).add(record.index)
    whole = {record.id for record in gone.values() if isinstance(record, Conversation)}
    known = {closet.id: closet for closet in labelled if closet.conversation is not None}
    relabelled = set(known)
    known |= {closet.id: closet for closet in _closets(work, sorted(erased.keys() | whole))}
    made: dict[str, Closet] = {}
    left: dict[str, list[Turn]] = {}
    for closet in known.values():
        talk = closet.conversation or ""
        hit = any(closet.first <= index <= closet.last for index in erased.get(talk, ()))
        if not hit and talk not in whole and closet.id not in relabelled:
            continue
        turns = [] if talk in whole else [t for t in _turns(work, closet) if t.id not in gone]
        made[closet.id] = _with(closet, turns, hit)
        if hit and turns:
            left[closet.id] = turns
    made |= _unborne(work, {id: made[id] for id in left}, left, gone, made.keys())
    return _changes(known, made)


def _with(closet: Closet, turns: Sequence[Turn], hit: bool) -> Closet:
    """A closet in which these turns are left; `hit` if there were others."""
    if not turns:
        return husk(closet)
    title = UNTITLED if hit else closet.title
    first = turns[0]
    return replace(closet, title=title, at=first.at, channel=first.channel, agent=first.agent)


def unnamed(work: Workspace, entity: Entity) -> list[Change]:
    """What becomes of the wings of somebody or something that is forgotten: they have no subject any more.
    What was said in them stays."""
    names = {slug(name) for name in (entity.name, *entity.aliases)} - {""}
    known = {closet.id: closet for closet in work.store.find(Closet, {"slug": sorted(names)})}
    made = {
        closet.id: replace(
            closet,
            subject="",
            slug="",
            title=UNTITLED if any(name in slug(closet.title) for name in names) else closet.title,
        )
        for closet in known.values()
    }
    return _changes(known, made)


def _unborne(
    work: Workspace,
    partly: Mapping[str, Closet],
    left: Mapping[str, Sequence[Turn]],
    gone: Mapping[str, Record],
    changed: Iterable[str],
) -> dict[str, Closet]:
    """Of closets that lost some of their turns, those whose subject nothing bears that is left: no other
    closet of the wing, no entity of that name, none of the turns."""
    wings: dict[int, list[Closet]] = {}
    for closet in partly.values():
        if closet.slug not in ("", OWN_SLUG):
            wings.setdefault(closet.wing, []).append(closet)
    touched = set(changed)
    found: dict[str, Closet] = {}
    for wing, closets in wings.items():
        name = closets[0].subject
        said = (turn.content.casefold() for closet in closets for turn in left[closet.id])
        if any(name.casefold() in content for content in said):
            continue
        if any(entity.id not in gone for entity in work.store.find(Entity, {"name": name})):
            continue
        if any(c.id not in touched and c.slug for c in work.store.find(Closet, {"wing": wing})):
            continue
        found |= {closet.id: replace(closet, subject="", slug="") for closet in closets}
    return found


def _closets(work: Workspace, conversations: Sequence[str]) -> list[Closet]:
    found: list[Closet] = []
    for start in range(0, len(conversations), _AT_ONCE):
        found += work.store.find(Closet, {"conversation": conversations[start : start + _AT_ONCE]})
    return found


def _turns(work: Workspace, closet: Closet) -> list[Turn]:
    where = {"conversation": closet.conversation, "index": list(range(closet.first, closet.last + 1))}
    return [*work.store.find(Turn, where, order="index")]


def _changes(known: Mapping[str, Closet], made: Mapping[str, Closet]) -> list[Change]:
    changed = [closet for closet in made.values() if closet != known[closet.id]]
    expected: list[Change] = [Expect(closet.kind, closet.id, known[closet.id]) for closet in changed]
    return [*expected, *(Put(closet) for closet in changed)]
