"""The command line as people meet it: programs of their own, pipes, terminals and signals."""

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.interface.test_cli_frame import ask, run

PROGRAM = [sys.executable, "-m", "recollect"]
BUDGET = "My budget for the Hawaii trip is $10,000"


def environment(**changes: str) -> dict[str, str]:
    return {**os.environ, "RECOLLECT_EMBEDDER": "hashing", **changes}


def spawn(*words: str | bytes, input: bytes = b"", **changes: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*PROGRAM, *words], input=input, capture_output=True, env=environment(**changes), check=False
    )


def answer(*words: str | bytes, **given: Any) -> Any:
    done = spawn(*words, "--json", **given)
    assert (done.returncode, done.stderr) == (0, b"")
    return json.loads(done.stdout)


def on_a_terminal(
    *words: str, typed: bytes = b"", program: list[str] = PROGRAM, **changes: str
) -> tuple[int, str]:
    """What the program shows to somebody at a terminal who types this, and its exit code."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [*program, *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment(TERM="xterm", **changes),
    )
    os.close(theirs)
    os.write(ours, typed)
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError:  # Linux says so when the other side is closed
        pass
    os.close(ours)
    return child.wait(), shown.decode("utf-8", "replace")


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """A file of more turns than fit into a pipe."""
    file = tmp_path / "many.jsonl"
    lines = (
        json.dumps({"role": "user", "content": f"{n}: " + "word " * 40, "conversation": "c"})
        for n in range(600)
    )
    file.write_text("\n".join(lines))
    return file


def test_said_in_one_process_and_known_in_another_until_forgotten(tmp_path: Path) -> None:
    turn = answer("record", "user", BUDGET, "--conversation", "march-15", "--user", "derek")
    found = answer("--user", "derek", "recall", "What's my budget for the trip?")
    assert [hit["content"] for hit in found["hits"]] == [BUDGET]
    assert ask("recall", "budget", "--user", "ana")["hits"] == []
    forgotten = answer("forget", "--conversation", "march-15", "--yes", "--user", "derek")
    assert forgotten["bytes_erased"] is True
    run("show", turn["id"], "--user", "derek", code=3)
    left = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"hawaii" not in left.lower()


def test_standard_input_and_pipes_between_programs() -> None:
    answer("record", "user", "-", "--user", "ana", input="Grüße\n".encode())
    exported = spawn("export", "--user", "ana").stdout
    assert answer("import", "-", "--user", "ben", input=exported)["total"] == 2
    assert ask("list", "--kind", "turn", "--user", "ben")["items"][0]["content"] == "Grüße"


def test_a_reader_that_leaves_early_is_no_error(many: Path) -> None:
    assert ask("record", "--file", many)["count"] == 600
    for words in (("list", "--kind", "turn", "--limit", "600"), ("export",)):
        child = subprocess.Popen(
            [*PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
        )
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.read(10)
        child.stdout.close()
        assert child.stderr.read() == b""
        assert child.wait() == 0
        child.stderr.close()


def test_bytes_that_are_no_text_survive_and_print() -> None:
    turn = answer("record", "user", b"caf\xe9")
    assert turn["content"] == "caf\udce9"
    assert "caf\\udce9" in run("list", "--kind", "turn").stdout
    ascii_only = spawn("record", "user", "Grüße 東京", "--json", PYTHONIOENCODING="ascii")
    assert json.loads(ascii_only.stdout)["content"] == "Grüße 東京"
    assert b"\\u6771" in spawn("list", "--kind", "turn", PYTHONIOENCODING="ascii").stdout


def test_closed_and_full_streams_are_no_crash() -> None:
    ask("record", "user", "hello")
    program = " ".join((*PROGRAM, "stats"))
    closed = subprocess.run(
        f"{program} <&- >&-", shell=True, capture_output=True, env=environment(), check=False
    )
    assert (closed.returncode, closed.stderr) == (0, b"")
    full = subprocess.run(
        f"{program} > /dev/full", shell=True, capture_output=True, env=environment(), check=False
    )
    assert (full.returncode, full.stderr) == (1, b"Error: No space left on device.\n")


def test_a_terminal_is_shown_cards_and_never_driven() -> None:
    ask("remember", "The budget \x1b]0;owned\x07 is [red]$10,000[/red]")
    code, shown = on_a_terminal("recall", "budget")
    assert code == 0
    assert "\x1b]0" not in shown
    assert "\x07" not in shown
    assert "[red]$10,000[/red]" in shown
    code, shown = on_a_terminal("stats")
    assert (code, "kind" in shown, "count" in shown) == (0, True, True)


def test_forgetting_everything_asks_first() -> None:
    ask("record", "user", BUDGET)
    code, shown = on_a_terminal("forget", "--all", typed=b"n\n")
    assert (code, "Forget everything" in shown, "Nothing was forgotten" in shown) == (1, True, True)
    code, shown = on_a_terminal("forget", "--all", typed=b"y\n")
    assert (code, "Forgotten: " in shown) == (0, True)
    assert ask("stats")["counts"] == {}


def test_forgetting_a_part_asks_first_and_says_how_much() -> None:
    ask("record", "user", BUDGET, "--conversation", "march-15")
    code, shown = on_a_terminal("forget", "--conversation", "march-15", typed=b"n\n")
    assert (code, "Nothing was forgotten" in shown) == (1, True)
    assert "'march-15'" in shown
    assert "1 conversation, 1 turn?" in shown
    code, shown = on_a_terminal("forget", "--conversation", "march-15", typed=b"y\n")
    assert (code, "Forgotten: 1 conversation, 1 turn." in shown) == (0, True)


def test_a_download_shows_megabytes_and_a_failed_source_leaves_no_bar(tmp_path: Path) -> None:
    script = (
        "from recollect.cli.frame import Here, Options\n"
        "here = Here(Options())\n"
        "here.fetching(0, 34_700_000, 'the hub')\n"
        "here.fetching(13_000_000, 26_000_000, 'the mirror')\n"
        "assert len(here._tasks) == 1\n"
        "here._bars.refresh()\n"
        "here.stop_progress()\n"
    )
    file = tmp_path / "fetching.py"
    file.write_text(script)
    code, shown = on_a_terminal(program=[sys.executable, str(file)], COLUMNS="120")
    assert (code, "13.0 of 26.0 MB" in shown) == (0, True)
    assert shown.rindex("the mirror") > shown.rindex("the hub")


def test_long_work_shows_a_bar_to_a_terminal_only(many: Path) -> None:
    code, shown = on_a_terminal("record", "--file", str(many), RECOLLECT_BATCH_LIMIT="100")
    assert (code, "Recording" in shown, "600" in shown) == (0, True, True)
    assert run("record", "--file", many).stderr == ""


@pytest.mark.parametrize(("how", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_worker_runs_until_it_is_ended(how: signal.Signals, code: int) -> None:
    ask("record", "user", "hello", RECOLLECT_EMBED_ON_WRITE="false")
    child = subprocess.Popen(
        [*PROGRAM, "tend", "--forever", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(RECOLLECT_TEND_SECONDS="0.01"),
    )
    assert child.stderr is not None
    assert "Ctrl-C" in child.stderr.readline()
    assert child.stderr.readline().startswith("embed: 1 done")
    child.send_signal(how)
    printed, _ = child.communicate()
    assert child.returncode == code
    assert {job["job"]: job["done"] for job in json.loads(printed)["jobs"]}["embed"] == 1, (
        "it says what it did"
    )


def test_the_demo_tells_its_story() -> None:
    done = spawn("demo")
    assert (done.returncode, done.stderr) == (0, b"")
    told = done.stdout.decode()
    assert "another process" in told
    assert "traces before" in told
    assert told.count(" ms)") == 5


def test_help_comes_without_the_heavy_libraries() -> None:
    code = "import sys, recollect.cli; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    heavy = {"rich.console", "sqlalchemy", "onnxruntime", "tokenizers", "alembic", "httpx"}
    assert not heavy & set(loaded.split())
