"""recollect import --from."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from recollect import Fact, Memory
from tests.interface.test_cli_frame import ask, failure, run
from tests.unit.importing import chatgpt, claude, node, palace, sent, written, zipped

SRC = Path(__file__).parents[2] / "src"


def test_conversations_from_a_zip_and_what_is_said_of_it(tmp_path: Path) -> None:
    talk = chatgpt(
        "c1", node("s", "root", "system", ""), node("q", "s", "user", "My budget is $10,000"), title="Trip"
    )
    export = zipped(tmp_path / "export.zip", conversations_000=[talk, 5])
    dry = run("import", export, "--dry-run").stdout
    assert dry.startswith("Would import 1 turn from chatgpt for ")
    assert not (tmp_path / "recollect.db").exists()
    answer = ask("import", "--from", "chatgpt", export)
    assert (answer["source"], answer["imported"], answer["total"]) == ("chatgpt", {"turn": 1}, 1)
    assert answer["skipped"] == [
        {
            "reason": "it is a message of the system",
            "count": 1,
            "first": ["conversations-000.json, item 1, message 1"],
        },
        {
            "reason": "it is not what the format has there",
            "count": 1,
            "first": ["conversations-000.json, item 2"],
        },
    ]
    assert ask("recall", "budget")["hits"][0]["content"] == "My budget is $10,000"
    printed = run("import", export).stdout
    assert "Imported nothing from chatgpt" in printed
    assert "1 was there already.\nLeft out 2:\n  1: it is a message of the system (" in printed
    assert "budget" not in printed


@pytest.mark.parametrize("source", ["mem0", "mempalace", "claude", "messages", "markdown"])
def test_every_source_with_its_name_and_without(tmp_path: Path, source: str) -> None:
    files = {
        "mem0": lambda: written(tmp_path / "mem0.json", {"results": [{"id": "1", "memory": "Likes tea"}]}),
        "mempalace": lambda: palace(tmp_path / "palace", d1={"document": "Likes tea"}),
        "claude": lambda: zipped(
            tmp_path / "data.zip", conversations=[claude("c", sent("1", "human", "Likes tea"))]
        ),
        "messages": lambda: written(
            tmp_path / "log.jsonl", {"messages": [{"role": "user", "content": "Likes tea"}]}
        ),
        "markdown": lambda: tmp_path / "note.md",
    }
    (tmp_path / "note.md").write_text("Likes tea")
    file = files[source]()
    assert ask("import", "--from", source, file)["total"] == 1
    again = ask("import", file)
    assert (again["source"], again["total"], again["unchanged"]) == (source, 0, 1)
    assert ask("recall", "tea")["hits"][0]["content"] == "Likes tea"


def test_notes_that_changed_and_users_that_are_told_apart(tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("# Tea\nGreen")
    run("import", note)
    note.write_text("# Tea\nBlack")
    assert "Corrected 1 memory that had changed there." in run("import", note).stdout
    rows = [{"id": n, "memory": f"fact {n}", "user_id": f"user {n}"} for n in range(2)]
    assert ask("import", written(tmp_path / "m.json", rows), "--of", "user 1")["imported"] == {"fact": 1}


def test_an_import_that_was_killed_goes_on(tmp_path: Path) -> None:
    words = [node(str(n), str(n - 1) if n else "root", "user", f"word {n}") for n in range(200)]
    talks = written(tmp_path / "conversations.json", [chatgpt(f"c{n}", *words) for n in range(20)])
    facts = written(tmp_path / "m.json", [{"id": str(n), "memory": f"fact {n}"} for n in range(2000)])
    program = (
        "import sys; from recollect import Memory; from recollect.importing import import_from\n"
        "with Memory.open(sys.argv[1], embedder='hashing', batch_limit=50) as memory:\n"
        "    import_from(memory.scope('ana'), 'auto', sys.argv[2], progress=lambda n: print(n, flush=True))\n"
    )
    db = tmp_path / "recollect.db"
    for file in (talks, facts):
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(db), str(file)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(SRC)},
        )
        assert process.stdout is not None
        said = [int(process.stdout.readline()) for _ in range(3)]
        process.send_signal(signal.SIGKILL)
        said += map(int, process.communicate()[0].split())
        assert process.returncode == -signal.SIGKILL
        answer = ask("import", file, "--user", "ana", "--db", db)
        assert answer["unchanged"] >= said[-1]
        assert answer["total"] + answer["unchanged"] == (4000 if file is talks else 2000)
        assert answer["total"] > 0
    with Memory.open(db, embedder="hashing") as memory:
        mine = memory.scope("ana")
        assert (mine.counts()["turn"], mine.counts()["fact"]) == (6000, 2000)
        assert len({fact.content for fact in mine.list("fact", limit=5000) if isinstance(fact, Fact)}) == 2000


def test_what_cannot_be_imported(tmp_path: Path) -> None:
    own = tmp_path / "own.jsonl"
    run("remember", "Likes tea")
    run("export", own)
    assert ask("import", own, "--user", "ben")["total"] == 3
    assert ask("import", "--from", "recollect", own, "--user", "eve")["total"] == 3
    failure("import", own, "--dry-run", code=2)
    failure("import", "-", "--from", "mem0", code=2, input="[]")
    failure("import", own, "--from", "letta", code=2)
    assert failure("import", "--from", "mem0", tmp_path / "nowhere", code=3)["type"] == "NotFound"
    (tmp_path / "x.json").write_text("[1]")
    assert "--from" in failure("import", tmp_path / "x.json", code=1)["message"]
    (tmp_path / "y.zip").write_bytes(b"PK\x05\x06" + bytes(18))
    assert failure("import", "--from", "claude", tmp_path / "y.zip", code=1)["type"] == "Invalid"


def test_what_was_asked_for_and_is_not_there(tmp_path: Path) -> None:
    rows = [{"id": n, "memory": f"fact {n}", "user_id": f"user {n}"} for n in range(2)]
    told = failure("import", written(tmp_path / "m.json", rows), "--of", "nobody", code=3)["message"]
    assert "'nobody'" in told
    assert "user 0, user 1" in told
    talk = chatgpt("c1", node("q", "root", "user", "Hello"))
    export = zipped(tmp_path / "export.zip", conversations=[talk])
    told = failure("import", export, "--from", "claude", code=1)["message"]
    assert "--from chatgpt" in told
    failure("import", tmp_path / "nowhere.jsonl", code=3)


def test_what_else_is_in_a_folder_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    (folder / "notes").mkdir(parents=True)
    written(folder / "conversations.json", [chatgpt("c1", node("q", "root", "user", "Hello"))])
    written(folder / "mem0.json", [{"id": "1", "memory": "Likes tea"}])
    (folder / "log.jsonl").write_text('{"role": "user", "content": "Hi"}')
    (folder / "user.json").write_text('{"id": "u", "email": "e"}')
    (folder / "notes" / "a.md").write_text("Tea")
    answer = ask("import", folder)
    assert (answer["source"], answer["imported"]) == ("chatgpt", {"turn": 1})
    assert {one["first"][0]: one["reason"] for one in answer["skipped"]} == {
        "mem0.json": "it is of mem0: import it by itself",
        "log.jsonl": "it is of messages: import it by itself",
        "notes/a.md": "it is of markdown: import it by itself",
    }
    assert ask("import", folder, "--from", "chatgpt")["skipped"] == []


@pytest.mark.parametrize("source", ["recollect", "messages"])
def test_what_comes_through_a_pipe(tmp_path: Path, source: str) -> None:
    run("remember", "Likes tea")
    lines = run("export").stdout if source == "recollect" else '{"role": "user", "content": "Hi"}'
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(lines,))
    writer.start()
    words = ("--from", source) if source == "messages" else ()
    assert ask("import", *words, tmp_path / "pipe", "--user", "ben")["total"] == (1 if words else 3)
    writer.join()


def test_nothing_of_the_content_is_told(tmp_path: Path) -> None:
    secret = "xylophone"
    rows = [
        {"id": {"a": secret}, "memory": secret},
        {"id": "1", "memory": secret, "metadata": {"m": [secret]}},
    ]
    file = tmp_path / "m.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)) + f"\n{{{secret}")
    done = run("import", "--from", "mem0", file)
    assert secret not in done.stdout + done.stderr
