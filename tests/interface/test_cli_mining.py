"""`recollect mine`, `unmine`, `entity` and what doctor and tend say of mining."""

from pathlib import Path

import pytest

from recollect import Memory
from recollect.testing.openai_server import OpenAIServer
from tests.interface.test_cli_frame import ask, failure, run


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "memory.db"
    monkeypatch.setenv("RECOLLECT_DB", str(path))
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")
    run("record", "user", "I live in Lyon. My sister Anna plays chess.", "--conversation", "march")
    return path


def test_mining_from_the_command_line(db: Path) -> None:
    assert "march" in run("mine").stdout
    facts = [fact["content"] for fact in ask("list", "--kind", "fact")["items"]]
    assert "The user lives in Lyon." in facts
    assert ask("mine") == {"mined": []}
    assert ask("mine", "march")["mined"][0]["turns"] == 0


def test_mining_undone(db: Path) -> None:
    run("mine", "march")
    assert ask("unmine", "march")["unmined"]["fact"] >= 2
    assert ask("list", "--kind", "fact")["items"] == []
    assert ask("mine") == {"mined": []}
    assert ask("mine", "--conversation", "march")["mined"][0]["added"] >= 2


def test_contradictions_looked_at(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_CONTRADICTIONS", "flag_review")
    run("mine")
    assert "Nothing contradicts anything." in run("review").stderr
    run("record", "user", "I live in Porto.", "--conversation", "april")
    run("mine")
    (pair,) = ask("review")["contradictions"]
    assert (pair["new"]["content"], pair["old"]["content"]) == (
        "The user lives in Porto.",
        "The user lives in Lyon.",
    )
    assert "The user lives in Porto." in run("review").stdout
    assert "--keep" in failure("review", pair["new"]["id"], code=2)["message"]
    assert "new, old, both" in failure("review", pair["new"]["id"], "--keep", "x", code=2)["message"]
    assert ask("review", pair["new"]["id"], "--keep", "new")["keep"] == "new"
    assert ask("review") == {"contradictions": []}
    assert "nothing to settle" in failure("review", pair["new"]["id"], "--keep", "new", code=3)["message"]


def test_a_conversation_that_is_not_there(db: Path) -> None:
    for command in ("mine", "unmine"):
        assert "There is no conversation 'april'" in failure(command, "april", code=3)["message"]


def test_entities_put_right(db: Path) -> None:
    run("record", "user", "My friend Annie works at Siemens.", "--conversation", "april")
    run("mine")
    assert ask("entity", "merge", "Annie", "Anna")["aliases"] == ["Annie"]
    assert "Annie" in run("entity", "split", "Anna", "Annie").stdout


def test_what_waits_and_what_failed(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask("tend", "--dry-run")["waiting"]["conversations_to_mine"] == 1
    checks = {check["name"]: check for check in ask("doctor")["checks"]}
    assert checks["mining"]["state"] == "ok"
    with (
        OpenAIServer(chat=lambda _: "no JSON") as server,
        Memory.open(db, embedder="none", model=server.base_url, model_name="small", miner="model") as memory,
    ):
        (user,) = memory.store.users()
        (done,) = memory.scope(user).mine()
    assert done.problem
    checks = {check["name"]: check for check in ask("doctor")["checks"]}
    assert checks["mining"]["state"] == "warn"
    assert "gave no usable answer" in checks["mining"]["detail"]
    assert "recollect mine" in checks["mining"]["fix"]
    run("mine")  # by rules
    checks = {check["name"]: check for check in ask("doctor")["checks"]}
    assert checks["mining"]["state"] == "ok"
