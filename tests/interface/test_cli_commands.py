"""The verbs on the command line, each as people read it and as JSON."""

import json
from pathlib import Path

import pytest

from recollect.cli.asking import LISTED
from tests.interface.test_cli_frame import ask, failure, run

BUDGET = "My budget for the Hawaii trip is $10,000"


@pytest.fixture(autouse=True)
def _in_berlin(monkeypatch: pytest.MonkeyPatch) -> None:
    """A local zone that is not UTC."""
    import time

    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()


# record


def test_record_prints_the_turn_and_its_conversation() -> None:
    id, conversation = run("record", "user", BUDGET, "--conversation", "march-15").stdout.split()
    assert conversation == "march-15"
    turn = ask("show", id)
    assert (turn["content"], turn["role"], turn["index"]) == (BUDGET, "user", 0)


def test_record_makes_a_conversation_and_keeps_every_field() -> None:
    words = ("--index", 4, "--at", "2025-03-15", "--title", "Trip", "--metadata", '{"a": [1]}')
    turn = ask("record", "assistant", BUDGET, *words, "--channel", "work", "--agent", "planner")
    assert turn["at"] == "2025-03-14T23:00:00+00:00"  # midnight in Berlin
    assert (turn["index"], turn["metadata"], turn["channel"], turn["agent"]) == (
        4,
        {"a": [1]},
        "work",
        "planner",
    )
    assert ask("show", turn["conversation"])["title"] == "Trip"


def test_recording_again_in_the_same_place_changes_nothing_and_other_text_is_refused() -> None:
    words = ("--conversation", "c", "--index", 0)
    assert ask("record", "user", "a", *words)["id"] == ask("record", "user", "a", *words)["id"]
    assert failure("record", "user", "b", *words, code=1)["type"] == "Conflict"


@pytest.mark.parametrize(
    ("given", "stored"), [("a\nb\n", "a\nb"), ("a\r\n", "a"), ("a\n\n", "a\n"), ("", "")]
)
def test_content_comes_from_standard_input_without_its_last_line_end(given: str, stored: str) -> None:
    assert ask("record", "user", "-", input=given)["content"] == stored


def test_standard_input_that_is_not_text_is_refused() -> None:
    assert "UTF-8" in failure("record", "user", "-", input=b"\xff\xfe", code=1)["message"]


def test_many_turns_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "messages.jsonl"
    file.write_text(
        '\ufeff{"role": "user", "content": "one", "conversation": "a", "at": "2025-03-15T10:00:00Z"}\n\n'
        '{"role": "assistant", "content": "two", "conversation": "a", "metadata": {"x": 1}}\n'
        '{"role": "user", "content": "three"}\n',
        encoding="utf-8",
    )
    answer = ask("record", "--file", file, "--conversation", "b")
    assert answer["count"] == 3
    assert [turn["conversation"] for turn in answer["turns"]] == ["a", "a", "b"]
    assert ask("show", "a")["turns"][0]["at"] == "2025-03-15T10:00:00+00:00"
    assert run("record", "--file", "-", input=file.read_bytes()).stdout.startswith("a\t2\n")


# remember, correct, pin


def test_remember_correct_and_ask_for_both_times() -> None:
    old = ask("remember", "The budget is $10,000", "--since", "2025-03-15", "--about", "Hawaii")
    assert old["kind"] == "fact"
    new = ask("correct", old["id"], "The budget is $12,500", "--since", "2025-04-02")
    assert new["supersedes"] == old["id"]
    now = ask("recall", "budget", "--kind", "fact")
    then = ask("recall", "budget", "--kind", "fact", "--as-of", "2025-03-20")
    assert [hit["content"] for hit in now["hits"]] == ["The budget is $12,500"]
    assert [hit["content"] for hit in then["hits"]] == ["The budget is $10,000"]
    assert [item["id"] for item in ask("list")["items"]] == [new["id"]]
    assert {item["id"] for item in ask("list", "--history")["items"]} == {new["id"], old["id"]}
    assert "until 2025-04-02" in run("list", "--history").stdout
    assert [event["what"] for event in ask("timeline", "Hawaii")["events"]] == [
        "learnt",
        "ended",
        "corrected",
    ]


def test_remember_takes_every_field_and_standard_input() -> None:
    words = (
        "--kind",
        "procedure",
        "--pin",
        "--confidence",
        0.5,
        "--expires",
        "2099-01-01",
        "--metadata",
        "{}",
    )
    memory = ask("remember", "-", *words, "--until", "2098-01-01T00:00Z", input="Tag, then wait\n")
    assert (memory["kind"], memory["content"], memory["pinned"]) == ("procedure", "Tag, then wait", True)
    assert (memory["confidence"], memory["valid_to"]) == (0.5, "2098-01-01T00:00:00+00:00")
    assert "Tag, then wait" in run("list", "--kind", "procedure").stdout


def test_pin_and_unpin() -> None:
    id = ask("remember", "Ana is allergic to peanuts")["id"]
    assert ask("pin", id)["pinned"] is True
    assert "pinned" in run("list").stdout
    assert id in run("pin", id, "--off").stdout
    assert ask("show", id)["pinned"] is False
    assert id not in run("correct", id, "-", input="Ana is allergic to nuts").stdout


# recall


def test_recall_prints_hits_and_context() -> None:
    turn = ask("record", "user", BUDGET, "--conversation", "march-15", "--at", "2025-03-15T18:30")
    found = ask("recall", "What's my budget for the trip?")
    (hit,) = found["hits"]
    assert (hit["id"], hit["kind"], hit["content"]) == (turn["id"], "turn", BUDGET)
    assert hit["at"] == "2025-03-15T17:30:00+00:00"
    assert hit["score"] > 0
    assert BUDGET in found["context"]
    assert {"problems", "timings_ms", "query"} <= found.keys()
    score, role, at, id, content = run("recall", "budget").stdout.rstrip("\n").split("\t")
    assert (float(score) > 0, role, at, id, content) == (
        True,
        "user",
        "2025-03-15 18:30 CET",
        turn["id"],
        BUDGET,
    )


def test_recall_filters() -> None:
    for day, conversation in ((1, "a"), (2, "b"), (3, "c")):
        place = (
            "--conversation",
            conversation,
            "--at",
            f"2025-03-0{day}",
            "--agent",
            f"agent-{conversation}",
        )
        run("record", "user", f"budget number {day}", *place)
    run("remember", "budget as a fact")

    def found(*words: object) -> set[str]:
        return {hit["content"] for hit in ask("recall", "budget", *words)["hits"]}

    assert len(found()) == 4
    assert len(found("--top-k", 2)) == 2
    assert found("--kind", "fact") == {"budget as a fact"}
    assert len(found("--kind", "fact", "--kind", "turn")) == 4
    assert found("--conversation", "b") == {"budget number 2"}
    assert found("--agent", "agent-c") == {"budget number 3"}
    assert found("--since", "2025-03-02", "--until", "2025-03-03", "--kind", "turn") == {"budget number 2"}
    assert found("--known-at", "2025-03-02") == set()
    assert len(found("--threshold", 1)) == 4  # words find them anyway


def test_recall_explains_and_gives_the_context_alone() -> None:
    run("record", "user", BUDGET)
    assert ask("recall", "budget", "--explain")["explanation"].startswith("1 memory for")
    assert run("recall", "budget", "--explain").stdout.startswith("1 memory for 'budget'")
    assert run("recall", "budget", "--context").stdout.endswith("</memory_context>\n")


def test_recall_of_nothing_is_no_failure() -> None:
    run("record", "user", "hello", "--user", "ana")
    result = run("recall", "anything")
    assert (result.stdout, ask("recall", "-", input="anything")["hits"]) == ("", [])
    assert "Nothing" in result.stderr


# list, show, timeline, conversations, stats


def test_lists_come_in_pages() -> None:
    for number in range(3):
        run("record", "user", f"turn {number}", "--conversation", "c")
    first = ask("list", "--kind", "turn", "--limit", 2)
    assert [item["content"] for item in first["items"]] == ["turn 2", "turn 1"]
    rest = ask("list", "--kind", "turn", "--limit", 2, "--after", first["next"])
    assert ([item["content"] for item in rest["items"]], rest["next"]) == (["turn 0"], None)
    assert first["next"] in run("list", "--kind", "turn", "--limit", 2).stderr
    oldest = ask("list", "--kind", "turn", "--oldest-first", "--conversation", "c")
    assert [item["content"] for item in oldest["items"]] == ["turn 0", "turn 1", "turn 2"]


def test_every_kind_can_be_listed() -> None:
    run("remember", "Ana is allergic to peanuts", "--about", "Ana")
    run("goals", "add", "Book the flights")
    run("profile", "set", "--expertise", "Python")
    stored = ask("stats")["counts"] | {"audit": len(ask("audit")["audit"])}
    for kind in LISTED:
        printed = run("list", "--kind", kind)
        assert len(printed.stdout.splitlines()) == stored.get(kind, 0), kind
        assert ("There is no" in printed.stderr) == (kind not in stored)
    assert {"conversation", "turn", "fact", "entity", "goal", "profile"} <= stored.keys()


def test_show_of_a_conversation_has_its_turns() -> None:
    run("record", "user", "first", "--conversation", "c", "--title", "Trip")
    run("record", "assistant", "second", "--conversation", "c")
    assert [turn["content"] for turn in ask("show", "c")["turns"]] == ["first", "second"]
    printed = run("show", "c").stdout
    assert "Trip" in printed
    assert printed.index("first") < printed.index("second")
    assert ask("conversations")["conversations"][0]["title"] == "Trip"
    assert run("conversations").stdout.startswith("c\t2\t")
    assert ask("conversations", "--channel", "work") == {"conversations": [], "next": None}


def test_graph() -> None:
    run("record", "user", "My sister Anna works at Acme.", "--conversation", "c")
    run("mine")
    around = ask("graph", "Anna")
    told = {one["id"]: one["name"] for one in around["entities"]}
    told_of = {(told[r["source"]], told[r["target"]]) for r in around["relations"]}
    assert "Anna" in told.values()
    assert told_of
    assert all("Anna" in pair for pair in told_of)
    assert "Anna" in run("graph", "Anna", "--hops", 2).stdout
    assert ask("graph", "Anna", "--as-of", "1999-01-01")["relations"] == []


def test_timeline_and_stats() -> None:
    run("record", "user", "in March", "--at", "2025-03-15")
    run("record", "user", "in April", "--at", "2025-04-15")
    assert [event["content"] for event in ask("timeline")["events"]] == ["in March", "in April"]
    assert [e["content"] for e in ask("timeline", "--since", "2025-04-01", "--limit", 1)["events"]] == [
        "in April"
    ]
    assert ask("timeline", "--until", "2025-01-01")["events"] == []
    assert "in March" in run("timeline").stdout
    assert run("stats").stdout.startswith("conversation\t2\nturn\t2\n")


def test_users_and_channels_are_apart() -> None:
    id = ask("record", "user", BUDGET, "--user", "ana", "--channel", "work")["id"]
    assert ask("recall", "budget", "--user", "ben")["hits"] == []
    assert ask("recall", "budget", "--user", "ana")["hits"] == []
    assert len(ask("recall", "budget", "--user", "ana", "--channel", "work")["hits"]) == 1
    for words in (("show", id), ("forget", id), ("pin", id), ("correct", id, "x")):
        failure(*words, "--user", "ben", code=3)
    assert ask("list", "--kind", "turn", "--user", "ben")["items"] == []
    assert ask("timeline", "--user", "ben")["events"] == []
    assert len(run("export", "--user", "ben").stdout.splitlines()) == 1


# forget


def test_forget_one_with_and_without_sources() -> None:
    id = ask("remember", "Ana is allergic to peanuts")["id"]
    gone = ask("forget", id)
    assert gone.pop("receipt") == ask("audit", "--operation", "forget")["audit"][0]["id"]
    assert gone == {"forgotten": {"fact": 1, "turn": 1}, "total": 2, "bytes_erased": True}
    failure("show", id, code=3)
    turn = ask("record", "user", BUDGET)["id"]
    assert run("forget", turn, "--with-sources").stdout.startswith("Forgotten: 1 turn. Receipt: ")


@pytest.mark.parametrize("place", ["conversation", "channel", "agent"])
def test_forget_a_conversation_a_channel_or_an_agent(place: str) -> None:
    run("record", "user", BUDGET, f"--{place}", "march")
    kept = ask("record", "user", "kept", f"--{place}", "april", "--channel", "april")["id"]
    assert ask("forget", f"--{place}", "march", "--yes")["forgotten"]["turn"] == 1
    assert [item["id"] for item in ask("list", "--kind", "turn")["items"]] == [kept]
    failure("forget", f"--{place}", "march", "--yes", code=3)


def test_an_id_is_forgotten_alone_whatever_its_scope() -> None:
    id = ask("record", "user", "one", "--conversation", "c")["id"]
    run("record", "user", "two", "--conversation", "c")
    assert ask("forget", id, "--conversation", "c")["total"] == 1


def test_forget_everything_needs_yes() -> None:
    run("record", "user", BUDGET, "--user", "ana")
    run("record", "user", BUDGET, "--user", "ben")
    assert "--yes" in failure("forget", "--all", "--user", "ana", code=2)["message"]
    assert ask("forget", "--all", "--yes", "--user", "ana")["forgotten"]["turn"] == 1
    assert ask("stats", "--user", "ana")["counts"] == {}
    assert ask("stats", "--user", "ben")["counts"]["turn"] == 1
    assert "nothing" in run("forget", "--all", "--yes", "--user", "ana").stdout


# export, import


def test_export_and_import_there_and_back(tmp_path: Path) -> None:
    run("record", "user", BUDGET, "--conversation", "c", "--user", "ana")
    run("remember", "Ana is allergic to peanuts", "--user", "ana")
    file = tmp_path / "memory.jsonl"
    assert ask("export", file, "--user", "ana") == {"file": str(file), "records": 5}
    assert file.stat().st_mode & 0o777 == 0o600
    assert run("export", file, "--user", "ana").stdout.startswith("Exported 5 records")
    assert [path.name for path in tmp_path.glob("*jsonl*")] == ["memory.jsonl"]
    assert file.read_text() == run("export", "--user", "ana").stdout
    assert ask("import", file, "--user", "ben")["total"] == 5
    again = ask("import", "-", "--user", "ben", input=file.read_text())
    assert (again["total"], again["unchanged"]) == (0, 5)
    assert "5 were there already" in run("import", file, "--user", "ben").stdout
    assert len(ask("recall", "budget", "--user", "ben")["hits"]) >= 1


def test_an_export_as_one_document_is_imported_too() -> None:
    run("record", "user", BUDGET, "--user", "ana")
    printed = run("export", "--json", "--user", "ana").stdout
    header, *records = json.loads(printed)
    assert (header["user"], len(records)) == ("ana", 2)
    assert ask("import", "-", "--user", "ben", input=printed)["total"] == 2


def test_a_failed_export_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("record", "user", BUDGET)
    file = tmp_path / "memory.jsonl"
    file.write_text("old")

    def broken(_: object) -> object:
        yield "{}"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("recollect.scoped.ScopedMemory.export", broken)
    assert "No space" in failure("export", file, code=1)["message"]
    assert file.read_text() == "old"
    assert [path.name for path in tmp_path.glob("*memory*")] == ["memory.jsonl"]
    failure("export", tmp_path / "no" / "folder.jsonl", code=1)


def test_an_export_follows_links_and_writes_to_devices(tmp_path: Path) -> None:
    run("record", "user", BUDGET)
    link = tmp_path / "link.jsonl"
    link.symlink_to(tmp_path / "real.jsonl")
    assert ask("export", link)["records"] == 2
    assert link.is_symlink()
    assert len((tmp_path / "real.jsonl").read_text().splitlines()) == 3
    assert ask("export", "/dev/null")["records"] == 2


@pytest.mark.parametrize("text", ["", "{}\n", "[1]\n", "not json\n", '{"recollect": 99}\n'])
def test_what_is_no_export_is_not_imported(text: str) -> None:
    assert failure("import", "-", input=text, code=1)["type"] == "Invalid"


# goals, profile


def test_goals() -> None:
    first = ask("goals", "add", "Book the flights", "--deadline", "2025-04-01", "--priority", 2)
    second = ask("goals", "add", "Fly", "--blocked-by", first["id"])
    pack = ask("goals", "add", "Pack", "--parent", second["id"])
    assert (first["deadline"], second["status"]) == ("2025-03-31T22:00:00+00:00", "blocked")
    assert [goal["id"] for goal in ask("goals", "list")["goals"]] == [first["id"], pack["id"]]
    assert "Book the flights" in run("goals", "list").stdout
    assert len(ask("goals", "list", "--status", "all")["goals"]) == 3
    done = ask("goals", "complete", first["id"], "--result", "Booked")
    assert (done["status"], done["result"]) == ("completed", "Booked")
    assert [goal["id"] for goal in ask("goals", "list")["goals"]] == [second["id"], pack["id"]]
    assert "abandoned" in run("goals", "complete", second["id"], "--status", "abandoned").stdout
    assert ask("goals", "list")["goals"] == []


def test_profile() -> None:
    words = ("--preference", "seat=aisle", "--preference", "stars=4", "--style", "tone=brief")
    known = ask("profile", "set", *words, "--expertise", "Python")
    assert known["preferences"] == {"seat": "aisle", "stars": 4}
    assert (known["style"], known["expertise"]) == ({"tone": "brief"}, ["Python"])
    assert run("profile", "show").stdout.splitlines()[0] == "preference\tseat\taisle"
    run("profile", "set", "--preference", "seat=null")
    assert ask("profile", "show")["preferences"] == {"stars": 4}
