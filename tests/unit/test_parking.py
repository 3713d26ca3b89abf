"""A text that the model refuses: tried a few times, then left alone, and never in anybody's way."""

from collections.abc import Sequence

import numpy as np
import pytest

from recollect import EmbedderError, Memory
from recollect.ports.embedder import Vectors
from recollect.ports.tending import PARKED_AFTER
from tests.unit.support import OpenMemory, SwitchedEmbedder
from tests.unit.test_tend import outcome, waiting


class Choosy(SwitchedEmbedder):
    """Refuses some texts, raises what it may not, or answers with numbers that cannot be stored."""

    broken: float | Exception | None = None

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        vectors = super().embed_passages(texts)
        if refused := [n for n, text in enumerate(texts) if "poison" in text]:
            if self.broken is None:
                raise EmbedderError("The text was refused.")
            if isinstance(self.broken, Exception):
                raise self.broken
            vectors[refused] = self.broken
        return vectors


def parked(memory: Memory) -> int:
    return memory.store.stats()["parked"]["chunks"]


def recorded(memory: Memory, *texts: str, user: str = "derek") -> None:
    memory.scope(user).record_many({"role": "user", "content": text} for text in texts)


@pytest.mark.parametrize("broken", [None, np.nan, 1e6, KeyError("data")])
def test_a_refused_text_is_parked_and_its_neighbours_are_not(
    open_memory: OpenMemory, broken: float | Exception | None
) -> None:
    embedder = Choosy()
    embedder.broken = broken
    memory = open_memory(embedder=embedder, embed_on_write=False)
    recorded(memory, "poison", "tea", "milk")
    recorded(memory, "poison", user="ann")
    recorded(memory, "rain", user="zoe")
    done, problem = outcome(memory, "embed")
    assert done == 3
    assert problem
    assert (waiting(memory), parked(memory)) == (2, 0)
    for _ in range(PARKED_AFTER - 1):
        assert outcome(memory, "embed")[0] == 0
    assert (waiting(memory), parked(memory)) == (0, 2)
    embedder.seen.clear()
    assert outcome(memory, "embed") == (0, None)
    assert embedder.seen == []
    assert [hit.content for hit in memory.scope("derek").recall("poison").hits][:1] == ["poison"]
    assert memory.store.unpark() == 2
    assert waiting(memory) == 2


def test_a_model_that_is_down_refuses_nothing(open_memory: OpenMemory) -> None:
    embedder = Choosy()
    memory = open_memory(embedder=embedder, embed_on_write=False)
    recorded(memory, "poison", "tea")
    embedder.down = True
    for _ in range(PARKED_AFTER + 1):
        assert outcome(memory, "embed") == (0, "The model server does not answer.")
    assert (waiting(memory), parked(memory)) == (2, 0)
    embedder.down = False
    assert outcome(memory, "embed")[0] == 1


def test_a_refused_text_keeps_no_model_from_being_searched(open_memory: OpenMemory) -> None:
    memory = open_memory(embed_on_write=False)
    recorded(memory, "poison", "tea", "milk")
    memory.tend()
    choosy = Choosy(64)
    assert memory.rebuild_vectors(embedder=choosy) == 2
    assert (waiting(memory), parked(memory)) == (0, 1)
    active = memory.store.active_space()
    assert active is not None
    assert active.compares_with(choosy.space)
    assert memory.rebuild_vectors(embedder=SwitchedEmbedder(64)) == 3, "all of them anew"
    assert (waiting(memory), parked(memory)) == (0, 0)
