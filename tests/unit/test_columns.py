"""A user's chunks in memory: what goes leaves nothing behind."""

from datetime import UTC, datetime
from typing import Any

import numpy as np

from recollect.model.search import Filter
from recollect.stores.sql.columns import Columns

NOW = datetime(2026, 1, 1, tzinfo=UTC)
VECTOR = np.ones(4, np.float16).tobytes()


def row(doc: int, conversation: str) -> dict[str, Any]:
    times = dict.fromkeys(("valid_to", "stated_to", "retired_at", "expires_at"))
    return {
        **times,
        **dict.fromkeys(("at", "valid_from", "recorded_at"), 0),
        "doc": doc,
        "seq": doc,
        "terms": 3,
        "start": 0,
        "stop": 9,
        "confidence": 1.0,
        "weight": 1.0,
        "kind": "turn",
        "role": "user",
        "channel": "c",
        "agent": "a",
        "conversation": conversation,
        "place": doc,
        "supersedes": None,
        "owner": f"turn-{doc}",
        "vector": VECTOR,
    }


def test_what_is_dead_is_left_out_with_its_names() -> None:
    stays = [row(doc, f"stays-{doc % 2}") for doc in (1, 2)]
    full = Columns(4).extended([*stays, *(row(doc, f"goes-{doc}") for doc in range(3, 50))], [], 50)
    old = full.extended([row(1, "moved")], [*range(3, 50)], 51)
    new = old.compacted()
    assert (new.count, new.dead) == (2, 0)
    assert new.places(np.array([1, 2, 3, 49, 400])).tolist() == [1, 0, -1, -1, -1]
    assert new.owners_of(np.array([0, 1])) == ["turn-2", "turn-1"]
    assert new.names_of("conversation", np.array([0, 1])) == ["stays-0", "moved"]
    assert new.vectors.tolist() == [[1.0] * 4] * 2
    assert new.size < old.size / 2
    for wanted in ("stays-0", "moved", "goes-7"):
        found = [state.doc[state.allowed(Filter(now=NOW, conversation=wanted))] for state in (old, new)]
        assert found[0].tolist() == found[1].tolist()
    assert old.as_of(50) is None
    assert new.as_of(50) is None, "what has gone since is not known"
    later = new.extended([row(60, "new")], [2], 61)
    assert later.names_of("conversation", later.places(np.array([60, 1]))) == ["new", "moved"]
    assert later.doc[later.allowed(Filter(now=NOW))].tolist() == [1, 60]


def test_all_may_have_gone() -> None:
    empty = Columns(4).extended([row(1, "goes")], [], 1).extended([], [1], 2).compacted()
    assert empty.count == 0
    assert empty.places(np.array([1])).tolist() == [-1]
    assert empty.extended([row(2, "new")], [], 3).owners_of(np.array([0])) == ["turn-2"]
