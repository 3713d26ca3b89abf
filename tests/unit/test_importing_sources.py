"""Memories and notes elsewhere: what is taken of each source, what is left and why. And any source at all."""

import gzip
import json
import os
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect import Invalid, NotFound
from recollect.importing import chatgpt, claude, markdown, mem0, mempalace, messages
from recollect.importing.detecting import detect
from recollect.importing.items import BROKEN, NO_TEXT, NOT_AN_OBJECT, Known, Left, Said, a_time
from tests.unit.importing import graph, known, left, palace, written

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
        "# family / max\n\n## d1\n\n> Max loves chess\n> \n> and tea\n\n| Field | Value |\n|---|---|\n"
        "| Source | a.txt |\n| Filed | 2026-01-02T03:04:05+00:00 |\n| Added by | me |\n\n---\n\n"
        "## d2\n\n> Second\n\n| Field | Value |\n|-------|-------|\n| Filed | unknown |\n\n---\n\n"
        "## d3\n\n> Third\n\n| Field | Value |\n|---|---|\n\n---\n\n"
        "## d4\n\n> Fourth\n\n| Field | Value |\n|---|---|\n| Filed | 2026-02-03T00:00:00Z |\n"
    )
    found = known(mempalace.read(tmp_path))
    assert {key: one.content for key, one in found.items()} == {
        "d1": "Max loves chess\n\nand tea",
        "d2": "Second",
        "d3": "Third",
        "d4": "Fourth",
    }
    assert found["d1"].at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert found["d2"].at is None
    assert found["d3"].at is None  # and not that of the next
    assert found["d4"].at == datetime(2026, 2, 3, tzinfo=UTC)
    assert detect(tmp_path) == "mempalace"


def test_a_palace_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        list(mempalace.read(tmp_path / "nowhere"))
    with pytest.raises(Invalid, match="no palace"):
        list(mempalace.read(tmp_path))
    (tmp_path / "chroma.sqlite3").write_bytes(b"SQLite format 3\x00" + os.urandom(500))
    with pytest.raises(Invalid, match="cannot be read as MemPalace's"):
        list(mempalace.read(tmp_path))


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


NAMES = [
    *(
        "id",
        "uuid",
        "mapping",
        "message",
        "author",
        "role",
        "content",
        "parts",
        "parent",
        "children",
        "title",
    ),
    *("current_node", "metadata", "chat_messages", "sender", "text", "attachments", "files", "messages"),
    *("parent_message_uuid", "memory", "results", "relations", "created_at", "create_time", "user_id"),
    *("categories", "conversation_id", "extracted_content"),
]
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
            st.sampled_from(NAMES),
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
    for read in (chatgpt.read, claude.read, messages.read, mem0.read):
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
