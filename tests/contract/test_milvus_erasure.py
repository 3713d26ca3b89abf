"""What is left in the files of Milvus Lite of vectors that were forgotten."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("pymilvus", reason="the client is an extra")
pytest.importorskip("milvus_lite", reason="Milvus Lite is an extra of the tests")

from milvus_lite import server_manager_instance
from pyarrow.parquet import read_table  # which it comes with

from recollect import Memory, Message
from recollect.models.hashing import HashingEmbedder
from recollect.tend.projecting import project
from recollect.testing.store_samples import ManualClock
from tests.contract import milvus

pytestmark = pytest.mark.engine

DIMENSIONS = 64
FILES = 8
"""How many are written after the erasure: of four of about a size it makes one."""


def vectors(seed: int) -> NDArray[np.float32]:
    """With no two numbers alike, so that no way of storing them makes them shorter."""
    drawn = np.random.default_rng(seed).standard_normal((20, DIMENSIONS), np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def told(memory: Memory, looking: Any, rows: NDArray[np.float32], name: str) -> None:
    """Say something, and have it written to a file of its own."""
    memory.scope("derek", conversation=name).record_many(
        [Message(role="user", content=f"{name} {place}", vector=row) for place, row in enumerate(rows)]
    )
    assert project(memory._tender(), lambda: True)[1] is None
    looking.flush(memory._projections[0].epoch())


def compacted(memory: Memory, looking: Any) -> None:
    for place in range(FILES):
        told(memory, looking, vectors(100 + place), f"later {place}")


def rebuilt(memory: Memory, looking: Any) -> None:
    assert memory.rebuild_projection("milvus") == 1
    looking.flush(memory._projections[0].epoch())


@pytest.mark.parametrize("cleaned", [compacted, rebuilt])
def test_no_byte_of_a_forgotten_vector_is_left(
    tmp_path: Path, lite: str, cleaned: Callable[[Memory, Any], None]
) -> None:
    rows, looking = vectors(1), milvus.client(lite)
    given: dict[str, Any] = {
        "embedder": HashingEmbedder(DIMENSIONS),
        "clock": ManualClock(),
        "milvus": lite,
        "milvus_timeout": 30.0,
    }
    with Memory.open(tmp_path / "memory.db", **given) as memory:
        told(memory, looking, rows, "first")
        derek = memory.scope("derek")
        hit = derek.recall("which?", vector=rows[3]).hits[0]
        assert hit.content == "first 3"
        derek.forget(hit.id)
        assert _kept(lite, rows[3])  # it is marked as deleted
        cleaned(memory, looking)
    looking.close()
    server_manager_instance.release_server(lite)  # which waits until it has done what it began
    assert not _kept(lite, rows[3])
    assert _kept(lite, rows[4])


def _kept(lite: str, row: NDArray[np.float32]) -> bool:
    """Whether it is in any file, as it is or packed."""
    stored = row.astype(np.float16).astype(np.float32)
    part = stored[:4].tobytes()
    files = [path for path in Path(lite).rglob("*") if path.is_file()]
    packed = [read_table(path).to_pydict() for path in files if path.suffix == ".parquet"]
    unpacked = (np.asarray(columns.get("vector", ()), np.float32).tobytes() for columns in packed)
    return any(part in content for content in (*(path.read_bytes() for path in files), *unpacked))
