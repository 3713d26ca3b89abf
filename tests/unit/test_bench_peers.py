"""The comparison with other systems, on data of our own making: what goes to them, what comes back, and
that one which fails is no reason to stop. No other system is needed, but for one that is really installed
in the slow set."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from recollect.bench import command
from recollect.bench.peers import environment, exchange, report
from recollect.bench.peers.command import chosen
from recollect.bench.peers.environment import reason
from recollect.bench.peers.pins import BY_NAME, PEERS, Peer
from recollect.bench.peers.run import Plan, ratios, run
from recollect.bench.peers.runners import harness
from recollect.bench.quality import datasets
from recollect.bench.quality.cache import CachingEmbedder
from recollect.models.hashing import HashingEmbedder

SUBJECTS = ("kiln", "harbour", "violin", "orchard")

# A system in a dozen lines: it remembers the vectors it was given, and asks itself with NumPy.
SCRIPT = """
import harness
import numpy as np

def open_memory(folder, person, filled):
    def fill():
        assert not filled
        np.save(folder / "vectors.npy", person.vectors)
    def search(text, vector, top_k):
        assert (person.vector_of(text) == vector).all()
        scores = np.load(folder / "vectors.npy") @ vector
        return [int(place) for place in np.argsort(-scores)[:top_k]]
    return harness.Memory(fill, search)
"""


def item(number: int) -> dict[str, Any]:
    """A question of LongMemEval's form with the one session that answers it."""
    turns = [
        {"role": "user", "content": f"My {SUBJECTS[number]} has the number {number}.", "has_answer": True},
        {"role": "assistant", "content": "I will keep that in mind."},
        {"role": "user", "content": " "},
    ]
    return {
        "question_id": f"q{number}",
        "question_type": "one",
        "answer": str(number),
        "question": f"What is the number of my {SUBJECTS[number]}?",
        "question_date": "2024/05/30 (Thu) 10:00",
        "haystack_dates": ["2024/05/20 (Mon) 02:21"],
        "haystack_session_ids": [f"s{number}"],
        "haystack_sessions": [turns],
        "answer_session_ids": [f"s{number}"],
    }


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "lme.json"
    path.write_text(json.dumps([item(number) for number in range(4)]))
    return path


@pytest.fixture
def data(file: Path) -> datasets.Dataset:
    return datasets.longmemeval(file, "s48")


@pytest.fixture
def scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Peer]:
    """Makes a system of a script, run by this Python: nothing is installed."""
    folder = tmp_path / "runners"
    folder.mkdir()
    for name in ("harness.py", "start.py"):
        (folder / name).write_text((environment.RUNNERS / name).read_text())
    monkeypatch.setattr(environment, "RUNNERS", folder)
    monkeypatch.setattr(environment, "prepare", lambda *given: Path(sys.executable))

    def make(name: str, script: str = SCRIPT, unit: Any = "turn") -> Peer:
        (folder / f"run_{name}.py").write_text(script)
        return Peer(name, f"run_{name}", (f"{name}==1.0",), unit, True, "by a test")

    return make


def planned(tmp_path: Path, *peers: Peer) -> Plan:
    return Plan(cache=tmp_path / "cache", peers=peers, embedder="hashing", top_k=10)


def silent(name: str, total: int) -> Any:
    return lambda count: None


# What goes out and comes back


def test_a_document_is_a_turn_or_what_the_user_said_in_a_session(data: datasets.Dataset) -> None:
    session = data.people[1].sessions[0]
    turns = [*exchange.documents(session, "turn")]
    assert [(one.index, one.role) for one in turns] == [(0, "user"), (1, "assistant")]
    (whole,) = exchange.documents(session, "session")
    assert (whole.session, whole.index, whole.text) == ("s1", None, "My harbour has the number 1.")
    (mute,) = [replace(session, turns=session.turns[1:2])]
    assert [*exchange.documents(mute, "session")] == []


def test_each_document_is_written_once_with_its_vector(data: datasets.Dataset, tmp_path: Path) -> None:
    with CachingEmbedder(HashingEmbedder(), tmp_path / "vectors") as embedder:
        exchange.write(data, "turn", embedder, tmp_path / "data", silent)
        written = [harness.Document(**line) for line in harness.lines(tmp_path / "data" / "documents.jsonl")]
        vectors = np.load(tmp_path / "data" / "documents.npy")
        assert (vectors == embedder.embed_passages([one.text for one in written])).all()
        asked = np.load(tmp_path / "data" / "questions.npy")
        assert (asked[2] == embedder.embed_query("What is the number of my violin?")).all()
    people = [*harness.lines(tmp_path / "data" / "people.jsonl")]
    assert len(written) == len({*written}) == 8
    assert [len(person["documents"]) for person in people] == [8] * 4  # everybody's own and the others'
    assert [person["questions"][0]["row"] for person in people] == [0, 1, 2, 3]
    exchange.write(data, "turn", None, tmp_path / "data", None)  # type: ignore[arg-type]  # nothing is done


def test_half_a_line_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n{"a":')
    assert [*harness.lines(path)] == [{"a": 1}]
    assert path.read_text() == '{"a": 1}\n'
    assert [*harness.lines(tmp_path / "none.jsonl")] == []


# The run


def test_both_are_asked_and_compared(
    data: datasets.Dataset, tmp_path: Path, scripts: Callable[..., Peer]
) -> None:
    plan = planned(tmp_path, scripts("tiny"), scripts("wide", unit="session"))
    result = json.loads(json.dumps(run(data, plan, silent)))
    ours, tiny, wide = result["systems"]
    assert [one["system"] for one in result["systems"]] == ["recollect", "tiny", "wide"]
    assert {one["session"]["any@5"] for one in result["systems"]} == {1}
    assert ours["turn"]["any@10"] == tiny["turn"]["any@10"] == 1
    assert wide["turn"] is None
    assert wide["interval"]["turn any@10"] is None
    assert (ours["documents"], tiny["documents"], wide["documents"]) == (4 * 8, 4 * 8, 4 * 4)
    assert ours["ingest_s"] is not None
    assert {*result["ratios"]} == {"tiny", "wide"}
    again = run(data, plan, silent)
    assert (
        json.loads(json.dumps(again["systems"])) == result["systems"]
    )  # the times as well: nothing was asked


def test_all_are_asked_again_when_that_is_wanted(
    data: datasets.Dataset, tmp_path: Path, scripts: Callable[..., Peer]
) -> None:
    plan = planned(tmp_path, scripts("tiny"))
    run(data, plan, silent)
    (answers,) = plan.folder.glob("work/*/answers.jsonl")
    before = answers.read_text()
    asked: dict[str, int] = {}

    def noting(name: str, total: int) -> Any:
        asked[name] = total
        return lambda count: None

    run(data, replace(plan, again=True), noting)
    assert asked["recollect: retrieve"] == 4
    assert len(answers.read_text().splitlines()) == 4
    assert answers.read_text() != before  # the times


def test_one_that_fails_is_reported_and_the_rest_goes_on(
    data: datasets.Dataset, tmp_path: Path, scripts: Callable[..., Peer]
) -> None:
    broken = scripts("broken", "raise ImportError('no such engine')")
    result = run(data, planned(tmp_path, broken, scripts("tiny")), silent)
    assert result["systems"][1]["problem"] == "ImportError: no such engine"
    assert result["systems"][2]["problem"] is None
    assert {*result["ratios"]} == {"tiny"}
    console = Console(record=True, width=200, file=StringIO())
    report.show(console, result)
    shown = console.export_text()
    assert "failed: ImportError: no such engine" in shown
    assert "turn any@10" in shown


def test_one_that_is_killed_goes_on_where_it_was(
    data: datasets.Dataset, tmp_path: Path, scripts: Callable[..., Peer]
) -> None:
    die = tmp_path / "die"
    die.touch()
    killed = f'import pathlib\n        assert person.user != "q2" or not pathlib.Path({str(die)!r}).exists()'
    plan = planned(tmp_path, scripts("tiny", SCRIPT.replace("assert not filled", killed)))
    assert run(data, plan, silent)["systems"][1]["problem"] == "AssertionError"
    (work,) = plan.folder.glob("work/*")
    assert len((work / "filled.jsonl").read_text().splitlines()) == 2
    die.unlink()
    assert run(data, plan, silent)["systems"][1]["session"]["any@1"] == 1
    assert [line["user"] for line in harness.lines(work / "filled.jsonl")] == ["q0", "q1", "q2", "q3"]


def test_a_runner_has_no_network_and_no_telemetry(
    data: datasets.Dataset, tmp_path: Path, scripts: Callable[..., Peer]
) -> None:
    script = """
import os, socket
assert os.environ["ANONYMIZED_TELEMETRY"] == "False"
assert os.path.expanduser("~").endswith("home")
socket.create_connection(("127.0.0.1", 9))
"""
    result = run(data, planned(tmp_path, scripts("nosy", script)), silent)
    assert result["systems"][1]["problem"] == "ConnectionRefusedError: A runner uses no network."


def test_without_a_model_there_are_no_vectors_to_give(
    data: datasets.Dataset, tmp_path: Path, scripts: Callable[..., Peer]
) -> None:
    plan = replace(planned(tmp_path, scripts("tiny")), embedder="none")
    assert "no embedding model" in run(data, plan, silent)["systems"][1]["problem"]


# Parts


def test_ratios_are_of_medians() -> None:
    def system(name: str, p50: float, problem: str | None = None) -> dict[str, Any]:
        return {"system": name, "problem": problem, "latency_ms": {"p50": p50}}

    assert ratios([system("recollect", 2), system("a", 5), system("b", 1, "broken")]) == {"a": 2.5}


def test_the_reason_is_the_line_that_says_it() -> None:
    assert reason("Traceback\n  File x\nValueError: no\n\n", 1) == "ValueError: no"
    assert (
        reason("ERROR: No matching distribution\nWARNING: old pip\n", 1) == "ERROR: No matching distribution"
    )
    assert reason("", 3) == "exit status 3"


def test_an_environment_is_made_again_when_versions_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[list[str]] = []

    def call(told: list[str]) -> str:
        called.append(told)
        if "venv" in told:
            Path(told[-1]).mkdir(parents=True)
        return ""

    monkeypatch.setattr(environment, "_call", call)
    peer = BY_NAME["bm25"]
    environment.prepare(peer, tmp_path, silent)
    assert any(peer.requirements[0] in told for told in called)
    count = len(called)
    environment.prepare(peer, tmp_path, silent)
    assert len(called) == count
    environment.prepare(replace(peer, requirements=("bm25s==0.0.1",)), tmp_path, silent)
    assert len(called) == 2 * count


def test_every_system_has_a_runner_and_pinned_versions() -> None:
    for peer in PEERS:
        assert (environment.RUNNERS / f"{peer.runner}.py").is_file()
        assert all("==" in requirement for requirement in peer.requirements)
        assert peer.version[0].isdigit()


# The command


def test_systems_are_chosen_by_name() -> None:
    assert [peer.name for peer in chosen("bm25, mem0")] == ["mem0", "bm25"]
    with pytest.raises(typer.BadParameter, match="chrome"):
        chosen("chrome")


def test_the_dataset_is_guessed(file: Path, tmp_path: Path) -> None:
    assert datasets.guess(file) == "longmemeval"
    talk = tmp_path / "talk.json"
    talk.write_text(json.dumps([{"conversation": {}, "qa": []}]))
    assert datasets.guess(talk) == "locomo"


def test_the_command_answers_with_json_or_a_table(
    file: Path, tmp_path: Path, scripts: Callable[..., Peer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.bench.peers.command.chosen", lambda names: (scripts("tiny"),))
    told = ["peers", str(file), "--setting", "pool", "--embedder", "hashing", "--cache", str(tmp_path / "c")]
    done = CliRunner().invoke(command.app, [*told, "--json"])
    assert done.exit_code == 0, done.output
    assert [*json.loads(done.stdout)] == ["settings", "systems", "ratios"]
    assert "any@5" in CliRunner().invoke(command.app, told).stdout


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_bm25_in_an_environment_of_its_own(data: datasets.Dataset, tmp_path: Path) -> None:
    result = run(data, planned(tmp_path, BY_NAME["bm25"]), silent)
    (_, theirs) = result["systems"]
    if theirs["problem"] and "No matching distribution" in theirs["problem"]:
        pytest.skip(theirs["problem"])
    assert theirs["problem"] is None
    assert theirs["session"]["any@1"] == 1
    (installed,) = tmp_path.glob("cache/peers/environments/bm25s-*/installed.txt")
    assert "bm25s==" in installed.read_text()
