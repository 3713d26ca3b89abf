"""recollect audit: what was done, newest first, and receipts."""

from pathlib import Path

import pytest

from tests.interface.test_cli_frame import ask, failure, run


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "memory.db"
    monkeypatch.setenv("RECOLLECT_DB", str(path))
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")
    return path


@pytest.fixture
def talked(db: Path) -> Path:
    run("record", "user", "I live in Lyon.", "-c", "march")
    run("remember", "Ana is allergic to peanuts")
    return db


def operations(*arguments: str) -> list[str]:
    return [entry["operation"] for entry in ask("audit", *arguments)["audit"]]


def test_what_was_done_is_shown(talked: Path) -> None:
    assert operations() == ["remember", "record"]
    shown = run("audit").stdout
    assert "remember" in shown
    assert "march" in shown
    assert "peanuts" not in shown
    assert "Lyon" not in shown


def test_it_is_filtered_and_paged(talked: Path) -> None:
    assert operations("--operation", "record") == ["record"]
    assert operations("--kind", "fact") == ["remember"]
    assert operations("--conversation", "march") == ["record"]
    assert operations("--until", "2020-01-01") == []
    assert operations("--since", "2020-01-01") == ["remember", "record"]
    first = ask("audit", "--limit", "1")
    assert operations("--after", first["next"]) == ["record"]
    assert "Nothing is noted" in run("audit", "--operation", "none").stderr


def test_reads_and_who_read_what(talked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_AUDIT", "verbose")
    hit = ask("recall", "Who is allergic to peanuts?")["hits"][0]["id"]
    (entry,) = ask("audit", "--read", hit)["audit"]
    assert entry["operation"] == "recall"
    assert "allergic" in entry["payload"]


def test_receipts_name_nobody(talked: Path) -> None:
    gone = ask("forget", "--all", "--yes", "--user", "ana")
    assert gone["receipt"]
    run("record", "user", "I live in Lyon.", "--user", "zebulon")
    gone = ask("forget", "--all", "--yes", "--user", "zebulon")
    shown = ask("audit", "--receipts")["receipts"]
    assert gone["receipt"] in [receipt["id"] for receipt in shown]
    assert "zebulon" not in run("audit", "--receipts").stdout
    assert shown[0]["counts"]["turn"] == 1


def test_without_a_memory_there_is_nothing_to_show(db: Path) -> None:
    assert failure("audit", code=3)
