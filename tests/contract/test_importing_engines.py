"""What is imported is the same on every engine, and there once."""

import threading
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory, ScopedMemory
from recollect.importing import Report, import_from
from tests.unit.importing import chatgpt, graph, node, palace, written


@pytest.fixture
def user(request: pytest.FixtureRequest) -> str:
    return request.node.originalname


def test_turns_and_memories_once(derek: ScopedMemory, tmp_path: Path) -> None:
    odd = "nul \x00, half a pair \ud800, \u202e and 🦊"
    talk = chatgpt("c\x00\ud800", node("q", "root", "user", odd), title="A\x00title")
    files: list[tuple[str, Path]] = [
        ("chatgpt", written(tmp_path / "a.json", [talk])),
        (
            "mem0",
            written(
                tmp_path / "b.json", [{"id": "k\x00\ud800", "memory": odd, "metadata": {"\x00": "\ud800"}}]
            ),
        ),
        ("mempalace", graph(palace(tmp_path / "p", d1={"document": "x"}), ("A", "is", "B", None, None, 1.0))),
    ]
    for source, file in files:
        first = import_from(derek, source, file)
        again = import_from(derek, source, file)
        assert first.total >= 1
        assert (again.total, again.corrected, again.unchanged) == (0, 0, first.total)
    before = derek.counts()
    written(tmp_path / "b.json", [{"id": "k\x00\ud800", "memory": "other words"}])
    assert import_from(derek, "mem0", tmp_path / "b.json").corrected == 1
    assert import_from(derek, "mem0", tmp_path / "b.json").unchanged == 1
    assert derek.counts()["fact"] == before["fact"] + 1


def test_two_at_once(memory: Memory, user: str, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"id": str(n), "memory": f"fact {n}"} for n in range(40)]
    file = written(tmp_path / "a.json", rows)
    reports: list[Report] = []
    together = threading.Barrier(2)

    def run() -> None:
        together.wait()
        reports.append(import_from(memory.scope(user), "mem0", file))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert memory.scope(user).counts()["fact"] == 40
    assert sum(report.total for report in reports) == 40
