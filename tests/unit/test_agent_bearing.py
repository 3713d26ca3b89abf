"""What of a recollection is worth a place in an agent's prompt."""

from datetime import UTC, datetime
from typing import Any

import pytest

from recollect.agent.bearing import bearing, is_near, is_news
from recollect.model.recollection import Hit, Recollection
from recollect.recall.render import rendered


def hit(kind: str = "turn", score: float = 1.0, content: str = "Tea", **more: Any) -> Hit:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    given: dict[str, Any] = {"id": content, "excerpt": content, "channel": "", "role": "user", **more}
    return Hit(kind=kind, score=score, content=content, at=at, **given)


@pytest.mark.parametrize(
    ("kind", "score", "paths", "near"),
    [
        ("episode", 0.022, ("words",), False),
        ("episode", 0.06, ("words",), True),
        ("episode", 0.15, ("meaning",), False),
        ("procedure", 0.24, ("times",), True),
        ("fact", 0.01, ("meaning", "words"), True),
        ("fact", 0.15, ("meaning",), False),
    ],
)
def test_what_is_near(kind: str, score: float, paths: tuple[str, ...], near: bool) -> None:
    assert is_near(hit(kind, score, paths=paths), 0.2) is near


def test_what_the_prompt_has_is_no_news() -> None:
    shown = frozenset({"a", "n"})
    assert not is_news(hit(id="a"), "What?", shown)
    assert not is_news(hit(role="note"), "What?", shown)
    assert not is_news(hit(content="What  is tea?"), "what is tea?", shown)
    assert not is_news(hit("episode", sources=("n",)), "What?", shown)
    assert is_news(hit("episode", sources=("m",)), "What?", shown)
    assert is_news(hit("fact", sources=("a",)), "What?", shown)
    assert is_news(hit(id="b"), "What?", shown)


def test_what_is_left_out_is_not_told() -> None:
    hits = tuple(hit(content=name) for name in ("Tea", "Milk", "Salt"))
    found = Recollection(query="?", hits=hits, context=rendered(hits, 100)[0])
    assert bearing(found, 3, lambda _: True) is found
    few = bearing(found, 1, lambda one: one.content != "Tea")
    assert [one.content for one in few.hits] == ["Milk"]
    assert "Milk" in few.context
    assert "Tea" not in few.context
    assert bearing(found, 0, lambda _: True).context == ""
