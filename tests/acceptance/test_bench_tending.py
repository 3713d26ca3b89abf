"""`recollect bench tending`: its shape, and that it measures the product. Speed is not tested."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from recollect import Memory
from recollect.bench import command
from recollect.bench.corpus import Corpus
from recollect.bench.quality.ingest import SetClock
from recollect.bench.tending.filled import START, fill, records, texts
from recollect.tend.chores import CHORES

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("tending")
    ran = CliRunner().invoke(command.app, ["tending", "--sizes", "100,50", "--db", str(folder), "--json"])
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.stdout)


def test_every_chore_is_measured_at_every_size(ran: dict[str, Any]) -> None:
    assert [row["memories"] for row in ran["sizes"]] == [50, 100]
    for row in ran["sizes"]:
        assert list(row["visits"]) == ["first", "idle", "a day later", "changed"]
        for visit in row["visits"].values():
            assert set(visit["chores"]) == {chore.name for chore in CHORES}
            assert not [chore for chore in visit["chores"].values() if "problem" in chore]
        assert row["recall"]["days_tended"] > 0


def test_what_is_judged(ran: dict[str, Any]) -> None:
    names = [target["name"] for target in ran["targets"]]
    assert len(names) == len(CHORES) + 1 + 2
    assert {target["ok"] for target in ran["targets"]} <= {True, False, None}


def test_a_user_is_filled_with_all_sorts(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "a.db", embedder="hashing", clock=SetClock(START)) as memory:
        scope = memory.scope("somebody")
        said: list[int] = []
        fill(scope, texts(Corpus(), 500), said.append)
        counts = scope.counts()
        assert sum(said) == records(500) == sum(counts.values())
        facts: list[Any] = scope.list("fact", limit=500)
    assert len(facts) == 500
    assert len({fact.content for fact in facts}) < 500
    assert any(fact.expires_at for fact in facts)
    assert {fact.pinned for fact in facts} == {True, False}
    assert len({fact.confidence for fact in facts}) == 2
