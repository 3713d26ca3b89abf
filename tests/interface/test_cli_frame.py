"""What all commands share: options before or after the name, one JSON document, exit codes, safe printing."""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

from recollect import Memory
from recollect.cli import app

ENVIRONMENT = {"RECOLLECT_EMBEDDER": "hashing"}
ROOT = typer.main.get_command(app)


@dataclass(frozen=True)
class Done:
    """What a command printed."""

    stdout: str
    stderr: str


def run(*words: object, code: int = 0, input: str | bytes | None = None, **environment: Any) -> Done:
    """Run a command in this process; it must end with this exit code."""
    with CliRunner(env={**ENVIRONMENT, **environment}).isolation(input) as (out, err, _):
        with pytest.raises(SystemExit) as ended:
            ROOT.main([str(word) for word in words], "recollect")
        sys.stdout.flush()
        sys.stderr.flush()
        done = Done(out.getvalue().decode(), err.getvalue().decode())
    assert ended.value.code == code, done
    return done


def ask(*words: object, **given: Any) -> Any:
    """The JSON document that the command prints, and nothing else."""
    return json.loads(run(*words, "--json", **given).stdout)


def failure(*words: object, code: int, **given: Any) -> dict[str, str]:
    """The error that the command reports as JSON."""
    result = run(*words, "--json", code=code, **given)
    assert result.stdout == ""
    return json.loads(result.stderr.splitlines()[-1])["error"]


# Shared options


@pytest.mark.parametrize(
    "words",
    [
        ("--db", "DB", "--user", "ana", "--json", "stats"),
        ("stats", "--db", "DB", "--user", "ana", "--json"),
        ("--db", "elsewhere.db", "--user", "ben", "stats", "--json", "--db", "DB", "--user", "ana"),
    ],
)
def test_shared_options_stand_before_or_after_the_name(tmp_path: Path, words: tuple[str, ...]) -> None:
    db = tmp_path / "other.db"
    run("record", "user", "hello", "--db", db, "--user", "ana")
    found = json.loads(run(*(str(db) if word == "DB" else word for word in words)).stdout)
    assert (found["user"], found["counts"]) == ("ana", {"conversation": 1, "turn": 1})


def test_shared_options_stand_in_the_middle_of_a_group() -> None:
    run("goals", "--user", "ana", "add", "Book the flights")
    assert len(ask("goals", "--user", "ana", "list")["goals"]) == 1
    assert len(ask("--user", "ben", "goals", "list")["goals"]) == 0


def test_the_user_is_the_login_name_and_an_empty_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RECOLLECT_USER")
    monkeypatch.setenv("LOGNAME", "derek")
    run("record", "user", "hello")
    assert ask("stats")["user"] == "derek"
    assert failure("stats", "--user", "", code=1)["type"] == "Invalid"


def test_without_a_login_name_the_user_is_me(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError("no such uid")

    monkeypatch.delenv("RECOLLECT_USER")
    monkeypatch.setattr("getpass.getuser", nobody)
    run("record", "user", "hello")
    assert ask("stats")["user"] == "me"


def test_quiet_silences_warnings(tmp_path: Path) -> None:
    run("record", "user", "hello")
    other: dict[str, Any] = {"RECOLLECT_EMBEDDER": "all-MiniLM-L6-v2", "RECOLLECT_MODELS": str(tmp_path)}
    assert "rebuild vectors" in run("recall", "hello", **other).stderr
    assert run("recall", "hello", "--quiet", **other).stderr == ""


# Help


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, found in group.commands.items():
        yield (*path, name)
        if hasattr(found, "commands"):
            yield from commands(found, (*path, name))


COMMANDS = sorted(commands(ROOT))
EXPECTED = (
    "demo record remember recall list show forget correct pin timeline usage export import copy tend worker "
    "rebuild models db doctor bench chat goals profile conversations stats palace mine unmine review "
    "entity retention promote end procedures episodes tools audit graph serve config keys mcp capacity"
)


def test_every_command_is_there() -> None:
    assert {path[0] for path in COMMANDS} == set(EXPECTED.split())


@pytest.mark.parametrize("path", [path for path in COMMANDS if path != ("bench",)], ids=" ".join)
def test_every_command_has_help_with_an_example(path: tuple[str, ...]) -> None:
    printed = run(*path, "--help").stdout
    assert "Example" in printed
    assert f"recollect {' '.join(path)}" in printed.partition("Example")[2]
    assert "--json" in printed


def test_help_and_version() -> None:
    assert "recollect demo" in run("--help").stdout
    assert run("--version").stdout.startswith("recollect ")
    assert "recollect demo" in run(code=2).stdout
    assert failure(code=2)["type"] == "Usage"


# Exit codes


@pytest.mark.parametrize(
    ("words", "code", "type"),
    [
        (("show", "nothing"), 3, "NotFound"),
        (("forget", "nothing"), 3, "NotFound"),
        (("forget", "--conversation", "nothing", "--yes"), 3, "NotFound"),
        (("correct", "nothing", "x"), 3, "NotFound"),
        (("pin", "nothing"), 3, "NotFound"),
        (("goals", "complete", "nothing"), 3, "NotFound"),
        (("timeline", "Nobody"), 3, "NotFound"),
        (("models", "path", "--db", "x"), 3, "NotFound"),
        (("db", "check"), 3, "NotFound"),
        (("db", "stats"), 3, "NotFound"),
        (("remember", " "), 1, "Invalid"),
        (("list", "--db", "mysql://somewhere/x"), 1, "SettingsError"),
        (("import", "/no/such/file"), 3, "NotFound"),
        (("record", "--file", "/no/such/file"), 1, "FileNotFoundError"),
        (("record", "nobody", "hello"), 2, "Usage"),
        (("record", "user"), 2, "Usage"),
        (("record", "user", "hello", "--metadata", "{"), 2, "Usage"),
        (("record", "user", "hello", "--metadata", "[1]"), 2, "Usage"),
        (("record", "user", "hello", "--at", "yesterday"), 2, "Usage"),
        (("record", "user", "hello", "--file", "x"), 2, "Usage"),
        (("record", "--title", "hello", "--file", "x"), 2, "Usage"),
        (("conversations", "--conversation", "x"), 2, "Usage"),
        (("db", "path", "--db", "mysql://somewhere/x"), 1, "SettingsError"),
        (("recall", "x", "--kind", "goal"), 2, "Usage"),
        (("recall", "x", "--top-k", "0"), 2, "Usage"),
        (("list", "--kind", "tombstone"), 2, "Usage"),
        (("list", "--kind", "fact", "--conversation", "x"), 2, "Usage"),
        (("forget",), 2, "Usage"),
        (("forget", "--all"), 2, "Usage"),
        (("forget", "--channel", "x"), 2, "Usage"),
        (("forget", "--all", "--channel", "x", "--yes"), 2, "Usage"),
        (("profile", "set"), 2, "Usage"),
        (("profile", "set", "--style", "tone"), 2, "Usage"),
        (("tend", "--once", "--forever"), 2, "Usage"),
        (("models", "install", "nothing"), 2, "Usage"),
        (("remeber", "x"), 2, "Usage"),
        (("stats", "--nothing"), 2, "Usage"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_exit_codes_and_errors_as_json(words: tuple[str, ...], code: int, type: str, tmp_path: Path) -> None:
    error = failure(*words, code=code, RECOLLECT_MODELS=str(tmp_path))
    assert error["type"] == type
    assert error["message"]
    plain = run(*words, code=code, RECOLLECT_MODELS=str(tmp_path))
    assert plain.stdout == ""
    assert "Traceback" not in plain.stderr


def test_a_wrong_command_is_answered_with_the_right_one() -> None:
    assert "remember" in failure("remeber", "x", code=2)["message"]


def test_a_wrong_setting_names_itself() -> None:
    assert "RECOLLECT_TOP_K" in failure("recall", "x", code=1, RECOLLECT_TOP_K="many")["message"]


def test_an_interruption_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Memory, "tend", interrupted)
    assert run("tend", code=130).stdout == ""


def test_a_corrupt_database_is_an_error_and_stays_as_it_is(tmp_path: Path) -> None:
    db = tmp_path / "corrupt.db"
    db.write_bytes(b"not a database at all" * 1000)
    assert failure("stats", "--db", db, code=1)["type"] == "StoreCorrupt"
    assert db.read_bytes() == b"not a database at all" * 1000


# Printing

HOSTILE = "red \x1b[31m bell \x07 title \x1b]0;x\x07 c1 \x9b31m back \r\x08 turn \u202e markup [bold]x[/bold]"


def test_control_characters_are_shown_and_not_sent() -> None:
    id = ask("remember", HOSTILE, "--about", "x\u202ey")["id"]
    for words in (
        ("list",),
        ("show", id),
        ("recall", "bell"),
        ("recall", "bell", "--explain"),
        ("timeline",),
    ):
        printed = run(*words).stdout
        assert not set(printed) & set("\x1b\x07\x9b\r\x08\u202e"), words
        assert "\\x1b[31m" in printed
        assert "[bold]x[/bold]" in printed
    context = run("recall", "bell", "--context").stdout
    assert context.startswith("<memory_context>")
    assert "\x1b" not in context


def test_json_is_safe_to_print_and_loses_nothing() -> None:
    id = ask("remember", HOSTILE)["id"]
    printed = run("show", id, "--json").stdout
    assert not set(printed) & set("\x1b\x07\x9b\u202e")
    assert json.loads(printed)["content"] == HOSTILE


def test_errors_are_safe_to_print() -> None:
    assert "\x1b" not in run("show", "\x1b[31m", code=3).stderr


def test_every_script_is_printed_as_it_is() -> None:
    for text in ("Grüße, 東京 и Ελλάδα", "👩‍👩‍👧 family", "नमस्ते"):
        run("remember", text)
        assert text in run("list").stdout
        assert text in run("list", "--json").stdout
