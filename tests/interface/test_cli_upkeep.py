"""The commands that look after the memory: tend, rebuild, models, db, doctor, bench, demo."""

import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import pytest
import typer

from recollect import Memory
from recollect.cli.frame import Here
from recollect.models.hashing import HashingEmbedder
from recollect.models.registry import DEFAULT, KNOWN
from tests.interface.test_cli_frame import ask, failure, run

LATER: dict[str, Any] = {"RECOLLECT_EMBED_ON_WRITE": "false"}
MINILM = "all-MiniLM-L6-v2"


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, Any]:
    """A model folder in which the default model seems to be; files of the right size are enough."""
    for file in KNOWN[DEFAULT].sources[0].files:
        path = tmp_path / "models" / DEFAULT / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as stream:
            stream.truncate(file.size)
    return {"RECOLLECT_MODELS": str(tmp_path / "models"), "RECOLLECT_EMBEDDER": DEFAULT}


# tend, rebuild


def test_tend_fills_in_what_waits() -> None:
    run("record", "user", "hello", **LATER)
    assert ask("tend", "--dry-run")["waiting"] == {
        "chunks_without_vector": 1,
        "text_index_outdated": False,
        "erasures_to_finish": False,
        "models_to_drop": 0,
        "conversations_to_mine": 1,
        "conversations_to_conclude": 1,
        "put_aside": 0,
    }
    assert "chunks_without_vector\t1" in run("tend", "--dry-run").stdout
    jobs = {job["job"]: job for job in ask("tend")["jobs"]}
    assert (jobs["embed"]["done"], jobs["embed"]["problem"]) == (1, None)
    assert ask("tend", "--dry-run")["waiting"]["chunks_without_vector"] == 0
    assert "embed\t0" in run("worker", "--once").stdout


def test_tend_that_cannot_finish_says_why_and_exits_with_1(tmp_path: Path) -> None:
    missing: dict[str, Any] = {"RECOLLECT_MODELS": str(tmp_path), "RECOLLECT_EMBEDDER": MINILM}
    missing["RECOLLECT_INSTALL_MODELS"] = "false"
    run("record", "user", "hello", **missing)
    jobs = {job["job"]: job for job in ask("tend", code=1, **missing)["jobs"]}
    assert "models install" in jobs["embed"]["problem"]
    assert "models install" in run("tend", code=1, **missing).stdout


def test_rebuild() -> None:
    run("record", "user", "green tea")
    assert ask("rebuild", "vectors")["chunks"] == 1
    assert ask("rebuild", "text")["chunks"] == 1
    assert run("rebuild", "vectors").stdout.startswith("Rebuilt the vectors of 1 chunk in")
    assert run("rebuild", "text").stdout.startswith("Rebuilt the text of 1 chunk in")
    assert len(ask("recall", "tea")["hits"]) == 1
    assert "--embedder" in failure("rebuild", "vectors", "--embedder", "none", code=1)["message"]


def test_changing_the_model(tmp_path: Path) -> None:
    db = tmp_path / "small.db"
    with Memory.open(db, embedder=HashingEmbedder(64)) as memory:
        memory.scope("ana").record("user", "hello")
        memory.store.add_space(HashingEmbedder().space)
    printed = run("doctor", "--db", db).stdout
    assert "hashing-1-64: 1 of 1 chunk, searched" in printed
    assert "hashing-1-384: 0 of 1 chunk, not searched yet" in printed
    assert ask("rebuild", "vectors", "--model", "hashing", "--cancel", "--db", db) == {
        "cancelled": "hashing-1-384"
    }
    assert ask("tend", "--dry-run", "--db", db)["waiting"]["models_to_drop"] == 1
    done = run("rebuild", "vectors", "--model", "hashing", "--db", db, RECOLLECT_EMBEDDER="none")
    assert done.stdout.startswith("Rebuilt the vectors of 1 chunk")
    assert done.stderr.startswith("Now set RECOLLECT_EMBEDDER=hashing"), "no warning, and what is left to do"
    assert run("rebuild", "vectors", "--model", "hashing", "--db", db).stderr == "", "it is set already"
    assert "searched by" in failure("rebuild", "vectors", "--cancel", "--db", db, code=1)["message"]
    printed = run("doctor", "--db", db).stdout
    assert "hashing-1-384: 1 of 1 chunk, searched" in printed
    assert "those of a model before are still there" in printed
    run("tend", "--db", db)
    assert states(ask("doctor", "--db", db))["vectors"] == "ok"


# models


def test_models_list_and_path(installed: dict[str, Any]) -> None:
    models = {model["name"]: model for model in ask("models", "list", **installed)["models"]}
    assert set(models) == set(KNOWN)
    assert (models[DEFAULT]["installed"], models[DEFAULT]["configured"]) == (True, True)
    assert (models[MINILM]["installed"], models[MINILM]["path"]) == (False, None)
    assert (models[MINILM]["dimensions"], models[MINILM]["licence"]) == (384, "Apache-2.0")
    printed = run("models", "list", **installed).stdout
    assert f"{DEFAULT}\tinstalled" in printed
    assert f"{MINILM}\tnot installed" in printed
    folder = str(Path(installed["RECOLLECT_MODELS"]) / DEFAULT)
    assert run("models", "path", **installed).stdout.strip() == folder
    assert ask("models", "path", DEFAULT, **installed) == {"model": DEFAULT, "path": folder}
    assert "models install" in failure("models", "path", MINILM, code=3, **installed)["message"]


def test_models_install_shows_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    shown: list[tuple[int, int, str]] = []

    def install(name: str, folder: Path, progress: Any) -> Path:
        asked.append(name)
        progress(5, 10, "model hub")
        return folder / name

    def fetching(_: Here, done: int, total: int, source: str) -> None:
        shown.append((done, total, source))

    monkeypatch.setattr("recollect.models.install.install", install)
    monkeypatch.setattr(Here, "fetching", fetching)
    folder: dict[str, Any] = {"RECOLLECT_MODELS": str(tmp_path)}
    assert run("models", "install", **folder).stdout == f"{DEFAULT} is installed in {tmp_path / DEFAULT}\n"
    assert ask("models", "install", MINILM, **folder)["path"] == str(tmp_path / MINILM)
    assert asked == [DEFAULT, MINILM]
    assert shown == [(5, 10, "model hub")] * 2


# db


def test_db_path_migrate_check_and_stats(tmp_path: Path) -> None:
    db = tmp_path / "folder" / "new.db"
    assert ask("db", "path", "--db", db) == {"path": str(db), "exists": False}
    assert run("db", "path", "--db", f"sqlite:///{db}").stdout == f"{db}\n"
    assert not db.parent.exists()
    made = ask("db", "migrate", "--db", db)
    assert (made["before"], made["after"]) == (None, made["after"])
    assert "already" in run("db", "migrate", "--db", db).stdout
    run("record", "user", "hello", "--db", db)
    assert ask("db", "check", "--db", db)["ok"] is True
    assert "sound" in run("db", "check", "--db", db).stdout
    assert ask("db", "stats", "--db", db)["rows"]["turns"] == 1
    assert "turns\t1" in run("db", "stats", "--db", db).stdout


def test_db_check_finds_a_disagreement(tmp_path: Path) -> None:
    db = tmp_path / "broken.db"
    run("record", "user", "hello", "--db", db)
    with closing(sqlite3.connect(db)) as connection:
        connection.execute("UPDATE users SET documents = 7")
        connection.commit()
    assert ask("db", "check", "--db", db, code=1)["problems"]
    assert "rebuild text" in run("db", "check", "--db", db, code=1).stdout
    assert states(ask("doctor", "--db", db, code=1))["soundness"] == "fail"


# doctor


def states(answer: dict[str, Any]) -> dict[str, str]:
    """The worst state of each thing that was looked at."""
    order = ("ok", "warn", "fail")
    worst: dict[str, str] = {}
    for check in answer["checks"]:
        worst[check["name"]] = max(worst.get(check["name"], "ok"), check["state"], key=order.index)
        assert check["state"] == "ok" or check["fix"], check
    return worst


def test_doctor_of_a_healthy_memory() -> None:
    run("record", "user", "hello")
    answer = ask("doctor")
    assert answer["ok"] is True
    assert set(states(answer).values()) == {"ok"}
    names = (
        "recollect python sqlite user embedder database writing contents soundness vectors mining worker "
        "erasures disk"
    )
    assert list(states(answer)) == names.split(" ")
    assert "ms a query" in run("doctor").stdout


@pytest.mark.parametrize("words", [["doctor"], ["config", "--check"]])
def test_engines_beside_the_database_are_asked(words: list[str], tmp_path: Path) -> None:
    pytest.importorskip("neo4j", reason="the driver is an extra")
    pytest.importorskip("redis", reason="the client is an extra")
    run("record", "user", "hello")
    down = {"RECOLLECT_NEO4J": "bolt://127.0.0.1:1", "RECOLLECT_REDIS": "redis://127.0.0.1:1/0"}
    found = states(ask(*words, **down))
    assert (found["neo4j"], found["redis"]) == ("warn", "warn")
    refused = ask(*words, code=1, RECOLLECT_NEO4J="localhost")
    assert states(refused)["neo4j"] == "fail"


def test_doctor_makes_no_database(tmp_path: Path) -> None:
    db = tmp_path / "deep" / "new.db"
    assert states(ask("doctor", "--db", db))["database"] == "ok"
    assert "does not exist yet" in run("doctor", "--db", db).stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"not a database" * 1000, b"SQLite format 3\x00" + b"\xff" * 8192])
def test_doctor_of_a_corrupt_database(tmp_path: Path, content: bytes) -> None:
    db = tmp_path / "corrupt.db"
    db.write_bytes(content)
    assert states(ask("doctor", "--db", db, code=1))["database"] == "fail"
    assert "backup" in run("doctor", "--db", db, code=1).stdout
    assert db.read_bytes() == content


def test_doctor_of_a_database_that_is_somebody_elses(tmp_path: Path) -> None:
    db = tmp_path / "other.db"
    with closing(sqlite3.connect(db)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    before = db.read_bytes()
    assert states(ask("doctor", "--db", db, code=1))["database"] == "fail"
    said = run("doctor", "--db", db, code=1).stdout
    assert db.read_bytes() == before
    assert failure("recall", "x", "--db", db, code=1)["message"] in said


def test_doctor_says_of_scrap_what_recall_says(tmp_path: Path) -> None:
    db = tmp_path / "scrap.db"
    db.write_text("my notes")
    said = run("doctor", "--db", db, code=1).stdout
    assert failure("recall", "x", "--db", db, code=1)["message"] in said
    db.write_text("")
    assert states(ask("doctor", "--db", db))["database"] == "warn"
    assert db.read_text() == ""


def test_doctor_of_misspelt_variables_and_a_file_that_others_may_read(tmp_path: Path) -> None:
    run("record", "user", "hello")
    found = ask("doctor", RECOLLECT_TOPK="8", RECOLLECT_TEST_ENGINES="x")
    assert states(found)["settings"] == "warn"
    assert [check["detail"] for check in found["checks"] if check["name"] == "settings"] == [
        "RECOLLECT_TOPK is no setting"
    ]
    (tmp_path / "recollect.db").chmod(0o640)
    assert states(ask("doctor"))["privacy"] == "warn"
    assert "chmod 600" in run("doctor").stdout


def test_doctor_of_a_database_that_is_being_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = tmp_path / "busy.db"
    run("record", "user", "hello", "--db", db)
    monkeypatch.setattr("recollect.cli.doctor.BUSY_SECONDS", 0.0)
    monkeypatch.setattr("recollect.cli.doctor_contents.CHECKED_BYTES", 0)
    with closing(sqlite3.connect(db, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        assert states(ask("doctor", "--db", db))["writing"] == "warn"


def test_doctor_of_a_page_that_is_damaged(tmp_path: Path) -> None:
    db = tmp_path / "damaged.db"
    run("record", "user", "hello", "--db", db)
    content = bytearray(db.read_bytes())
    content[8192 * 2 :] = b"\x55" * (len(content) - 8192 * 2)
    db.write_bytes(content)
    assert "fail" in states(ask("doctor", "--db", db, code=1)).values()


def test_doctor_names_what_is_missing_or_wrong(tmp_path: Path) -> None:
    run("record", "user", "hello", **LATER)
    assert states(ask("doctor"))["vectors"] == "warn"
    run("tend")
    missing: dict[str, Any] = {"RECOLLECT_EMBEDDER": MINILM, "RECOLLECT_MODELS": str(tmp_path / "none")}
    found = states(ask("doctor", **missing))
    assert (found["embedder"], found["vectors"]) == ("warn", "warn")
    printed = run("doctor", **missing).stdout
    assert f"models install {MINILM}" in printed
    assert "rebuild vectors" in printed
    assert states(ask("doctor", "--embedder", "none"))["embedder"] == "warn"
    assert states(ask("doctor", "--embedder", "nothing", code=1))["embedder"] == "fail"
    assert states(ask("doctor", code=1, RECOLLECT_TOP_K="0"))["settings"] == "fail"
    assert states(ask("doctor", "--db", tmp_path, code=1))["database"] == "fail"
    assert states(ask("doctor", "--db", "postgresql://x/y", code=1))["database"] == "fail"


def test_doctor_of_weights_that_do_not_load(installed: dict[str, Any]) -> None:
    assert states(ask("doctor", code=1, **installed))["embedder"] == "fail"


def test_doctor_of_a_slow_embedder_and_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.cli.doctor.SLOW_MS", 0.0)
    monkeypatch.setattr("recollect.cli.doctor.LITTLE_DISK", 2**62)
    found = states(ask("doctor"))
    assert (found["embedder"], found["disk"]) == ("warn", "warn")


# bench


def test_bench_is_loaded_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = ModuleType("recollect.bench.command")
    fake.app = typer.Typer()  # pyright: ignore[reportAttributeAccessIssue]

    @fake.app.command()
    def latency(as_json: Annotated[bool, typer.Option("--json")] = False) -> None:
        typer.echo(f"json={as_json}")

    monkeypatch.setitem(sys.modules, "recollect.bench.command", fake)
    assert run("bench", "latency").stdout == "json=False\n"
    assert run("bench", "latency", "--json").stdout == "json=True\n"
    assert run("--json", "bench", "latency").stdout == "json=True\n"
    assert run("bench", "--json", "latency").stdout == "json=True\n"
    assert "latency" in run("bench", "--help").stdout
    failure("bench", "nothing", code=2)


def test_a_missing_benchmark_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "recollect.bench.command", None)
    assert "benchmarks" in failure("bench", "latency", code=1)["message"]


def test_bench_latency_is_registered() -> None:
    assert "--json" in run("bench", "latency", "--help").stdout


# demo


def test_demo_in_a_database_that_is_given(tmp_path: Path) -> None:
    db = tmp_path / "mine.db"
    run("record", "user", "My budget for Hawaii is none of your business", "--db", db, "--user", "ana")
    answer = ask("demo", "--db", db)
    assert answer["ok"] is True
    assert answer["seconds"] < 120
    assert all(step["ms"] >= 0 for step in answer["steps"])
    told = "\n".join(line for step in answer["steps"] for line in step["result"])
    assert "found: My budget for the Hawaii trip is $10,000" in told
    assert "now: The budget for the Hawaii trip is $12,500" in told
    assert "as of March 20: The budget for the Hawaii trip is $10,000" in told
    assert told.endswith("now: 0")
    assert ask("db", "stats", "--db", db)["rows"]["users"] == 1
    assert ask("stats", "--db", db, "--user", "ana")["counts"]["turn"] == 1


def test_demo_without_weights_goes_by_words(tmp_path: Path) -> None:
    result = run("demo", RECOLLECT_EMBEDDER=MINILM, RECOLLECT_MODELS=str(tmp_path / "none"))
    assert "words only" in result.stderr
    assert "models install" in result.stderr
    assert result.stdout.rstrip().splitlines()[-1].startswith("Done in")
    assert not (tmp_path / "recollect.db").exists()


def test_a_demo_that_fails_says_so_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("recollect.cli.demo.QUESTION", "")
    assert "doctor" in failure("demo", "--db", tmp_path / "demo.db", code=1)["message"]
    assert ask("db", "stats", "--db", tmp_path / "demo.db")["rows"]["users"] == 0
