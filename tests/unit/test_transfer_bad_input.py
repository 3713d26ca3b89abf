"""A file that was damaged or edited is refused, by the number of its line, and its batch leaves no trace."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recollect import Conflict, Invalid, Memory, ScopedMemory, TooLarge
from tests.unit.support import OpenMemory

Edit = Callable[[dict[str, Any]], Any]


@pytest.fixture
def lines(derek: ScopedMemory) -> list[str]:
    """A header, a conversation, three turns, a fact: line 4 is the second turn, line 6 the fact."""
    for text in ("one", "two"):
        derek.record("user", text, conversation="c")
    derek.remember("a fact", conversation="c")
    return list(derek.export())


@pytest.fixture
def there(open_memory: OpenMemory, tmp_path: Path) -> ScopedMemory:
    return open_memory(tmp_path / "there.db").scope("derek")


def edited(line: str, **fields: Any) -> str:
    return json.dumps({**json.loads(line), **fields})


TURN: dict[str, dict[str, Any]] = {
    "edited content": {"content": "TWO"},
    "no content": {"content": None},
    "no role": {"role": None},
    "unknown role": {"role": "narrator"},
    "no index": {"index": None},
    "huge index": {"index": 2**40},
    "endless index": {"index": float("inf")},
    "time": {"at": "yesterday"},
    "time before all": {"at": "0001-01-01T00:00+14:00"},
    "deep metadata": {"metadata": {"x": json.loads("[" * 100 + "]" * 100)}},
    "long model": {"model": "m" * 2_000_000},
    "time as number": {"at": 5},
    "metadata": {"metadata": ["x"]},
    "large metadata": {"metadata": {"x": "y" * 70_000}},
    "empty id": {"id": ""},
    "control in a name": {"channel": "a\u0000b"},
    "kind": {"kind": "novel"},
    "no kind": {"kind": None},
}


@pytest.mark.parametrize("fields", TURN.values(), ids=TURN)
def test_a_damaged_turn_is_named_by_its_line(
    there: ScopedMemory, lines: list[str], fields: dict[str, Any]
) -> None:
    with pytest.raises(Invalid, match=r"^Line 4: "):
        there.import_([*lines[:3], edited(lines[3], **fields), *lines[4:]])
    assert there.counts() == {}


FACT: dict[str, dict[str, Any]] = {
    "tense": {"tense": "sometimes"},
    "confidence": {"confidence": float("nan")},
    "infinite": {"salience": float("inf")},
    "valid_from": {"valid_from": None},
    "sources": {"sources": 5},
    "unknown type": {"pinned": None},
}


@pytest.mark.parametrize("fields", FACT.values(), ids=FACT)
def test_a_damaged_fact_is_named_by_its_line(
    there: ScopedMemory, lines: list[str], fields: dict[str, Any]
) -> None:
    with pytest.raises(Invalid, match=r"^Line 6: "):
        there.import_([*lines[:5], edited(lines[5], **fields), *lines[6:]])
    assert there.counts() == {}


CLOSET: dict[str, dict[str, Any]] = {
    "wing": {"wing": 0},
    "room": {"room": 0},
    "number": {"number": -1},
    "backwards": {"first": 5, "last": 1},
    "before the first": {"first": -1},
}


@pytest.mark.parametrize("fields", CLOSET.values(), ids=CLOSET)
def test_a_closet_that_is_nowhere_is_named_by_its_line(
    derek: ScopedMemory, there: ScopedMemory, fields: dict[str, Any]
) -> None:
    """Its counts would be taken for those of another place."""
    derek.record("user", "My sister Anna works at Acme in Lyon.", conversation="c")
    derek.mine()
    lines = list(derek.export())
    place = next(n for n, line in enumerate(lines) if json.loads(line).get("kind") == "closet")
    with pytest.raises(Invalid, match=rf"^Line {place + 1}: .*no place"):
        there.import_([*lines[:place], edited(lines[place], **fields)])
    assert there.counts() == {}


BROKEN = {"cut off": '{"kind": "turn"', "a list": "[1]", "a word": "hello", "nested": "[" * 100_000}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_a_line_that_is_no_object(there: ScopedMemory, lines: list[str], broken: str) -> None:
    with pytest.raises(Invalid, match=r"^Line 3 is not"):
        there.import_([*lines[:2], broken, *lines[2:]])
    assert there.counts() == {}


def test_a_missing_field_is_named(there: ScopedMemory, lines: list[str]) -> None:
    turn = json.loads(lines[3])
    del turn["digest"]
    with pytest.raises(Invalid, match=r"^Line 4: .*digest"):
        there.import_([*lines[:3], json.dumps(turn)])


def test_a_line_over_the_limit(open_memory: OpenMemory, tmp_path: Path, lines: list[str]) -> None:
    there = open_memory(tmp_path / "small.db", content_limit=100, metadata_limit=100).scope("derek")
    with pytest.raises(TooLarge, match=r"^Line 4 has 2,\d+ characters; the limit is 900"):
        there.import_([*lines[:3], edited(lines[3], metadata={"x": "y" * 2000})])
    tight = open_memory(tmp_path / "tight.db", content_limit=2).scope("derek")
    with pytest.raises(TooLarge, match=r"^Line \d+: .*RECOLLECT_CONTENT_LIMIT"):
        tight.import_(lines)


@pytest.mark.parametrize(
    "header",
    [
        "{}",
        '{"recollect": 99}',
        '{"recollect": 1, "secret": "zz"}',
        '{"recollect": 1, "secret": 5}',
    ],
)
def test_a_header_that_is_none(there: ScopedMemory, lines: list[str], header: str) -> None:
    with pytest.raises(Invalid, match="header"):
        there.import_([header, *lines[1:]])
    assert there.counts() == {}


@pytest.mark.parametrize("nothing", [[], ["", "  ", "\n"]])
def test_nothing_to_import(there: ScopedMemory, nothing: list[str]) -> None:
    with pytest.raises(Invalid, match="nothing to import"):
        there.import_(nothing)


def test_without_its_header_it_is_refused(there: ScopedMemory, lines: list[str]) -> None:
    with pytest.raises(Invalid, match="Line 1 is not the header"):
        there.import_(lines[1:])


def test_blank_lines_and_line_ends_do_not_matter(
    there: ScopedMemory, lines: list[str], memory: Memory
) -> None:
    there.import_([f"{line}\r\n" for line in ("", *lines, "")])
    assert there.counts() == memory.scope("derek").counts()


def test_a_batch_that_fails_leaves_nothing_and_those_before_it_stay(
    open_memory: OpenMemory, tmp_path: Path, lines: list[str]
) -> None:
    there = open_memory(tmp_path / "there.db", batch_limit=2).scope("derek")
    with pytest.raises(Invalid, match="Line 5"):
        there.import_([*lines[:4], edited(lines[4], content="changed"), lines[5]])
    assert there.counts() == {"conversation": 1, "turn": 1}
    imported = there.import_(lines)  # taken up again where it broke off
    assert imported.unchanged == 2


def test_the_same_line_twice_is_taken_once_another_with_its_id_is_refused(
    there: ScopedMemory, lines: list[str]
) -> None:
    with pytest.raises(Invalid, match=r"^Line 7: another fact"):
        there.import_([*lines, edited(lines[5], content="another")])
    assert there.counts() == {}
    imported = there.import_([*lines, lines[5], lines[3]])
    assert (imported.total, imported.unchanged) == (len(lines) - 1, 2)


def test_a_turn_without_its_conversation_is_refused(there: ScopedMemory, lines: list[str]) -> None:
    with pytest.raises(Invalid, match="Conversation 'c'"):
        there.import_([lines[0], *lines[2:]])


def test_two_turns_in_one_place(there: ScopedMemory, lines: list[str]) -> None:
    with pytest.raises(Conflict):
        there.import_([*lines[:4], edited(lines[3], id="another")])
    assert there.counts() == {}


def test_what_only_some_records_have_is_checked_too(there: ScopedMemory, derek: ScopedMemory) -> None:
    derek.record_tool("t", 1)
    derek.update_profile(preferences={"a": 1})
    derek.update_settings(custom={"a": 1})
    header, *rest = derek.export()
    deep = json.loads('{"a":' * 100 + "1" + "}" * 100)
    names = {
        "tool_invocation": ("input", "output"),
        "profile": ("preferences", "style"),
        "settings": ("values",),
        "audit": ("details",),
    }
    for line in rest:
        for name in names[json.loads(line)["kind"]]:
            with pytest.raises(Invalid, match=r"^Line 2: .*64 levels"):
                there.import_([header, edited(line, **{name: deep})])
    assert there.counts() == {}
