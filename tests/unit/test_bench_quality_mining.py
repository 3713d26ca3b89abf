"""Mining as a step of the quality benchmarks: whom it was done for already, and where that is kept."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from recollect import ScopedMemory
from recollect.bench.quality import datasets, run
from recollect.errors import SettingsError
from tests.unit.test_bench_quality import lme_item, silent


@pytest.fixture
def lme(tmp_path: Path) -> Path:
    path = tmp_path / "lme.json"
    path.write_text(json.dumps([lme_item(n) for n in range(8)]))
    return path


@pytest.fixture
def plan(tmp_path: Path) -> run.Plan:
    return run.Plan(cache=tmp_path / "cache", db=str(tmp_path / "stores"), embedder="hashing", top_k=10)


def test_a_run_killed_while_it_mines_goes_on(
    lme: Path, plan: run.Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = datasets.longmemeval(lme, "s48")
    users: list[str] = []

    def dying(self: ScopedMemory) -> list[str]:
        users.append(self.scope.user)
        if len(users) == 4:
            raise KeyboardInterrupt
        return ["one", "two"]

    monkeypatch.setattr(ScopedMemory, "mine", dying, raising=False)
    mining = replace(plan, mine="rules", until="mine")
    with pytest.raises(KeyboardInterrupt):
        run.run(data, mining, silent)
    assert run.run(data, mining, silent)["mined"] == 2 * 5
    assert len(users) == 4 + 5
    assert users[3] == users[4]
    assert run.run(data, mining, silent)["mined"] == 0


def test_what_is_mined_has_a_store_of_its_own(
    lme: Path, plan: run.Plan, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(ScopedMemory, "mine", lambda self: [], raising=False)
    data = datasets.longmemeval(lme, "pool")
    off, rules = (run.run(data, replace(plan, mine=mode), silent) for mode in ("off", "rules"))
    assert off["settings"]["store_key"] != rules["settings"]["store_key"]
    assert (off["settings"]["mine"], rules["settings"]["mine"]) == ("off", "rules")
    assert len([*(tmp_path / "stores").glob("*.db")]) == 2


def test_a_model_that_is_to_mine_has_to_be_there(lme: Path, plan: run.Plan) -> None:
    with pytest.raises(SettingsError, match="RECOLLECT_MODEL"):
        run.run(datasets.longmemeval(lme, "pool"), replace(plan, mine="model"), silent)
    assert not Path(plan.db).exists()
