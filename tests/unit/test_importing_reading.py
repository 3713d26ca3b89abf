"""Reading the files of others: arrays of any size, zips, and whatever else people give."""

import contextlib
import gzip
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import Invalid
from recollect.importing.arrays import NOT_JSON, TOO_DEEP, TOO_LONG, Bad, Cut, Text, elements
from recollect.importing.files import members, sources, values

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


class Dribbling(io.BytesIO):
    """A stream that gives a few bytes at a time."""

    def __init__(self, data: bytes, step: int) -> None:
        super().__init__(data)
        self._step = step

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(self._step)


def read(data: bytes, step: int = 7, limit: int = 10_000_000) -> list[Any]:
    return [*elements(Text(Dribbling(data, step), limit))]


@given(st.lists(JSON, max_size=5), st.integers(1, 50), st.sampled_from([None, 2]), st.booleans())
def test_the_elements_of_an_array_however_it_comes(
    array: list[Any], step: int, indent: int | None, ascii: bool
) -> None:
    data = json.dumps(array, indent=indent, ensure_ascii=ascii).encode("utf-8", "surrogatepass")
    if "\ud800" <= max(data.decode("utf-8", "surrogateescape"), default="") <= "\udfff":
        return  # what is not UTF-8 has a test of its own
    assert read(b"\n " + data + b" \n", step) == array


@given(st.binary(max_size=200), st.integers(1, 50))
def test_anything_at_all_ends_in_elements_or_in_saying_that_it_breaks_off(data: bytes, step: int) -> None:
    with contextlib.suppress(Cut):
        read(b"[" + data, step)


@given(st.lists(st.sampled_from([*'[]{}",:\\', "1", "true", "x", " ", '"a"']), max_size=30).map("".join))
def test_what_is_nearly_json_never_hangs(text: str) -> None:
    with contextlib.suppress(Cut):
        read(b"[" + text.encode(), 3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[1, {"a": nope, "b": "]}\\""}, 2]', [1, Bad(NOT_JSON), 2]),
        ("[1, nope, 2]", [1, Bad(NOT_JSON), 2]),
        ('["a\nb", 2]', [Bad(NOT_JSON), 2]),
        ("[" + "9" * 5000 + ", 2]", [Bad(NOT_JSON), 2]),
        ('[{"a": ' + "[" * 100_000 + "]" * 100_000 + "}, 2]", [Bad(TOO_DEEP), 2]),
    ],
)
def test_only_what_cannot_be_read_is_left_out(text: str, expected: list[Any]) -> None:
    assert read(text.encode(), 1000) == expected


def test_an_element_that_is_too_long_is_passed_over_without_being_held() -> None:
    data = b'[1, {"text": "' + b"x" * 200_000 + b'"}, 2]'
    assert read(data, 1000, limit=50_000) == [1, Bad(TOO_LONG), 2]


@pytest.mark.parametrize("text", ["[1, 2", '[1, {"a": "b', "[1, }", "[1 2 ] 3"])
def test_a_file_that_breaks_off_gives_what_came_before(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text)
    found = [value for _, value in values(*sources(tmp_path / "a.json", ""))]
    assert found[0] == 1
    assert len(found) <= 3


def test_bytes_that_are_no_text_spoil_only_their_own(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'["good", "b\xffd", "good"]')
    assert [value for _, value in values(*sources(tmp_path / "a.json", ""))] == ["good", "b\udcffd", "good"]


def test_lines_and_their_places(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl.gz"
    file.write_bytes(gzip.compress(b'\xef\xbb\xbf{"a": 1}\n\nnope\n{"a": 2}'))
    assert [*values(*sources(file, ""))] == [
        ("a.jsonl.gz, line 1", {"a": 1}),
        ("a.jsonl.gz, line 3", Bad(NOT_JSON)),
        ("a.jsonl.gz, line 4", {"a": 2}),
    ]


def test_what_is_in_a_zip_by_name_but_nothing_that_leads_out_of_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name in ("b/a.json", "../a.json", "/a.json", "b\\..\\a.json", "other.json", "c/"):
            archive.writestr(name, "[1]")
    assert [source.name for source in sources(tmp_path / "a.zip", r"a\.json")] == ["b/a.json"]


def test_a_zip_bomb_is_not_opened(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", b"[" + b" " * 100_000_000)
    with pytest.raises(Invalid, match="far larger inside"):
        sources(tmp_path / "a.zip", ".*")


def test_a_gzip_bomb_is_not_read_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress((b" " * 999_999 + b"\n") * 200, 9))
    with pytest.raises(Invalid, match="far larger inside"):
        list(values(*sources(tmp_path / "a.jsonl.gz", "")))


def test_a_damaged_zip_says_so(tmp_path: Path) -> None:
    file = tmp_path / "a.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("conversations.json", "[" + "1, " * 20_000 + "1]")
    data = bytearray(file.read_bytes())
    data[30_000] ^= 1
    file.write_bytes(data)
    found = [value for _, value in values(*sources(file, ".*"))]
    assert isinstance(found[-1], Bad)
    file.write_bytes(bytes(data[:-40]) + b"PK\x05\x06" + b"\xff" * 18)
    with pytest.raises(Invalid, match="damaged"):
        members(file)
