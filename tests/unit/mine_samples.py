"""Windows to mine, made of what was said."""

from datetime import UTC, datetime

from recollect.mine.extracted import Claim, Extraction, Window
from recollect.mine.rules.extract import extract
from recollect.model.records import Conversation, Role, Turn

NOW = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
"""A Monday."""


def turn(index: int, said: str, role: str = "user", at: datetime = NOW, name: str = "") -> Turn:
    metadata = {"name": name} if name else {}
    return Turn(
        id=f"t{index}",
        conversation="c",
        index=index,
        role=Role(role),
        content=said,
        at=at,
        recorded_at=at,
        digest="",
        metadata=metadata,
    )


def window(*said: str | tuple[str, str], before: tuple[str, ...] = ()) -> Window:
    """Of texts of the user's, or of pairs of role and text."""
    turns = [turn(len(before) + i, *_pair(one)) for i, one in enumerate(said)]
    earlier = [turn(i, one) for i, one in enumerate(before)]
    return Window(Conversation(id="c", started_at=NOW, last_at=NOW), tuple(turns), tuple(earlier))


def _pair(said: str | tuple[str, str]) -> tuple[str, str]:
    return (said, "user") if isinstance(said, str) else (said[1], said[0])


def mined(*said: str | tuple[str, str], before: tuple[str, ...] = ()) -> Extraction:
    return extract(window(*said, before=before))


def facts(*said: str | tuple[str, str], before: tuple[str, ...] = ()) -> list[Claim]:
    return [claim for claim in mined(*said, before=before).claims if claim.kind == "fact"]


def contents(*said: str | tuple[str, str], before: tuple[str, ...] = ()) -> list[str]:
    return [claim.content for claim in facts(*said, before=before)]
