"""What the whole of mining costs: extraction, resolving, writing and embedding what was found, by the verb
that users call, beside embedding the turns it was found in."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect import Memory
from recollect.bench.measure import Times, ratio, settled
from recollect.bench.quality.datasets import Session
from recollect.bench.quality.ingest import SetClock
from recollect.model.space import Space
from recollect.ports.embedder import Embedder


class TimedEmbedder:
    """Another embedder, and the seconds it took."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.seconds = 0.0

    @property
    def space(self) -> Space:
        return self._inner.space

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._timed(lambda: self._inner.embed_passages(texts))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._timed(lambda: self._inner.embed_query(text))

    def _timed(self, work: Callable[[], NDArray[np.float32]]) -> NDArray[np.float32]:
        begun = perf_counter()
        try:
            return work()
        finally:
            self.seconds += perf_counter() - begun


def whole(
    people: Mapping[str, Sequence[Session]], embedder: Embedder, advance: Callable[[int], None]
) -> dict[str, Any]:
    """Record everybody's sessions in a store of their own, mine them by rules, and compare."""
    timed, clock, times = TimedEmbedder(embedder), SetClock(), Times()
    embedding = found = 0.0
    turns = memories = 0
    with TemporaryDirectory(prefix="recollect-bench-") as folder:
        path = Path(folder) / "mined.db"
        with Memory.open(path, embedder=timed, miner="rules", clock=clock) as memory, settled():
            for user, sessions in people.items():
                clock.at = max(session.at for session in sessions)
                scope = memory.scope(user)
                timed.seconds = 0.0
                turns += len(scope.record_many(_messages(sessions)))
                embedding += timed.seconds
                timed.seconds = 0.0
                memories += sum(mined.added for mined in times.take(scope.mine))
                found += timed.seconds
                advance(1)
    return {
        "turns": turns,
        "memories": memories,
        "mining_ms_a_turn": _per(times.total, turns),
        "of_which_embedding_ms": _per(found, turns),
        "embedding_ms_a_turn": _per(embedding, turns),
        "ratio": ratio(times.total, embedding),
        "ratio_without_embedding": ratio(times.total - found, embedding),
    }


def _messages(sessions: Sequence[Session]) -> list[dict[str, Any]]:
    return [
        {"role": said.role, "content": said.content, "conversation": s.id, "index": index, "at": s.at}
        for s in sessions
        for index, said in enumerate(s.turns)
        if said.content.strip()
    ]


def _per(seconds: float, turns: int) -> float:
    return round(seconds * 1000 / turns, 3) if turns else 0.0
