"""Each source: what is taken of it, what is left and why."""

import gzip
import json
import os
import zipfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect import Invalid, NotFound
from recollect.importing import chatgpt as chatgpt_source
from recollect.importing import claude as claude_source
from recollect.importing import markdown, mem0, mempalace, messages
from recollect.importing.branches import OTHER_BRANCH
from recollect.importing.detecting import detect
from recollect.importing.items import BROKEN, NO_TEXT, NOT_AN_OBJECT, Items, Known, Left, Said, a_time
from tests.unit.importing import chatgpt, claude, graph, node, palace, sent, written, zipped


def said(items: Items) -> list[tuple[str | None, int | None, str, str]]:
    found = [item.message for item in items if isinstance(item, Said)]
    return [(one.conversation, one.index, one.role, one.content) for one in found]


def known(items: Items) -> dict[str, Known]:
    return {item.key: item for item in items if isinstance(item, Known)}


def left(items: Items) -> dict[str, int]:
    return Counter(item.reason for item in items if isinstance(item, Left))


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
    assert [item for item in items if isinstance(item, Said)][0].message.metadata["imported"][
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


# mem0


MEMORY: dict[str, Any] = {
    "id": "m1",
    "memory": "Likes tea",
    "hash": "x",
    "metadata": {"type": "preference", "mined": {"spoof": 1}},
    "categories": ["drinks"],
    "created_at": "2024-07-20T01:30:36.275141-07:00",
    "updated_at": None,
    "user_id": "alex",
}


@pytest.mark.parametrize(
    "document",
    [
        [MEMORY],
        {"results": [MEMORY]},
        {"count": 1, "next": None, "results": [MEMORY]},
        {"memories": [MEMORY]},
        {"items": [{**MEMORY, "memory": None, "content": "Likes tea", "created_at": 1_721_464_236.275141}]},
    ],
)
def test_mem0_in_every_shape_that_it_answers_with(tmp_path: Path, document: Any) -> None:
    file = written(tmp_path / "mem0.json", document)
    one = known(mem0.read(file))["m1"]
    assert (one.content, one.owner, one.since) == ("Likes tea", "alex", None)
    assert one.at == datetime(2024, 7, 20, 8, 30, 36, 275_141, UTC)
    assert one.metadata["imported"]["categories"] == ["drinks"]
    assert one.metadata.keys() == {"imported"}  # theirs cannot pass for ours
    assert detect(file) == "mem0"


def test_mem0_leaves_out_what_is_no_memory(tmp_path: Path) -> None:
    odd: list[Any] = [{"id": "1", "memory": ""}, {"memory": "no id"}, {"id": [], "memory": "x"}, {}, 5, None]
    gone = [{"id": "2", "content": "x", "state": "deleted"}]
    items = [*mem0.read(written(tmp_path / "a.json", {"results": odd + gone, "relations": [{}, {}]}))]
    assert left(iter(items)) == {
        NO_TEXT: 1,
        mem0.NO_ID: 2,
        NOT_AN_OBJECT: 3,
        mem0.DELETED: 1,
        mem0.RELATION: 2,
    }


def test_the_backup_of_openmemory(tmp_path: Path) -> None:
    line = {"id": "o1", "content": "Likes rye", "state": "active", "app": "cursor", "categories": ["food"]}
    with zipfile.ZipFile(tmp_path / "memories_export_a.zip", "w") as archive:
        old = {"id": "o1", "content": "Likes rye", "created_at": None, "category_ids": ["x"]}
        archive.writestr("memories.json", json.dumps({"user": {}, "memories": [old]}))
        archive.writestr("memories.jsonl.gz", gzip.compress(json.dumps(line).encode() + b"\n"))
    found = known(mem0.read(tmp_path / "memories_export_a.zip"))
    assert found["o1"].metadata["imported"] == {
        "from": "mem0",
        "id": "o1",
        "categories": ["food"],
        "app": "cursor",
        "state": "active",
    }
    assert detect(tmp_path / "memories_export_a.zip") == "mem0"


# MemPalace


def test_the_drawers_and_the_graph_of_a_palace(tmp_path: Path) -> None:
    folder = palace(
        tmp_path / "palace",
        d1={
            "document": "Max loves chess",
            "wing": "family",
            "room": "max",
            "chunk_index": 3,
            "filed_at": "2026-01-02T03:04:05+00:00",
        },
        _reg_1={"document": "[registry] x", "wing": "family", "room": "_registry"},
        d2={"document": " ", "wing": "w"},
        d3={"wing": "w"},
    )
    graph(
        folder,
        ("Max", "child_of", "Alice", "2015-04-01", None, 0.9),
        ("Max", "does", "swimming", "2025-01-01", "2025-06-30", 7.0),
        ("Max", "", "x", None, None, None),
    )
    items = [*mempalace.read(folder)]
    found = known(iter(items))
    assert {key: one.content for key, one in found.items()} == {
        "d1": "Max loves chess",
        "t0": "Max child of Alice",
        "t1": "Max does swimming",
    }
    assert found["d1"].at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    told = {"from": "mempalace", "id": "d1", "wing": "family", "room": "max", "chunk_index": 3}
    assert found["d1"].metadata == {"imported": told}
    assert (found["t0"].about, found["t0"].confidence) == (("Max", "Alice"), 0.9)
    assert (found["t1"].until, found["t1"].confidence) == (datetime(2025, 7, 1, tzinfo=UTC), None)
    assert left(iter(items)) == {mempalace.REGISTRY: 1, NO_TEXT: 2, NOT_AN_OBJECT: 1}
    assert detect(folder) == detect(tmp_path) == detect(folder / "chroma.sqlite3") == "mempalace"
    assert [*known(mempalace.read(tmp_path))] == ["d1"]  # the folder above has the palace, not the graph


def test_a_palace_that_was_exported_as_markdown(tmp_path: Path) -> None:
    (tmp_path / "family").mkdir()
    (tmp_path / "index.md").write_text("# Palace Export — 2026-04-01\n\n| Wing | Rooms | Drawers |\n")
    (tmp_path / "family" / "max.md").write_text(
        "# family / max\n\n## d1\n\n> Max loves chess\n> \n> and tea\n\n| Field | Value |\n|-------|-------|\n"
        "| Source | a.txt |\n| Filed | 2026-01-02T03:04:05+00:00 |\n| Added by | me |\n\n---\n\n"
        "## d2\n\n> Second\n\n| Field | Value |\n|-------|-------|\n| Source | unknown |\n| Filed | unknown |\n\n---\n\n"
    )
    found = known(mempalace.read(tmp_path))
    assert {key: one.content for key, one in found.items()} == {
        "d1": "Max loves chess\n\nand tea",
        "d2": "Second",
    }
    assert found["d1"].at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert found["d2"].at is None
    assert detect(tmp_path) == "mempalace"


def test_a_palace_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        [*mempalace.read(tmp_path / "nowhere")]
    with pytest.raises(Invalid, match="no palace"):
        [*mempalace.read(tmp_path)]
    (tmp_path / "chroma.sqlite3").write_bytes(b"SQLite format 3\x00" + os.urandom(500))
    with pytest.raises(Invalid, match="cannot be read as MemPalace's"):
        [*mempalace.read(tmp_path)]


# Markdown


NOTE = """\ufeff---
title: "Garden"
date: 2024-03-01T10:00:00+02:00
tags: [plants, 'home']
---
What grows here.

# Roses
Red.
## Care
```sh
# not a heading
```
Water.
# Roses #
Again.
# Empty
"""


def test_markdown_by_sections(tmp_path: Path) -> None:
    (tmp_path / "notes" / "sub").mkdir(parents=True)
    (tmp_path / "notes" / ".hidden").mkdir()
    (tmp_path / "notes" / "sub" / "garden.md").write_text(NOTE, encoding="utf-8")
    (tmp_path / "notes" / ".hidden" / "x.md").write_text("secret")
    (tmp_path / "notes" / "bad.md").write_bytes(b"\xff\xfe")
    (tmp_path / "notes" / "link.md").symlink_to("sub/garden.md")
    (tmp_path / "notes" / "plain.md").write_text("---\njust: [a\n  - b\n\nno end of it")
    os.utime(tmp_path / "notes" / "plain.md", (1_700_000_000, 1_700_000_000))
    items = [*markdown.read(tmp_path / "notes")]
    found = known(iter(items))
    assert {key: one.content for key, one in found.items()} == {
        "plain.md": "---\njust: [a\n  - b\n\nno end of it",
        "sub/garden.md": "Garden\n\nWhat grows here.",
        "sub/garden.md#Roses": "Garden > Roses\n\nRed.",
        "sub/garden.md#Roses#Care": "Garden > Roses > Care\n\n```sh\n# not a heading\n```\nWater.",
        "sub/garden.md#Roses (2)": "Garden > Roses\n\nAgain.",
    }
    assert found["sub/garden.md"].at == datetime(2024, 3, 1, 8, tzinfo=UTC)
    assert found["plain.md"].at == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert found["sub/garden.md#Roses"].metadata["imported"]["tags"] == ["plants", "home"]
    assert [(item.where, item.reason) for item in items if isinstance(item, Left)] == [
        ("bad.md", BROKEN),
        ("sub/garden.md, line 17", NO_TEXT),
    ]
    assert detect(tmp_path / "notes") == "markdown"


# All of them


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ('{"recollect": 1, "user": "a"}\n', "recollect"),
        ('[\n{"recollect": 1, "user": "a"}\n]', "recollect"),
        ("[1]", None),
        ("{}", None),
        ("", None),
        ("hello", None),
        ('{"id": 1}', None),
    ],
)
def test_what_is_nobodys_is_not_guessed(tmp_path: Path, text: str, source: str | None) -> None:
    (tmp_path / "a.json").write_text(text)
    assert detect(tmp_path / "a.json") == source


@pytest.mark.parametrize(
    ("value", "at"),
    [
        ("2026-01-02", datetime(2026, 1, 2, tzinfo=UTC)),
        ("2026-01-02T03:04:05Z", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        (1_700_000_000_000, datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        *(
            (odd, None)
            for odd in ("soon", "", None, True, 1e300, float("nan"), [], "0001-01-01T00:00:00+14:00")
        ),
    ],
)
def test_times_as_they_are_written_elsewhere(value: object, at: datetime | None) -> None:
    assert a_time(value) == at


ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["user", "a"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "id uuid mapping message author role content parts parent children current_node metadata title "
                "chat_messages sender text attachments files parent_message_uuid messages memory results "
                "relations created_at create_time user_id categories conversation_id extracted_content".split()
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=30,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ODD)
def test_wrong_types_anywhere_are_left_out_and_break_nothing(tmp_path: Path, value: Any) -> None:
    file = written(
        tmp_path / "conversations.json",
        [
            value,
            {"id": "c", "uuid": "c", "mapping": value},
            {"uuid": "c", "chat_messages": [value]},
            {"messages": value},
        ],
    )
    for read in (chatgpt_source.read, claude_source.read, messages.read, mem0.read):
        for item in read(file):
            assert isinstance(item, (Said, Known, Left))
    detect(file)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text()
    | st.lists(
        st.sampled_from(["---\n", "# a\n", "## b\n", "```\n", "title: x\n", "tags:\n", "- t\n", "text\n"])
    ).map("".join)
)
def test_any_note_keeps_its_words(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.md").write_bytes(text.encode("utf-8", "surrogatepass"))
    items = [*markdown.read(tmp_path / "a.md")]
    assert len(known(iter(items))) + sum(left(iter(items)).values()) == len(items)
