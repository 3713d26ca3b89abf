"""docs/parity.md names tests that exist, and each contract id once."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "parity.md").read_text("utf-8")
NAMED = re.findall(r"`([\w/]+\.py)::(test_\w+)`", PAGE)
SUITE = re.findall(r"suite\s+`(test_\w+)`", PAGE)


def test_the_tests_it_names_exist() -> None:
    missing = [f"{file}::{name}" for file, name in NAMED if not defines(locate(file), name)]
    suites = [*(ROOT / "src" / "recollect" / "testing").glob("*_*.py")]
    missing += [name for name in SUITE if not any(defines(path, name) for path in suites)]
    assert NAMED
    assert SUITE
    assert not missing


def test_each_id_has_one_row_and_they_are_in_order() -> None:
    ids = [(a, int(n)) for a, n in re.findall(r"^\| ([A-J])(\d+) \|", PAGE, re.MULTILINE)]
    assert ids
    assert ids == sorted(set(ids))


def locate(file: str) -> Path:
    return ROOT / file if "/" in file else ROOT / "tests" / "unit" / file


def defines(path: Path, name: str) -> bool:
    return path.is_file() and f"def {name}(" in path.read_text("utf-8")
