"""What somebody new meets: nothing is there yet, an example is pasted, something is forgotten by mistake."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.interface.test_cli_frame import ROOT, ask, failure, run

READING = [
    ("recall", "x"),
    ("list",),
    ("show", "x"),
    ("timeline",),
    ("stats",),
    ("export",),
    ("conversations",),
    ("goals", "list"),
    ("profile", "show"),
    ("tend", "--dry-run"),
    ("forget", "x"),
    ("correct", "x", "y"),
    ("pin", "x"),
]


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_what_only_reads_makes_no_database(words: tuple[str, ...], tmp_path: Path) -> None:
    said = f"There is no database at {tmp_path / 'recollect.db'} yet; the first `recollect record` makes it."
    assert failure(*words, code=3) == {"type": "NotFound", "message": said}
    assert run(*words, code=3).stderr == f"Error: {said}\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [words for words in READING if "x" not in words[1:]], ids=" ".join)
def test_what_only_reads_makes_no_user(words: tuple[str, ...]) -> None:
    run("record", "user", "hello", "--user", "ana")
    run(*words, "--user", "ben")
    run("recall", "hello", "--user", "ben")
    assert ask("db", "stats")["rows"]["users"] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("goals", "list"), "no active goals yet"),
        (("goals", "list", "--status", "all"), "no goals yet"),
        (("profile", "show"), "profile of ben is empty"),
        (("stats",), "Nothing of ben is stored yet"),
        (("conversations",), "no conversations"),
        (("timeline",), "Nothing happened yet"),
    ],
)
def test_nothing_yet_is_said(words: tuple[str, ...], said: str) -> None:
    run("record", "user", "hello", "--user", "ana")
    done = run(*words, "--user", "ben")
    assert done.stdout == ""
    assert said in done.stderr


def epilogs(command: Any) -> Iterator[str]:
    yield command.epilog or ""
    for found in getattr(command, "commands", {}).values():
        yield from epilogs(found)


def test_the_shell_expands_nothing_in_an_example() -> None:
    examples = [line for text in epilogs(ROOT) for line in text.splitlines() if "recollect" in line]
    assert len(examples) > 40
    for line in examples:
        quoted = re.findall(r'"[^"]*"', re.sub(r"'[^']*'", "", line))
        assert not any("$" in text.replace("$(", "") for text in quoted), line
        outside = re.sub(r"'[^']*'|\"[^\"]*\"", "", line)
        assert "$" not in outside, line


# record --file


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON"),
        ("[1]", "not a JSON object"),
        ('{"role": "user"}', "content"),
        ('{"content": "x"}', "role"),
        ('{"role": "user", "content": 1}', "must be text"),
        ('{"role": "user", "content": "123456789"}', "limit is 8"),
        ('{"role": "nobody", "content": "x"}', "'nobody'"),
        ('{"role": "user", "content": "x", "mood": 1}', "'mood'"),
        ('{"role": "user", "content": "x", "index": -1}', "index"),
        ('{"role": "user", "content": "x", "title": 1}', "title"),
        ('{"role": "user", "content": "x", "metadata": 1}', "metadata"),
        ('{"role": "user", "content": "x", "at": "x"}', "not a time"),
        ('{"role": "user", "content": "x", "at": 5}', "5"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_recorded(line: str, reason: str, tmp_path: Path) -> None:
    good = '{"role": "user", "content": "one"}'
    given: dict[str, Any] = {"RECOLLECT_CONTENT_LIMIT": "8", "RECOLLECT_BATCH_LIMIT": "1"}
    words = ("record", "--file", "-")
    message = failure(*words, input=f"{good}\n\n{line}\n", code=1, **given)["message"]
    assert message.startswith("Line 3 cannot be recorded: ")
    assert reason in message
    assert not (tmp_path / "recollect.db").exists()


# forget


@pytest.fixture
def march() -> None:
    run("record", "user", "one", "--conversation", "march", "--channel", "work", "--agent", "planner")
    run("record", "user", "two", "--conversation", "march", "--channel", "work", "--agent", "planner")


@pytest.mark.parametrize(
    "place", [("--conversation", "march"), ("--channel", "work"), ("--agent", "planner")]
)
def test_forgetting_a_part_needs_yes_or_somebody_to_ask(march: None, place: tuple[str, str]) -> None:
    assert "--yes" in failure("forget", *place, code=2)["message"]
    assert ask("forget", *place, "--dry-run") == {"would_forget": {"conversation": 1, "turn": 2}, "total": 3}
    assert ask("stats")["counts"]["turn"] == 2
    assert ask("forget", *place, "--yes")["forgotten"] == {"conversation": 1, "turn": 2}


def test_a_dry_run_of_everything_and_of_one(march: None) -> None:
    memory = ask("remember", "Ana is allergic to peanuts")["id"]
    said = run("forget", memory, "--dry-run").stdout
    assert said == "Would be forgotten: 1 fact, 1 turn.\n"
    assert ask("forget", "--all", "--dry-run")["would_forget"]["turn"] == 3
    assert ask("forget", memory)["forgotten"] == {"fact": 1, "turn": 1}
    assert "There is nothing" in failure("forget", memory, "--dry-run", code=3)["message"]
    assert "nothing" in run("forget", "--all", "--dry-run", "--user", "ben").stdout


# What is shown


def test_show_has_local_times_and_nothing_internal(march: None, monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    turn = ask("record", "user", "in spring", "--at", "2025-05-01T12:00Z", "--conversation", "may")["id"]
    assert "at             2025-05-01 14:00 CEST\n" in run("show", turn).stdout
    printed = run("show", "may").stdout
    assert "last_at        2025-05-01 14:00 CEST\n" in printed
    assert not {"mined_to", "next_index", "digest"} & set(printed.split())
    assert {"mined_to", "next_index"} <= ask("show", "may").keys()
