"""Time that goes by before the questions of a quality benchmark are asked."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory, ScopedMemory
from recollect.bench.quality import datasets, run
from recollect.bench.quality.age import aged_to
from recollect.errors import SettingsError
from tests.unit.test_bench_quality import locomo_item, silent


@pytest.fixture
def locomo(tmp_path: Path) -> datasets.Dataset:
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([locomo_item()]))
    return datasets.locomo(path)


@pytest.fixture
def plan(tmp_path: Path) -> run.Plan:
    db = str(tmp_path / "stores")
    return run.Plan(cache=tmp_path / "cache", db=db, embedder="hashing", top_k=10, mine="rules", age_days=20)


def test_it_is_tended_every_week_and_asked_later(
    locomo: datasets.Dataset, plan: run.Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    tended: list[datetime] = []
    asked: list[datetime] = []
    tend, recall = Memory.tend, ScopedMemory.recall

    def tending(self: Memory) -> Any:
        tended.append(self.clock.now())
        return tend(self)

    def asking(self: ScopedMemory, query: str, **given: Any) -> Any:
        asked.append(self._work.clock.now())
        return recall(self, query, **given)

    monkeypatch.setattr(Memory, "tend", tending)
    monkeypatch.setattr(ScopedMemory, "recall", asking)
    result = run.run(locomo, plan, silent)
    last = max(session.at for session in locomo.people[0].sessions)
    assert tended == [last + timedelta(days=days) for days in (7, 14, 20)]
    assert set(asked) == {last + timedelta(days=20)}
    assert result["settings"]["age_days"] == 20
    assert result["turn"]["any@10"] == 1
    run.run(locomo, plan, silent)
    assert len(tended) == 3


def test_without_age_it_is_asked_at_its_date(locomo: datasets.Dataset, plan: run.Plan) -> None:
    assert aged_to(locomo, 0) is None
    young = run.run(locomo, replace(plan, age_days=0), silent)
    old = run.run(locomo, plan, silent)
    assert young["settings"]["store_key"] != old["settings"]["store_key"]
    assert "tended" not in young


def test_a_server_does_not_grow_old(locomo: datasets.Dataset, plan: run.Plan) -> None:
    with pytest.raises(SettingsError, match="give --db a folder"):
        run.run(locomo, replace(plan, db="postgresql://nowhere/none"), silent)
