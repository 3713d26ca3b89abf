"""Mining as a step of the quality benchmarks: whom it was done for already, and where that is kept."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recollect import ScopedMemory
from recollect.bench.quality import datasets, run
from recollect.errors import RecollectError, SettingsError
from recollect.model.mined import Mined
from tests.unit.test_bench_quality import lme_item, silent


@pytest.fixture
def lme(tmp_path: Path) -> Path:
    path = tmp_path / "lme.json"
    path.write_text(json.dumps([lme_item(n) for n in range(8)]))
    return path


@pytest.fixture
def plan(tmp_path: Path) -> run.Plan:
    return run.Plan(cache=tmp_path / "cache", db=str(tmp_path / "stores"), embedder="hashing", top_k=10)


def test_what_is_mined_is_kept_and_found_by_its_turns(lme: Path, plan: run.Plan) -> None:
    data = datasets.longmemeval(lme, "pool")
    mining = replace(plan, mine="rules")
    first, again = (run.run(data, replace(mining, until="mine"), silent)["mined"] for _ in range(2))
    assert first["turns"] == 8 * 2
    assert first["added"] >= 8
    assert set(again.values()) == {0}
    result = run.run(data, mining, silent)
    assert result["turn"]["any@1"] == 1
    assert result["settings"]["mine"] == "rules"
    assert result["records"]["turn"] == 8 * 2
    assert result["records"]["fact"] == first["added"]


def test_a_run_killed_while_it_mines_goes_on(
    lme: Path, plan: run.Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = datasets.longmemeval(lme, "s48")
    users: list[str] = []
    mine = ScopedMemory.mine

    def dying(self: ScopedMemory, **options: Any) -> Any:
        users.append(self.scope.user)
        if len(users) == 4:
            mine(self, self.conversations()[0].id)
            raise KeyboardInterrupt
        return mine(self, **options)

    monkeypatch.setattr(ScopedMemory, "mine", dying)
    mining = replace(plan, mine="rules", until="mine")
    with pytest.raises(KeyboardInterrupt):
        run.run(data, mining, silent)
    assert run.run(data, mining, silent)["mined"]["turns"] == 5 * 8 * 2 - 2
    assert len(users) == 4 + 5
    assert users[3] == users[4]


def test_a_problem_ends_the_run(lme: Path, plan: run.Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = [Mined(conversation="s1", problem="no answer")]
    monkeypatch.setattr(ScopedMemory, "mine", lambda self, **options: failed)
    with pytest.raises(RecollectError, match="no answer"):
        run.run(datasets.longmemeval(lme, "pool"), replace(plan, mine="rules"), silent)


def test_what_is_mined_has_a_store_of_its_own(
    lme: Path, plan: run.Plan, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    data = datasets.longmemeval(lme, "pool")
    off, rules = (run.run(data, replace(plan, mine=mode), silent) for mode in ("off", "rules"))
    monkeypatch.setenv("RECOLLECT_PII", "off")
    other = run.run(data, replace(plan, mine="rules"), silent)
    assert len({told["settings"]["store_key"] for told in (off, rules, other)}) == 3
    assert len([*(tmp_path / "stores").glob("*.db")]) == 3


def test_a_model_that_is_to_mine_has_to_be_there(lme: Path, plan: run.Plan) -> None:
    with pytest.raises(SettingsError, match="RECOLLECT_MODEL"):
        run.run(datasets.longmemeval(lme, "pool"), replace(plan, mine="model"), silent)
    assert not Path(plan.db).exists()
