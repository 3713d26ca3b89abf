"""How much a deployment needs, worked out."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from recollect.capacity import BUSY, Costs, Load, Spent, advice, costs_of, plan
from recollect.capacity_measured import MEASURED
from recollect.cli import app
from recollect.errors import Invalid

COSTS = Costs(
    turn_bytes=1000,
    fact_bytes=2000,
    turn=Spent(0.001, 0.001),
    mine=Spent(0.01),
    recalls=((100, Spent(0.002, 0.001)), (1100, Spent(0.012, 0.011))),
    embed=0.005,
    rows=1_000_000,
)


def figures(load: Load, costs: Costs = COSTS) -> dict[str, float]:
    return {figure.name: figure.value for figure in plan(load, costs)}


def basis(load: Load, name: str) -> str:
    return next(figure.basis for figure in plan(load, COSTS) if figure.name == name)


def test_it_is_worked_out_from_what_one_turn_costs() -> None:
    found = figures(Load(users=100, turns=10, days=10, facts=0.5, recalls=1, peak=2, cores=1))
    assert found["turns stored"] == 10_000
    assert found["facts stored"] == 5_000
    assert found["database"] == pytest.approx((10_000 * 1000 + 5_000 * 2000) / 1e9)
    assert found["turns a second"] == pytest.approx(2 * 1000 / 86_400)
    assert found["chunks of one user"] == 150
    recall = 0.002 + 0.01 * 50 / 1000
    assert found["recalls a second, one machine"] == pytest.approx(BUSY / (recall + 0.005))
    assert found["one recall"] == pytest.approx((recall + 0.001 + 0.01 * 50 / 1000 + 0.005) * 1000)


def test_it_says_what_was_measured_and_what_was_not() -> None:
    small, large = Load(users=10, turns=1), Load(users=100_000, turns=1)
    assert (basis(small, "database"), basis(large, "database")) == ("measured", "extrapolated")
    talkative = Load(users=1, turns=10)
    assert (basis(small, "one recall"), basis(talkative, "one recall")) == ("measured", "extrapolated")
    assert {basis(load, "turns stored") for load in (small, large)} == {"assumed"}


def test_one_file_is_not_for_everybody() -> None:
    assert advice(Load(users=10, turns=1), COSTS, "sqlite") == []
    (told,) = advice(Load(users=10_000_000, turns=1, days=1), COSTS, "sqlite")
    assert "postgresql" in told
    assert advice(Load(users=10_000_000, turns=1, days=1), COSTS, "postgresql") == []


LOADS = st.builds(
    Load,
    users=st.integers(1, 10**10),
    turns=st.floats(0.01, 1000),
    days=st.floats(1, 10_000),
    facts=st.floats(0, 2),
    recalls=st.floats(0, 5),
    cores=st.integers(1, 512),
)


@given(LOADS, st.sampled_from(sorted(MEASURED)))
def test_more_users_never_need_less(load: Load, store: str) -> None:
    costs = MEASURED[store]
    twice = Load(
        **{name: getattr(load, name) for name in Load.__dataclass_fields__} | {"users": 2 * load.users}
    )
    one, two = figures(load, costs), figures(twice, costs)
    assert all(two[name] >= one[name] for name in one)
    assert min(one.values()) >= 0
    assert one["machines with the database"] >= 1


def test_what_was_measured_unevenly_never_makes_a_recall_cost_less_than_nothing() -> None:
    uneven = replace(COSTS, recalls=((100, Spent(0.005, 0.005)), (300, Spent(0.0049, 0.0048))))
    assert uneven.recall(1_000_000) == Spent(0.005, 0.005)


@pytest.mark.parametrize("sizes", [["100"], []])
def test_costs_of_one_size_are_refused(sizes: list[str]) -> None:
    recalls = (f"a recall among {size}" for size in sizes)
    names = ("a turn, alone", "mining a turn by rules", "a vector", *recalls)
    spent = {name: {"here": 1.0} for name in names}
    told = {"processor_ms": spent, "bytes_a_turn": {"all": 1}, "bytes_a_fact": {"all": 1}}
    with pytest.raises(Invalid, match="two different numbers of rows"):
        costs_of({"costs": {"sqlite": told}, "settings": {"file_rows": 1}}, "sqlite")


@pytest.mark.parametrize("given", [{"turns": 0}, {"days": float("nan")}, {"cores": -1}, {"peak": 1e13}])
def test_what_cannot_be_is_refused(given: dict[str, float]) -> None:
    with pytest.raises(Invalid, match="must be above 0"):
        plan(Load(**{"users": 1, "turns": 1, **given}), COSTS)


def test_costs_that_were_measured_here(tmp_path: Path) -> None:
    told = {
        "bytes_a_turn": {"turns": 900, "all": 1000},
        "bytes_a_fact": {"all": 2000},
        "processor_ms": {
            "a recall among 1,100": {"here": 12, "server": 11},
            "a recall among 100": {"here": 2, "server": 1},
            "a turn, alone": {"here": 1, "server": 1},
            "mining a turn by rules": {"here": 10},
            "a vector": {"here": 5},
        },
    }
    document = {"costs": {"postgres": told}, "settings": {"rows": 1_000_000}}
    assert costs_of(document, "postgresql") == COSTS
    for wrong in ({}, {"costs": []}, document | {"settings": {}}):
        with pytest.raises(Invalid, match="bench scale --json"):
            costs_of(wrong, "postgresql")
    path = tmp_path / "costs.json"
    path.write_text(json.dumps(document))
    asked = ["capacity", "--users", "1e6", "--turns", "20", "--json", "--costs", str(path)]
    found = json.loads(CliRunner().invoke(app, asked).stdout)
    wanted = plan(Load(users=10**6, turns=20), COSTS)
    assert [(f["name"], f["value"]) for f in found["figures"]] == [(f.name, f.value) for f in wanted]
    path.write_text("nothing")
    assert CliRunner().invoke(app, asked).exit_code != 0


def test_it_tells_people() -> None:
    found = CliRunner().invoke(app, ["capacity", "--users", "1e9", "--turns", "5"])
    assert found.exit_code == 0
    assert "extrapolated" in found.stdout
    assert CliRunner().invoke(app, ["capacity", "--users", "0", "--turns", "5"]).exit_code != 0
