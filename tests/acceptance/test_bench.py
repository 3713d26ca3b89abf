"""`recollect bench latency`: its shape, and that it measures the product. Speed is not tested."""

import json
import sqlite3
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from recollect import ScopedMemory
from recollect.bench import command
from recollect.bench.corpus import DIMENSIONS, Corpus
from recollect.bench.judge import judged
from recollect.bench.latency import QUICK, Plan, run
from recollect.bench.measure import is_busy
from recollect.bench.recalling import build_crowd
from recollect.bench.show import show
from recollect.bench.sqlite import BareCopy, BareSearch, SqlitePlace
from recollect.bench.subject import USER, ask, fill, open_memory

pytestmark = pytest.mark.slow

TINY = replace(QUICK, sizes=(60, 120), others=150, queries=4, batch_rows=150, single_turns=4, starts=1)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, int], Path]:
    """One tiny run, with the calls of the product counted."""
    calls = {"recall": 0, "record": 0, "record_many": 0}
    with pytest.MonkeyPatch.context() as patch:
        for name in calls:
            patch.setattr(ScopedMemory, name, _counted(name, getattr(ScopedMemory, name), calls))
        folder = tmp_path_factory.mktemp("bench")
        return run(SqlitePlace(folder), TINY, lambda name, total: lambda count: None), calls, folder


def _counted(name: str, verb: Any, calls: dict[str, int]) -> Any:
    def wrapped(self: ScopedMemory, *args: Any, **kwargs: Any) -> Any:
        calls[name] += 1
        return verb(self, *args, **kwargs)

    return wrapped


def test_every_part_is_there(ran: tuple[dict[str, Any], dict[str, int], Path]) -> None:
    result, _, _ = ran
    assert list(result) == ["settings", "recall", "whole", "others", "chat", "record", "startup", "targets"]
    assert json.loads(json.dumps(result)) == result
    assert [row["rows"] for row in result["recall"]] == list(TINY.sizes)
    assert [row["rows"] for row in result["others"]["recall"]] == list(TINY.sizes)
    assert [row["rows"] for row in result["chat"]["recall"]] == list(TINY.sizes)
    assert result["settings"]["dimensions"] == DIMENSIONS == 384
    assert result["others"]["rows"] == TINY.others
    assert result["others"]["complete"]


def test_the_product_was_measured(ran: tuple[dict[str, Any], dict[str, int], Path]) -> None:
    result, calls, folder = ran
    alone_and_crowd_and_chat = TINY.queries * len(TINY.sizes) * (1 + 2 + 4)
    assert calls["recall"] >= alone_and_crowd_and_chat
    assert calls["record"] >= TINY.single_turns * 9
    assert calls["record_many"] >= TINY.queries * len(TINY.sizes)
    for size in TINY.sizes:
        with sqlite3.connect(folder / f"alone-{size}.db") as file:
            turns, chunks, vectors = (
                file.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                for table in ("turns", "chunks", "vectors WHERE vector IS NOT NULL")
            )
            by_second = file.execute("SELECT count(*) FROM turns WHERE conversation LIKE 'second-%'")
            assert by_second.fetchone()[0] == TINY.queries + 1
        file.close()
        assert turns == chunks == vectors == size + 2 * (TINY.queries + 1)
    assert all(row["hits_in_bare_top"] == 1 for row in result["recall"])


def about(ratio: float) -> Any:
    """What it is when it, and the figures it is of, are rounded."""
    return pytest.approx(ratio, rel=0.02, abs=0.001)


def test_ratios_are_those_of_the_figures_beside_them(
    ran: tuple[dict[str, Any], dict[str, int], Path],
) -> None:
    result, _, _ = ran
    for row in result["recall"]:
        assert row["ratio_p50"] == about(row["p50_ms"] / row["bare_p50_ms"])
        assert row["ratio_p95"] == about(row["p95_ms"] / row["bare_p95_ms"])
    for row in result["others"]["recall"]:
        assert row["ratio_p50"] == about(row["p50_ms"] / row["alone_p50_ms"])
    for row in result["chat"]["recall"]:
        for way in ("same_process", "second_process"):
            expected = row[f"{way}_p50_ms"] / row["undisturbed_p50_ms"]
            assert row[f"{way}_ratio"] == about(expected)
    batches, single = result["record"]["batches"], result["record"]["one_by_one"]
    assert batches["ratio"] == about(batches["rows_per_s"] / batches["bare_rows_per_s"])
    assert single["ratio"] == about(single["per_s"] / single["bare_per_s"])
    assert single["threads_ratio"] == about(single["threads_per_s"] / single["bare_per_s"])


def test_targets_say_what_was_wanted(ran: tuple[dict[str, Any], dict[str, int], Path]) -> None:
    targets = ran[0]["targets"]
    limits = {(t["wanted"], t["limit"]) for t in targets if "new process" not in t["name"]}
    at_most, at_least = {2, 3, 1.5, 1.3, 0.3}, {0.5, 0.8, 3}
    assert limits == {("at most", x) for x in at_most} | {("at least", x) for x in at_least}
    for target in judged(ran[0], SqlitePlace.limits):
        met = target.value <= target.limit
        assert target.ok == (met if target.wanted == "at most" else target.value >= target.limit)
    assert [t.name for t in judged(ran[0], SqlitePlace.limits)] == [t["name"] for t in targets]


def shown(result: dict[str, Any]) -> str:
    console = Console(record=True, width=160, file=StringIO())
    show(console, result)
    return console.export_text()


def test_a_quick_run_is_not_judged(ran: tuple[dict[str, Any], dict[str, int], Path]) -> None:
    result, _, _ = ran
    assert {target["ok"] for target in result["targets"]} == {None}
    printed = shown(result)
    assert "too small to judge" in printed
    assert "missed" not in printed
    whole = {**result, "settings": {**result["settings"], "quick": False}}
    assert "too small to judge" not in shown(whole)
    assert "missed" in shown(whole)


def test_both_baselines_of_recording_one_by_one_are_shown(
    ran: tuple[dict[str, Any], dict[str, int], Path],
) -> None:
    single = ran[0]["record"]["one_by_one"]
    assert single["same_rows_ratio"] == about(single["per_s"] / single["bare_same_rows_per_s"])
    printed = shown(ran[0])
    assert "bare commits, one small row each" in printed
    assert "bare commits, the same rows each" in printed


def test_a_busy_machine_is_said_to_be(ran: tuple[dict[str, Any], dict[str, int], Path]) -> None:
    assert is_busy([1.5, 0, 0], 2)
    assert not is_busy([1.4, 9, 9], 2)
    assert not is_busy([], 2)
    for busy in (True, False):
        settings = {**ran[0]["settings"], "busy": busy, "load_before": [3, 3, 3]}
        assert ("not to be trusted" in shown({**ran[0], "settings": settings})) == busy


def test_the_bare_search_and_recall_find_the_same(tmp_path: Path) -> None:
    corpus = Corpus()
    rows = corpus.rows(300, stream=1)
    bare = BareSearch(tmp_path / "bare.db", rows)
    with open_memory(str(tmp_path / "ours.db")) as memory:
        fill(memory.scope(USER), rows)
        for query in corpus.queries(rows, 5):
            found = {hit.content for hit in ask(memory.scope(USER), query).hits}
            assert found
            assert found <= {rows.texts[row] for row in bare.search(query).rows}
    bare.close()


def test_the_bare_copy_holds_the_very_rows(tmp_path: Path) -> None:
    rows = Corpus().rows(120, stream=1)
    with open_memory(str(tmp_path / "ours.db")) as memory:
        fill(memory.scope(USER), rows)
    copy = BareCopy(tmp_path / "copy.db", tmp_path / "ours.db")
    for start in range(0, copy.count, 50):
        copy.insert(start, start + 50)
    copy.close()
    ours, theirs = (sqlite3.connect(tmp_path / name) for name in ("ours.db", "copy.db"))
    for table in ("turns", "chunks", "vectors", "texts"):
        query = f"SELECT * FROM {table} ORDER BY 1, 2" if table != "texts" else "SELECT rowid, * FROM texts"
        assert ours.execute(query).fetchall() == theirs.execute(query).fetchall() != []
    indexes = "SELECT name FROM sqlite_master WHERE type = 'index' ORDER BY name"
    assert ours.execute(indexes).fetchall() == theirs.execute(indexes).fetchall()
    ours.close()
    theirs.close()


def test_the_same_seed_gives_the_same_rows() -> None:
    first, second = Corpus().rows(20, stream=1), Corpus().rows(20, stream=1)
    assert first.texts == second.texts
    assert (first.vectors == second.vectors).all()
    assert first.texts != Corpus().rows(20, stream=2).texts
    assert abs((first.vectors**2).sum(axis=1) - 1).max() < 1e-5


def test_patience_ends_and_the_output_says_so(tmp_path: Path) -> None:
    with open_memory(str(tmp_path / "crowd.db")) as memory:
        others = build_crowd(memory, Corpus(), [], others=2000, patience=0, advance=lambda count: None)
    assert not others["complete"]
    assert (others["rows"], others["wanted"]) == (1000, 2000)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, Plan]]:
    """The command without its work: what it asks for."""
    plans: list[tuple[Path, Plan]] = []

    def note(place: SqlitePlace, plan: Plan, stage: Any) -> dict[str, Any]:
        assert place.folder.is_dir()
        plans.append((place.folder, plan))
        return {"targets": []}

    monkeypatch.setattr(command, "run", note)
    return plans


def test_the_command_runs_what_it_is_told(asked: list[tuple[Path, Plan]], tmp_path: Path) -> None:
    told = ["latency", "--json", "--sizes", "10,20", "--others", "0", "--queries", "3", "--db", str(tmp_path)]
    done = CliRunner().invoke(command.app, told)
    assert (done.exit_code, json.loads(done.stdout)) == (0, {"targets": []})
    ((folder, plan),) = asked
    assert (plan.sizes, plan.others, plan.queries) == ((10, 20), 0, 3)
    assert folder.parent == tmp_path
    assert folder.is_dir()


def test_the_temporary_folder_is_gone_afterwards(asked: list[tuple[Path, Plan]]) -> None:
    assert CliRunner().invoke(command.app, ["latency", "--quick", "--json"]).exit_code == 0
    ((folder, plan),) = asked
    assert plan == QUICK
    assert not folder.exists()


@pytest.mark.parametrize("sizes", ["ten", "0,5", "5,5"])
def test_sizes_that_make_no_sense_are_refused(asked: list[tuple[Path, Plan]], sizes: str) -> None:
    assert CliRunner().invoke(command.app, ["latency", "--sizes", sizes]).exit_code == 2
    assert not asked
