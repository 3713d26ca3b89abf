"""Who speaks in a user's turn: the user, or somebody whose name stands in front of what they say."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from recollect.model.records import Role, Turn


class Spoken(NamedTuple):
    """What was said, without the name in front of it. No name means the user."""

    name: str
    text: str


_PREFIX = re.compile(r"\s{0,8}([A-Z][\w'’.-]{0,30}(?: [A-Z][\w'’.-]{0,30}){0,2}):\s{1,4}(?=\S)")
_LABELS = frozenset(
    re.findall(
        r"\S+",
        "note notes update updates ps pps question questions answer tl;dr tldr tl edit context background "
        "summary "
        "example examples warning error info todo task tasks goal goals step steps input output result "
        "results "
        "hint tip tips title subject from to cc date time re fw fwd user assistant system tool human ai bot "
        "important reminder fyi btw also additionally reason problem issue solution option options plan "
        "budget "
        "name age address phone email ingredients instructions prompt request response topic idea ideas "
        "correction conclusion introduction abstract disclaimer spoiler first second third finally next then "
        "monday tuesday wednesday thursday friday saturday sunday source quote text translation",
    )
)
_NAME_LIMIT = 64


def speakers(turns: Iterable[Turn]) -> frozenset[str]:
    """The names that stand in front of turns. One such line alone may be anything: "Hawaii: a dream"."""
    found = [name for turn in turns if turn.role is Role.USER and (name := prefix(turn.content))]
    return frozenset(found) if len(found) > 1 else frozenset()


def spoken(turn: Turn, known: frozenset[str]) -> Spoken:
    """What a turn says and who says it, `known` being the names that stand in front of turns."""
    if turn.role is not Role.USER:
        return Spoken("", turn.content)
    name = prefix(turn.content)
    if name and name in known:
        match = _PREFIX.match(turn.content)
        return Spoken(name, turn.content[match.end() :] if match else turn.content)
    given = turn.metadata.get("name")
    if isinstance(given, str) and 0 < len(given.strip()) <= _NAME_LIMIT:
        return Spoken(" ".join(given.split()), turn.content)
    return Spoken("", turn.content)


def prefix(text: str) -> str:
    """The name in front of a text; nothing where what stands there names nobody."""
    match = _PREFIX.match(text, 0, 120)
    if match is None or any(word.lower().strip(".") in _LABELS for word in match[1].split()):
        return ""
    return match[1]
