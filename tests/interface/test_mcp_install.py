"""`recollect mcp install`: the entry in a client's configuration, and nothing else changed there."""

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from recollect.cli.mcp_clients import CLIENTS
from tests.interface.mcp_client import told, within
from tests.interface.test_cli_frame import ask, failure, run

FILES = {
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "claude-code": ".claude.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
}
PROJECT = {"claude-code": ".mcp.json", "cursor": ".cursor/mcp.json", "vscode": ".vscode/mcp.json"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    return folder


def servers(client: str, file: Path) -> Any:
    return json.loads(file.read_text("utf-8"))[CLIENTS[client].servers]


@pytest.mark.skipif(sys.platform != "linux", reason="the paths are those of Linux")
@pytest.mark.parametrize("client", FILES)
def test_the_entry_is_where_the_client_looks_and_starts_this_memory(home: Path, client: str) -> None:
    done = ask("mcp", "install", client, "--user", "ana", "--channel", "work")
    file = home / FILES[client]
    assert (done["file"], done["changed"], done["backup"]) == (str(file), True, None)
    entry = servers(client, file)["recollect"]
    assert entry["command"] == sys.executable
    assert entry["args"] == [
        "-m",
        "recollect",
        "mcp",
        "--user",
        "ana",
        "--channel",
        "work",
        "--agent",
        client,
    ]
    assert entry.get("type", "stdio") == "stdio"
    assert entry["env"]["RECOLLECT_DB"] == str(home.parent / "recollect.db")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_entry_works_as_it_is_written(home: Path) -> None:
    run("mcp", "install", "cursor", "--user", "ana")
    entry = servers("cursor", home / FILES["cursor"])["recollect"]

    async def work(client: Client) -> None:
        await told(client, "remember", content="Whales sing")

    env = {**entry["env"], "PYTHONPATH": os.pathsep.join(sys.path)}  # nothing else of ours goes along
    within(Client(StdioServerParameters(command=entry["command"], args=entry["args"], env=env)), work)
    assert ask("stats", "--user", "ana")["counts"]["fact"] == 1


def test_what_else_is_there_stays_and_a_copy_is_kept(home: Path) -> None:
    file = home / FILES["cursor"]
    file.parent.mkdir()
    before = {
        "theme": "dünn\ud800",
        "n": 0.1,
        "mcpServers": {"other": {"command": "x", "args": []}},
        "z": [1],
    }
    text = json.dumps(before, indent=4)
    file.write_text(text)
    file.chmod(0o640)
    done = ask("mcp", "install", "cursor")
    after = json.loads(file.read_text())
    assert list(after) == list(before)
    assert after["mcpServers"].pop("recollect")
    assert after == before
    assert Path(done["backup"]).read_text() == text
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert sorted(one.name for one in file.parent.iterdir()) == ["mcp.json", "mcp.json.bak"]


def test_doing_it_twice_changes_nothing_and_undoing_it_leaves_the_rest(home: Path) -> None:
    file = home / FILES["claude-code"]
    file.write_text('{"mcpServers": {"other": {"command": "x"}}, "projects": {}}')
    run("mcp", "install", "claude-code")
    written = file.stat().st_mtime_ns
    assert ask("mcp", "install", "claude-code")["changed"] is False
    assert "already" in run("mcp", "install", "claude-code").stdout
    assert file.stat().st_mtime_ns == written
    assert ask("mcp", "install", "claude-code", "--channel", "work")["changed"] is True
    assert ask("mcp", "uninstall", "claude-code")["changed"] is True
    assert ask("mcp", "uninstall", "claude-code")["changed"] is False
    assert "There is no recollect in " in run("mcp", "uninstall", "claude-code").stdout
    assert json.loads(file.read_text()) == {"mcpServers": {"other": {"command": "x"}}, "projects": {}}


def test_a_dry_run_shows_it_and_writes_nothing(home: Path) -> None:
    shown = run("mcp", "install", "vscode", "--dry-run").stdout
    assert shown.startswith(f"Would write: {home / FILES['vscode']}")
    assert '"servers"' in shown
    assert ask("mcp", "install", "vscode", "--dry-run")["dry_run"] is True
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("client", PROJECT)
def test_a_projects_file_tells_nothing_of_one_person_or_machine(
    tmp_path: Path, home: Path, client: str
) -> None:
    run("mcp", "install", client, "--project", "--channel", "apollo")
    entry = servers(client, tmp_path / PROJECT[client])["recollect"]
    assert entry == {
        "type": "stdio",
        "command": "recollect",
        "args": ["mcp", "--channel", "apollo", "--agent", client],
    }
    assert list(home.iterdir()) == []


def test_a_server_is_reached_over_http_where_the_client_can(home: Path) -> None:
    words = ("--server", "https://memory.example.org/", "--key", "rk_secret", "--channel", "a b")
    shown = run("mcp", "install", "cursor", *words)
    assert "rk_secret" not in shown.stdout + shown.stderr
    assert servers("cursor", home / FILES["cursor"])["recollect"] == {
        "type": "http",
        "url": "https://memory.example.org/mcp?channel=a+b&agent=cursor",
        "headers": {"Authorization": "Bearer rk_secret"},
    }
    run("mcp", "install", "claude-desktop", *words)
    entry = servers("claude-desktop", home / FILES["claude-desktop"])["recollect"]
    assert entry["env"] == {
        "RECOLLECT_SERVER_URL": "https://memory.example.org/",
        "RECOLLECT_SERVER_KEY": "rk_secret",
    }
    assert "--user" not in entry["args"]


def test_settings_go_along_and_secrets_are_named_only(home: Path) -> None:
    given: Any = {"RECOLLECT_TOP_K": "7", "RECOLLECT_MODEL_KEY": "sk-secret"}
    told = run("mcp", "install", "cursor", "--db", "mine.db", **given)
    assert "RECOLLECT_MODEL_KEY" in told.stderr
    assert "sk-secret" not in told.stdout + told.stderr
    file = home / FILES["cursor"]
    assert servers("cursor", file)["recollect"]["env"] == {
        "RECOLLECT_DB": str(home.parent / "mine.db"),
        "RECOLLECT_EMBEDDER": "hashing",
        "RECOLLECT_TOP_K": "7",
    }
    assert "sk-secret" not in file.read_text()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"a": 1, // a comment\n}', "not plain JSON (line 1)"),
        ('{"a": [1,]}', "not plain JSON"),
        ("[1]", "no JSON object"),
        ('{"mcpServers": [1]}', "mcpServers in"),
        ("[" * 100_000, "not plain JSON"),
        ('{"a": ' + "9" * 10_000 + "}", "not plain JSON"),
    ],
)
def test_a_file_that_could_not_be_kept_as_it_is_is_left_alone(home: Path, content: str, said: str) -> None:
    file = home / FILES["claude-code"]
    file.write_text(content)
    assert said in failure("mcp", "install", "claude-code", code=1)["message"]
    assert file.read_text() == content
    assert "mcpServers" in ask("mcp", "install", "claude-code", "--print")


def test_an_empty_file_and_a_link_are_written_as_they_are(home: Path) -> None:
    real = home / "dotfiles.json"
    real.write_text("\ufeff\n", "utf-8")
    (home / FILES["claude-code"]).symlink_to(real)
    run("mcp", "install", "claude-code")
    assert (home / FILES["claude-code"]).is_symlink()
    assert "recollect" in servers("claude-code", real)


def test_what_cannot_be_is_refused() -> None:
    assert "claude-desktop, claude-code" in failure("mcp", "install", "emacs", code=2)["message"]
    assert (
        "no configuration for a project"
        in failure("mcp", "install", "claude-desktop", "--project", code=1)["message"]
    )
    words = ("--project", "--server", "http://h:1", "--key", "rk_x")
    assert "no place for a key" in failure("mcp", "install", "cursor", *words, code=1)["message"]
