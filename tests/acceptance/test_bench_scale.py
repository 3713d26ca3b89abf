"""`recollect bench scale`, very small: its shape, and that its ratios are of what was run."""

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import psycopg
import pytest
from rich.console import Console
from typer.testing import CliRunner

from recollect import Recollection, ScopedMemory
from recollect.bench import command
from recollect.bench.corpus import Corpus
from recollect.bench.scale import run as running
from recollect.bench.scale.crowd import Size
from recollect.bench.scale.faults import Load
from recollect.bench.scale.milvus import agreement
from recollect.bench.scale.options import Options, Unavailable, at_least, at_most, scaled
from recollect.bench.scale.report import plot, show
from recollect.bench.subject import open_memory
from tests.contract.postgres import started

PART = {"engine", "growth", "seconds"}
SPENT = {"a turn, alone", "a turn, in a batch of 100", "mining a turn by rules", "a fact"}


def silent(name: str, total: int) -> Any:
    return lambda count: None


def tiny(folder: Path, **given: Any) -> Options:
    few: dict[str, Any] = {
        "users": 24,
        "memories": 10,
        "large": 240,
        "file_rows": 400,
        "queries": 3,
        "ingested": 3000,
    }
    few |= {"threads": 2, "quick": True}
    return Options(folder=folder, stage=silent, **{**few, **given})


def close(value: float, above: float, below: float) -> bool:
    return value == pytest.approx(above / below, rel=0.05, abs=0.001)


def check_growth(growth: list[dict[str, Any]], rows: int) -> None:
    sizes = [row["rows"] for row in growth]
    assert sizes == sorted(set(sizes))
    assert sizes[-1] == rows
    for row in growth:
        small = row["small"]
        assert close(small["ratio_p50"], small["p50_ms"], small["alone_p50_ms"])
        assert 0 < row["large"]["p50_ms"] <= row["large"]["p95_ms"]
        assert row["ingest_rows_per_s"] > 0
        assert row["bytes_a_row"] == pytest.approx(row["mb"] * 2**20 / row["rows"], rel=0.01)


def check_costs(costs: dict[str, Any]) -> None:
    for what in ("bytes_a_turn", "bytes_a_fact"):
        *tables, whole = costs[what].values()
        assert whole == pytest.approx(sum(tables))
        assert {"turns", "vectors", "chunks"} < costs[what].keys()
    assert costs["bytes_a_fact"]["memories"] > 0
    assert costs["processor_ms"].keys() > SPENT
    assert all(spent["here"] > 0 for spent in costs["processor_ms"].values())


def test_growth_goes_from_little_to_all_of_it_in_proportion() -> None:
    steps = Size(10_000, 100, 200_000).steps()
    assert [step.rows for step in steps] == [pytest.approx(n, rel=0.01) for n in
        (10_000, 50_000, 200_000, 600_000, 1_200_000)]  # fmt: skip
    assert all(step.large * 5 == pytest.approx(step.users * 100, rel=0.02) for step in steps)
    assert scaled({"folder": Path(), "stage": silent}, 1_200_000) == Options(folder=Path(), stage=silent)


def test_a_part_that_cannot_run_says_why_and_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(options: Options) -> dict[str, Any]:
        raise Unavailable("There is no such server here.")

    def found(options: Options) -> dict[str, Any]:
        return {"checks": {"low": at_most(2, 1), "high": at_least(2, 1)}, "costs": {"a": 1}, "seen": 3}

    monkeypatch.setattr(running, "PARTS", {"missing": missing, "found": found})
    result = running.run(["missing", "found"], tiny(tmp_path, quick=False))
    assert result["skipped"] == {"missing": "There is no such server here."}
    assert result["parts"]["found"].keys() == {"seen", "seconds"}
    assert result["costs"] == {"found": {"a": 1}}
    assert result["checks"]["found"] == {
        "low": {"value": 2, "target": "at most 1", "ok": False},
        "high": {"value": 2, "target": "at least 1", "ok": True},
    }
    quick = running.run(["found"], tiny(tmp_path))
    assert {check["ok"] for check in quick["checks"]["found"].values()} == {None}


def test_an_unknown_part_is_refused() -> None:
    done = CliRunner().invoke(command.app, ["scale", "--part", "nothing"])
    assert done.exit_code == 2
    assert "nothing" in done.output


def test_a_recall_without_what_was_just_said_is_a_request_that_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_memory(str(tmp_path / "memory.db")) as memory:
        well = Load(memory, Corpus().rows(20, stream=9))
        with well.going_on():
            well.wait_for(8)
        assert (well.failed, well.asked >= 8) == ([], True)
        nothing = Recollection(query="asked", problems=("Nothing recalled: the database is away.",))
        monkeypatch.setattr(ScopedMemory, "recall", lambda *_, **__: nothing)
        badly = Load(memory, well.rows)
        with badly.going_on():
            badly.wait_for(8)
        assert badly.asked == 0
        assert "the database is away" in badly.failed[0]


def test_both_found_the_same_where_all_of_it_is() -> None:
    one, other = {str(n) for n in range(10)}, {str(n) for n in range(1, 11)}
    assert agreement([(one, one), (one, other), (one, {*one}), (set(), set())]) == 0.5
    assert agreement([]) == 0.0


@pytest.mark.slow
def test_one_file(tmp_path: Path) -> None:
    result = running.run(["sqlite"], tiny(tmp_path))
    part = result["parts"]["sqlite"]
    assert part.keys() == PART
    check_growth(part["growth"], 400)
    check_costs(result["costs"]["sqlite"])
    assert json.loads(json.dumps(result)) == result
    out = StringIO()
    show(Console(file=out, width=200), result)
    assert "SQLite" in out.getvalue()
    pytest.importorskip("matplotlib")
    drawn = plot(result, tmp_path / "drawn")
    assert drawn is not None
    assert [path.stat().st_size > 10_000 for path in drawn] == [True]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with started() as address:
        yield address


@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.timeout(900)  # databases of a thousand tables each
def test_a_server(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.bench.scale.copying.BLOCK", 200)
    result = running.run(["postgres"], tiny(tmp_path, db=server, ingested=600))
    part = result["parts"]["postgres"]
    assert part.keys() == PART | {"server", "indexed", "index_break_even_rows", "ingestion"}
    check_growth(part["growth"], 480)
    check_costs(result["costs"]["postgres"])
    (indexed,) = part["indexed"]
    assert indexed["indexes_made"] == 1
    assert indexed["recall_at_10"] >= 0.98
    assert close(indexed["ratio_p50"], indexed["by_vector"]["p50_ms"], indexed["by_vector_exact"]["p50_ms"])
    for one in part["ingestion"].values():
        assert close(one["ratio"], one["rows_per_s"], one["copy_rows_per_s"])
    out = StringIO()
    show(Console(file=out, width=200), result)
    assert "COPY" in out.getvalue()
    with psycopg.connect(server) as connection:
        left = connection.execute("SELECT datname FROM pg_database WHERE datname LIKE 'recollect_bench_%'")
        assert left.fetchall() == []
