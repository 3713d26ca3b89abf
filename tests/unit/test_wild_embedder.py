"""An embedder that breaks its promises costs the vectors, never what was said or asked."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from recollect.ports.embedder import Vectors
from tests.unit.support import OpenMemory, SwitchedEmbedder, contents


class WildEmbedder(SwitchedEmbedder):
    """Gives what it is told to give, or raises it."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self._answer = answer

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer

    def embed_query(self, text: str) -> Vectors:
        return self.embed_passages([text])


WILD: dict[str, Any] = {
    "raises": KeyError("data"),
    "raises without a word": RuntimeError(),
    "too few": np.zeros((0, 384)),
    "another shape": np.ones((1, 5)),
    "no numbers": ["a"],
    "not finite": np.full((1, 384), np.nan),
    "too large": np.full((1, 384), 1e6),
    "nothing": None,
}


@pytest.mark.parametrize("answer", WILD.values(), ids=WILD)
def test_nothing_is_lost(open_memory: OpenMemory, answer: Any, caplog: pytest.LogCaptureFixture) -> None:
    derek = open_memory(embedder=WildEmbedder(answer)).scope("derek")
    derek.record("user", "green tea")
    derek.remember("likes tea")
    assert "Stored without vectors" in caplog.text
    found = derek.recall("tea")
    assert set(contents(found)) == {"green tea", "likes tea"}
    (problem,) = found.problems
    assert problem.startswith("Recalled by words only: ")
    assert problem != "Recalled by words only: "
    sound = open_memory()
    sound.tend()
    assert sound.scope("derek").recall("teas", threshold=0).hits
