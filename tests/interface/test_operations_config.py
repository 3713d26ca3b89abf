"""Settings from a file, and `recollect config`: every value, where it comes from, and whether it can be."""

import json
import shlex
import socket
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from recollect import Memory, SettingsError
from recollect.cli import app
from recollect.settings import load, sourced


@pytest.fixture(autouse=True)
def port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_PORT", "0")  # whatever else listens on this machine


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "recollect.toml"
    path.write_text('top_k = 7\nthreshold = 0.5\nconclude = false\npii = "tag"\ntend_seconds = 10\n')
    monkeypatch.setenv("RECOLLECT_CONFIG", str(path))
    return path


def run(*arguments: str) -> tuple[int, Any]:
    done = CliRunner().invoke(app, ["config", "--json", *arguments])
    return done.exit_code, json.loads(done.stdout or done.stderr)


def failing(*arguments: str) -> dict[str, str]:
    """What fails the check, and why."""
    code, told = run("--check", "--embedder", "none", *arguments)
    assert code == 1
    return {check["name"]: check["detail"] for check in told["checks"] if check["state"] == "fail"}


def test_an_argument_before_the_environment_before_the_file(file: Path) -> None:
    found = sourced(
        {"RECOLLECT_CONFIG": str(file), "RECOLLECT_TOP_K": "8", "RECOLLECT_PII": ""}, threshold=0.9
    )
    assert found["threshold"] == (0.9, "argument")
    assert found["top_k"] == (8, "environment")
    assert found["conclude"] == (False, "file")
    assert found["pii"] == ("tag", "file")
    assert found["tend_seconds"] == (10, "file")
    assert found["port"] == (7070, "default")


def test_a_memory_goes_by_the_file(file: Path) -> None:
    with Memory.open(embedder="none") as memory:
        assert (memory.settings.top_k, memory.settings.conclude) == (7, False)


def test_a_file_in_the_current_directory_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "recollect.toml").write_text("top_k = 7")
    monkeypatch.chdir(tmp_path)
    assert load({}).top_k == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("topk = 5", "no setting 'topk' in .*did you mean 'top_k'"),
        ("TOP_K = 5", "did you mean 'top_k'"),
        ("[server]\nport = 1", "no setting 'server' in"),
        ('top_k = "5"', "top_k in .* must be of type int, not str"),
        ("top_k = 0", "RECOLLECT_TOP_K is 0, but must be between"),
        ('pii = "some"', "must be one of off"),
        ("top_k = ", "is not TOML"),
        ("\x00", "is not TOML"),
        ('key = "a"\nkey_file = "b"', "are both set"),
    ],
)
def test_a_wrong_file_is_named(file: Path, text: str, message: str) -> None:
    file.write_text(text)
    with pytest.raises(SettingsError, match=message):
        load({"RECOLLECT_CONFIG": str(file)})


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a" * 2_000_000, b"a" + b"=[" * 5000])
def test_a_hostile_file_is_refused(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.raises(SettingsError, match="RECOLLECT_CONFIG"):
        load({"RECOLLECT_CONFIG": str(file)})


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"RECOLLECT_CONFIG: .*gone\.toml cannot be read"):
        load({"RECOLLECT_CONFIG": str(tmp_path / "gone.toml")})


def test_a_key_stands_in_place_of_one_further_down(file: Path) -> None:
    file.write_text('key_file = "/elsewhere"')
    loaded = load({"RECOLLECT_CONFIG": str(file), "RECOLLECT_KEY": "secret"})
    assert (loaded.key, loaded.key_file) == ("secret", "")


def test_every_setting_is_shown_and_no_secret(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_UPSTREAM_KEY", "sk-very-secret")
    monkeypatch.setenv("RECOLLECT_MODEL", "https://me:very-secret@models.example/v1?token=very-secret")
    code, shown = run("--db", "postgresql://me:very-secret@host/db")
    assert code == 0
    assert "very-secret" not in json.dumps(shown)
    settings = shown["settings"]
    assert set(settings) == set(sourced({}))
    assert settings["upstream_key"] == {"value": "set", "origin": "environment"}
    assert settings["db"] == {"value": "postgresql://me:…@host/db", "origin": "argument"}
    assert settings["model"]["value"] == "https://me:…@models.example/v1"
    assert settings["top_k"] == {"value": 7, "origin": "file"}
    assert "very-secret" not in CliRunner().invoke(app, ["config"]).stdout


def test_all_is_well() -> None:
    with Memory.open(embedder="none"):
        pass
    code, told = run("--check", "--embedder", "none")
    assert (code, told["ok"]) == (0, True)
    assert {check["name"]: check["state"] for check in told["checks"]} == {
        "settings": "ok",
        "database": "ok",
        "address": "ok",
    }


def test_an_address_that_is_taken_fails_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("RECOLLECT_PORT", str(taken.getsockname()[1]))
        assert "Nothing can listen at 127.0.0.1" in failing()["address"]


def test_nobody_else_comes_in_without_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_HOST", "0.0.0.0")
    db = tmp_path / "it's new.db"
    make = f"`recollect keys create --db {shlex.quote(str(db))} --admin`"
    assert make in failing("--db", str(db))["keys"]
    done = CliRunner().invoke(app, ["serve", "--db", str(db), "--embedder", "none"])
    assert done.exit_code == 1
    assert make in done.stderr
    assert not db.exists()
    assert CliRunner().invoke(app, ["keys", "create", "--db", str(db), "--admin"]).exit_code == 0
    code, told = run("--check", "--embedder", "none", "--db", str(db))
    assert (code, told["ok"]) == (0, True)
    (warned,) = [check for check in told["checks"] if check["state"] == "warn"]
    assert (warned["name"], "RECOLLECT_UPSTREAM_KEY" in warned["fix"]) == ("upstream", True)
    monkeypatch.setenv("RECOLLECT_UPSTREAM_KEY", "sk-1")
    assert {check["state"] for check in run("--check", "--db", str(db))[1]["checks"]} == {"ok"}


def test_an_encrypted_file_without_its_key_is_called_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sqlcipher3")
    db = tmp_path / "memory.db"
    Memory.open(db, embedder="none", key="secret").close()
    assert "is encrypted: set RECOLLECT_KEY" in failing("--db", str(db))["database"]
    monkeypatch.setenv("RECOLLECT_KEY", "another")
    assert "does not open with this key" in failing("--db", str(db))["database"]


def test_a_database_that_is_not_made_yet_is_not_made(tmp_path: Path) -> None:
    code, told = run("--check", "--embedder", "none", "--db", str(tmp_path / "new.db"))
    assert (code, told["ok"]) == (0, True)
    assert not (tmp_path / "new.db").exists()


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"upstream": "api.example.com/v1"}, "upstream"),
        ({"upstream": "ftp://api.example.com"}, "upstream"),
        ({"upstream": "https://api.example.com:port/v1"}, "upstream"),
        ({"jwt_issuer": "https://id.example.com"}, "tokens"),
        ({"jwt_keys": "https://id.example.com/keys"}, "tokens"),
        ({"jwt_issuer": "https://id.example.com", "jwt_keys": "/no/such/file"}, "tokens"),
        ({"cors": "*"}, "cors"),
        ({"cors": "https://a.example, b.example"}, "cors"),
        ({"proxies": "my-proxy"}, "proxies"),
        ({"techniques": "+nothing"}, "settings"),
        ({"model": "https://models.example"}, "settings"),
        ({"db": "/dev/null/x.db"}, "database"),
        ({"db": "postgresql://127.0.0.1:1/none?connect_timeout=1"}, "database"),
    ],
)
def test_what_cannot_be_fails_the_check(
    settings: dict[str, str], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for setting, value in settings.items():
        monkeypatch.setenv(f"RECOLLECT_{setting.upper()}", value)
    code, told = run("--check", "--embedder", "none")
    assert code == 1
    assert not told["ok"]
    (failed,) = [check for check in told["checks"] if check["state"] == "fail"]
    assert (failed["name"], bool(failed["fix"])) == (name, True)


def test_what_is_misspelt_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_TOPK", "5")
    code, told = run("--check", "--embedder", "none")
    assert code == 0
    assert told["checks"][0]["detail"] == "RECOLLECT_TOPK is no setting"
