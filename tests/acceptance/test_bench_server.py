"""`recollect bench gateway` and `recollect bench load`: their shape, and that they measure the product.
Speed is not tested."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from recollect.bench import command
from recollect.bench.gateway.measure import WAYS

pytestmark = pytest.mark.slow

pytest.importorskip("fastapi")
pytest.importorskip("httpx")

MISSED = 1
"""How it exits when a target is missed, as it may on a busy machine."""


def run(folder: Path, *arguments: str) -> dict[str, Any]:
    options = ["--memories", "100", "--embedder", "hashing", "--db", str(folder), "--json"]
    ran = CliRunner().invoke(command.app, [*arguments, *options])
    assert ran.exit_code in (0, MISSED), ran.output
    result = json.loads(ran.stdout)
    missed = [target for target in result["targets"] if not target["ok"]]
    assert ran.exit_code == (MISSED if missed else 0)
    return result


def test_the_gateway(tmp_path: Path) -> None:
    result = run(tmp_path, "gateway", "--questions", "5")
    assert [*result["ways"]] == [*result["chunks"]] == [*WAYS]
    assert result["injected"] == 1
    for way in WAYS:
        times = result["ways"][way]
        assert 0 < times["first"]["p50_ms"] <= times["total"]["p50_ms"]
        assert len(result["chunks"][way]["by_chunk_p50_ms"]) == result["settings"]["chunks"]
    assert result["recall"]["p50_ms"] > 0
    assert len(result["targets"]) == 5


def test_the_load_and_a_short_soak(tmp_path: Path) -> None:
    result = run(tmp_path, "load", "--questions", "20", "--clients", "4", "--rounds", "1", "--soak", "2")
    for name in ("embedder", "embedder_singly", "server", "in_process", "server_with_vectors"):
        assert result[name]["per_second"] > 0
    soak = result["soak"]
    assert (soak["errors"], soak["first_errors"]) == (0, [])
    assert {*soak["requests"]} == {"record", "recall", "gateway", "forget"}
    assert len(soak["rss_mb"]) == 201
    found = {target["name"]: target["ok"] for target in result["targets"]}
    assert found["errors"]
    assert found["soak: errors"]


def test_both_are_shown(tmp_path: Path) -> None:
    options = ("--memories", "50", "--embedder", "hashing", "--db", str(tmp_path))
    shown = CliRunner().invoke(command.app, ["load", "--questions", "8", "--rounds", "1", *options])
    assert "the server, with vectors" in shown.output
    shown = CliRunner().invoke(command.app, ["gateway", "--questions", "2", *options])
    assert "recall in process" in shown.output


@pytest.mark.parametrize(("name", "questions"), [("gateway", "200"), ("load", "1000")])
def test_help_shows_what_is_usual(name: str, questions: str) -> None:
    shown = CliRunner(env={"COLUMNS": "200"}).invoke(command.app, [name, "--help"]).output
    assert "default: 10000" in shown
    assert f"default: {questions}" in shown
