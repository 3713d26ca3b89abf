"""`recollect retention` and `promote`."""

from pathlib import Path

import pytest

from tests.interface.test_cli_frame import ask, failure, run


@pytest.fixture(autouse=True)
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "memory.db"
    monkeypatch.setenv("RECOLLECT_DB", str(path))
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")
    run("record", "user", "I live in Lyon.", "--channel", "work", "--conversation", "a")
    return path


def test_who_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_RETENTION", "archive_days=60")
    ask("retention", "expire=on")
    found = ask("retention", "popular=3", "--channel", "work")
    assert found["channel"] == "work"
    assert found["retention"]["archive_days"] == 60
    names = ("archive_days", "expire", "popular", "ttl_days")
    assert [found["set_by"][name] for name in names] == ["deployment", "user", "channel", "default"]
    assert ask("retention")["retention"]["popular"] == 10
    assert ask("retention", "expire=")["set_by"]["expire"] == "default"
    assert "archive_days\t60.0\tdeployment" in run("retention").stdout


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (["expire=perhaps"], "must be on or off"),
        (["expire"], "is not name=value"),
        (["nope=1"], "is not name=value"),
        (["nope="], "has no 'nope'"),
        (["ttl_days=0"], "must be between"),
        (["memory_quota=5", "--channel", "work"], "channel_memory_quota"),
    ],
)
def test_what_cannot_be(given: list[str], reason: str) -> None:
    assert reason in failure("retention", *given, code=1)["message"]


def test_promoted_and_taken_back() -> None:
    run("mine")
    (fact,) = ask("list", "--kind", "fact")["items"]
    assert ask("promote", fact["id"])["promoted_from"] == "work"
    assert "'work'" in run("promote", fact["id"], "--undo").stdout
    failure("promote", "nobody", code=3)
