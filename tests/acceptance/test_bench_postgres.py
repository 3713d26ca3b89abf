"""`recollect bench latency --db postgresql://…`: its shape, and that it leaves nothing behind."""

import json
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from typing import Any

import psycopg
import pytest
from rich.console import Console
from sqlalchemy import make_url
from typer.testing import CliRunner

from recollect.bench import command
from recollect.bench.corpus import Corpus
from recollect.bench.latency import QUICK, run
from recollect.bench.postgres import BareSearch, scratch
from recollect.bench.show import show
from recollect.bench.subject import USER, ask, fill, open_memory
from recollect.errors import StoreUnavailable
from tests.contract.postgres import opened, started

pytestmark = pytest.mark.engine

TINY = replace(QUICK, sizes=(60, 120), others=150, queries=3, batch_rows=150, single_turns=4, starts=1)
BY_HAND = {*(f"bare-{size}" for size in TINY.sizes), "commits", "flush"}
"""Databases that the product makes no tables in."""
FILTERS = "kinds channel agent conversation exclude_conversation roles as_of min_confidence"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with started() as address:
        yield address


def databases(server: str) -> list[str]:
    with psycopg.connect(server) as connection:
        return [name for (name,) in connection.execute("SELECT datname FROM pg_database").fetchall()]


@pytest.fixture(scope="module")
def ran(server: str) -> dict[str, Any]:
    before = databases(server)
    with scratch(server) as place:
        new, made = place.database, place.database("made")
        opened(made).close()
        # Copies of one: making a thousand tables takes several times as long.
        place.database = lambda name, **given: new(name) if name in BY_HAND else new(name, like=made)
        result = run(place, TINY, lambda name, total: lambda count: None)
        assert len(databases(server)) > len(before)
    assert databases(server) == before
    return result


def about(ratio: float) -> Any:
    """What it is when it, and the figures it is of, are rounded."""
    return pytest.approx(ratio, rel=0.02, abs=0.001)


@pytest.mark.timeout(600)  # a dozen databases of a thousand tables each
def test_every_part_is_there(ran: dict[str, Any]) -> None:
    assert list(ran) == [
        *("settings", "recall", "whole", "found", "others", "chat", "record", "startup", "targets")
    ]
    assert json.loads(json.dumps(ran)) == ran
    assert ran["settings"]["engine"].startswith("PostgreSQL ")
    for part in (ran["recall"], ran["others"]["recall"], ran["chat"]["recall"]):
        assert [row["rows"] for row in part] == list(TINY.sizes)
    for row in ran["recall"]:
        assert row["ratio_p50"] == about(row["p50_ms"] / row["bare_p50_ms"])
        steps = sum(row[f"bare_{step}_p50_ms"] for step in ("scan", "fts", "fetch"))
        assert 0 < steps < 2 * row["bare_p95_ms"]
    batches = ran["record"]["batches"]
    assert batches["ratio"] == about(batches["rows_per_s"] / batches["bare_rows_per_s"])
    assert ran["record"]["one_by_one"]["bare_same_rows_per_s"] > 0


def test_filters_find_what_there_is(ran: dict[str, Any]) -> None:
    assert list(ran["found"]["ways"]) == ["exact", "indexed"]
    for cases in ran["found"]["ways"].values():
        assert {*FILTERS.split(), "nothing", "since, until"} == cases.keys()
        for name, case in cases.items():
            assert case["passing"] > 0, name
            assert case["recall_at_10"] >= 0.9, name


def test_targets_are_those_of_a_server(ran: dict[str, Any]) -> None:
    limits = {target["limit"] for target in ran["targets"] if "seconds" not in target["name"]}
    assert limits == {1.5, 1.3, 0.5, 0.98}


def test_it_can_be_shown(ran: dict[str, Any]) -> None:
    console = Console(record=True, width=160, file=StringIO())
    show(console, ran)
    printed = console.export_text()
    assert "PostgreSQL " in printed
    assert "What filters find" in printed


def test_the_bare_search_and_recall_find_the_same(server: str) -> None:
    corpus = Corpus()
    rows = corpus.rows(300, stream=1)
    with scratch(server) as place, open_memory(place.database("ours")) as memory:
        bare = BareSearch(place.database("bare"), rows)
        fill(memory.scope(USER), rows)
        for query in corpus.queries(rows, 5):
            found = [hit.content for hit in ask(memory.scope(USER), query).hits]
            known = {rows.texts[row] for row in bare.search(query).rows}
            assert found
            assert sum(content in known for content in found) >= len(found) - 1  # ranked by other rules
        bare.close()


def test_the_scratch_database_is_gone_after_a_failure(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(place: Any, plan: Any, stage: Any) -> None:
        place.database("some")
        assert any(name.startswith("recollect_bench_") for name in databases(server))
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "run", fail)
    before = databases(server)
    assert CliRunner().invoke(command.app, ["latency", "--db", server]).exit_code != 0
    assert databases(server) == before


def test_a_login_that_may_not_make_databases_is_told_so(server: str) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS recollect_bench_reader")
        connection.execute("CREATE ROLE recollect_bench_reader LOGIN PASSWORD 'reader'")
    address = make_url(server).set(username="recollect_bench_reader", password="reader")
    with (
        scratch(address.render_as_string(hide_password=False)) as place,
        pytest.raises(StoreUnavailable, match="CREATEDB"),
    ):
        place.database("some")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP ROLE recollect_bench_reader")


def test_a_server_that_is_not_there_is_an_error_without_its_password() -> None:
    with (
        pytest.raises(StoreUnavailable, match="cannot be reached") as told,
        scratch("postgresql://somebody:hidden@127.0.0.1:1/nothing") as place,
    ):
        place.database("some")
    assert "hidden" not in str(told.value)
