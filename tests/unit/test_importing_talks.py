"""Conversations elsewhere: what is taken of each source, what is left and why."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from recollect.importing import chatgpt as chatgpt_source
from recollect.importing import claude as claude_source
from recollect.importing import messages
from recollect.importing.branches import OTHER_BRANCH
from recollect.importing.detecting import detect
from recollect.importing.items import NO_TEXT, NOT_AN_OBJECT, Said
from tests.unit.importing import chatgpt, claude, left, node, said, sent, written, zipped

# ChatGPT


def test_chatgpt_follows_the_branch_that_was_shown(tmp_path: Path) -> None:
    talk = chatgpt(
        "c1",
        node("s", "root", "system", ""),
        node("q1", "s", "user", "Where to?", at=1_700_000_001),
        node("old", "q1", "assistant", "Rome"),
        node("new", "q1", "assistant", "Lis", "bon", at=1_700_000_003.25, model_slug="gpt-5"),
        title="Trip",
    )
    file = written(tmp_path / "conversations.json", [talk])
    items = [*chatgpt_source.read(file)]
    assert said(iter(items)) == [
        ("chatgpt:c1", 0, "user", "Where to?"),
        ("chatgpt:c1", 1, "assistant", "Lis\n\nbon"),
    ]
    last = items[2]
    assert isinstance(last, Said)
    assert last.message.at == datetime(2023, 11, 14, 22, 13, 23, 250_000, UTC)
    assert (last.message.title, last.message.model) == ("Trip", "gpt-5")
    assert last.message.metadata == {"imported": {"from": "chatgpt", "id": "new"}}
    assert left(iter(items)) == {chatgpt_source.SYSTEM: 1, OTHER_BRANCH: 1}


def test_chatgpt_leaves_out_what_nobody_said(tmp_path: Path) -> None:
    image = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}
    heard = {"content_type": "audio_transcription", "text": "spoken"}
    parts: list[dict[str, Any]] = [
        node("1", "root", "user", content={"content_type": "user_editable_context", "user_profile": "I am"}),
        node("2", "1", "user", image),
        node("3", "2", "user", image, "See?", attachments=[{"name": "a.png"}, {}, 3]),
        node("4", "3", "assistant", content={"content_type": "thoughts", "thoughts": []}),
        node(
            "5", "4", "assistant", content={"content_type": "code", "text": "search()"}, recipient="browser"
        ),
        node("6", "5", "tool", "found"),
        node("7", "6", "assistant", "quiet", is_visually_hidden_from_conversation=True),
        node("8", "7", "user", heard),
        node("9", "8", "assistant", ""),
        node("a", "9", "robot", "beep"),
    ]
    items = [*chatgpt_source.read(written(tmp_path / "x.json", [chatgpt("c", *parts)]))]
    assert [row[3] for row in said(iter(items))] == ["See?", "spoken"]
    assert left(iter(items)) == {
        chatgpt_source.INSTRUCTIONS: 1,
        chatgpt_source.NOT_TEXT: 1,
        chatgpt_source.REASONING: 1,
        chatgpt_source.TOOL: 2,
        chatgpt_source.HIDDEN: 1,
        NO_TEXT: 1,
        NOT_AN_OBJECT: 1,
    }
    assert next(item for item in items if isinstance(item, Said)).message.metadata["imported"][
        "attachments"
    ] == ["a.png"]


def test_chatgpt_in_split_files_of_its_zip_and_its_folder(tmp_path: Path) -> None:
    one, two = (chatgpt(id, node("q", "root", "user", id)) for id in ("c1", "c2"))
    export = zipped(tmp_path / "e.zip", conversations_001=[two], conversations_000=[one], user={"id": "u"})
    assert [row[3] for row in said(chatgpt_source.read(export))] == ["c1", "c2"]
    folder = tmp_path / "folder"
    folder.mkdir()
    written(folder / "conversations.json", [one])
    written(folder / "shared_conversations.json", [two])
    assert [row[3] for row in said(chatgpt_source.read(folder))] == ["c1"]
    assert (detect(export), detect(folder)) == ("chatgpt", "chatgpt")


def test_chatgpt_trees_that_are_broken(tmp_path: Path) -> None:
    circle = chatgpt(
        "c1", node("a", "b", "user", "A", children=["b"]), node("b", "a", "user", "B", children=["a"])
    )
    lost = chatgpt("c2", node("a", "gone", "user", "A"), current="nowhere")
    nameless = {**chatgpt("", node("a", None, "user", "A"))}
    odd = [circle, lost, nameless, {"mapping": []}, {"mapping": {"a": 5, "b": None}, "id": "x"}, 5, None, "x"]
    items = [*chatgpt_source.read(written(tmp_path / "x.json", odd))]
    assert sorted(row[3] for row in said(iter(items)) if row[0] == "chatgpt:c1") == ["A", "B"]
    assert [row[3] for row in said(iter(items)) if row[0] == "chatgpt:c2"] == ["A"]
    assert left(iter(items)) == {NOT_AN_OBJECT: 5}


# Claude


def test_claude_with_what_was_attached(tmp_path: Path) -> None:
    talk = claude(
        "c1",
        sent("1", "human", "Read this", attachments=[{"file_name": "", "extracted_content": "a long paste"}]),
        sent(
            "2",
            "assistant",
            "",
            content=[{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Done"}],
        ),
        sent("3", "assistant", "", content=[{"type": "tool_use", "name": "x"}]),
        sent("4", "human", "", attachments=[{"file_name": "b.txt", "extracted_content": "only this"}]),
        sent("5", "robot", "beep"),
        {"uuid": "6", "sender": "human", "text": "as before there were blocks"},
    )
    export = zipped(tmp_path / "e.zip", conversations=[talk], users=[], projects=[])
    items = [*claude_source.read(export)]
    assert said(iter(items)) == [
        ("claude:c1", 0, "user", "Read this"),
        ("claude:c1", 1, "user", "a long paste"),
        ("claude:c1", 2, "assistant", "Done"),
        ("claude:c1", 3, "user", "only this"),
        ("claude:c1", 4, "user", "as before there were blocks"),
    ]
    assert left(iter(items)) == {claude_source.NOT_SAID: 1, NOT_AN_OBJECT: 1}
    first = items[0]
    assert isinstance(first, Said)
    assert first.message.at == datetime(2026, 3, 29, 7, 6, 35, 552_627, UTC)
    assert first.message.title == "A talk"
    assert detect(export) == "claude"


def test_claude_follows_the_branch_that_was_gone_on_with(tmp_path: Path) -> None:
    root = "00000000-0000-4000-8000-000000000000"
    talk = claude(
        "c1",
        sent("1", "human", "Where?", parent_message_uuid=root),
        sent("2", "assistant", "Rome", parent_message_uuid="1"),
        sent("3", "assistant", "Lisbon", parent_message_uuid="1"),
    )
    items = [*claude_source.read(written(tmp_path / "conversations.json", [talk]))]
    assert [row[3] for row in said(iter(items))] == ["Where?", "Lisbon"]
    assert left(iter(items)) == {OTHER_BRANCH: 1}
    chosen = written(tmp_path / "x.json", [{**talk, "current_leaf_message_uuid": "2"}])
    assert [row[3] for row in said(claude_source.read(chosen))] == ["Where?", "Rome"]


# Messages


def test_messages_by_conversation_and_on_their_own(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    many = [
        {"role": "system", "content": "Be brief"},
        {"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "image_url"}]},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "tool", "content": "42"},
        {"role": "nobody", "content": "x"},
        "what",
    ]
    rows: list[Any] = [
        {"messages": many, "timestamp": 1_700_000_000},
        {"id": "mine", "messages": [{"role": "user", "content": "Ho", "at": "2026-01-02T03:04:05+01:00"}]},
        {"role": "user", "content": "alone"},
        {"role": "assistant", "content": "too", "session_id": "s"},
        {"role": "assistant", "content": "not"},
        {"text": "x"},
    ]
    file.write_text("\n".join(map(json.dumps, rows)) + "\nnope\n")
    items = [*messages.read(file)]
    assert said(iter(items)) == [
        ("messages:log:1", 0, "user", "Hi"),
        ("messages:log:1", 1, "tool", "42"),
        ("messages:mine", 0, "user", "Ho"),
        ("messages:log", 0, "user", "alone"),
        ("messages:s", 0, "assistant", "too"),
        ("messages:log", 1, "assistant", "not"),
    ]
    assert [item.message.at for item in items if isinstance(item, Said)][1:3] == [
        datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC),
        datetime(2026, 1, 2, 2, 4, 5, tzinfo=UTC),
    ]
    assert left(iter(items)) == {
        messages.SYSTEM: 1,
        messages.ROLE: 2,
        NO_TEXT: 1,
        NOT_AN_OBJECT: 1,
        "it is not JSON": 1,
    }
    assert said(messages.read(file, "work"))[0][0] == "messages:work:1"
    assert detect(file) == "messages"


@pytest.mark.parametrize("indent", [None, 2])
def test_messages_in_one_document(tmp_path: Path, indent: int | None) -> None:
    talk = {"messages": [{"role": "user", "content": "Hi"}]}
    (tmp_path / "a.json").write_text(json.dumps(talk, indent=indent))
    (tmp_path / "b.json").write_text(json.dumps([talk, talk], indent=indent))
    assert said(messages.read(tmp_path / "a.json")) == [("messages:a:1", 0, "user", "Hi")]
    assert [row[0] for row in said(messages.read(tmp_path / "b.json"))] == ["messages:b:1", "messages:b:2"]
    assert detect(tmp_path / "a.json") == detect(tmp_path / "b.json") == "messages"
