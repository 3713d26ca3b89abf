"""The documentation is true: its examples run, and every setting is described."""

import dataclasses
import os
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from tests.docs.examples import ExampleError, asks_a_server, blocks, commands, matches, run_page
from tests.interface.serving import serve

ROOT = Path(__file__).parents[2]
FRAMEWORKS = ROOT / "docs" / "integrations"


def page(path: Path) -> Any:
    """Pages about frameworks take as long to import them as all others to run."""
    marks = [pytest.mark.framework] if path.is_relative_to(FRAMEWORKS) else []
    return pytest.param(path, id=str(path.relative_to(ROOT)), marks=marks)


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Runs a page in an empty directory with a database of its own and a plain, steady terminal."""
    monkeypatch.chdir(tmp_path)
    scripts = Path(sys.executable).parent
    environment = {
        "PATH": f"{scripts}{os.pathsep}{os.environ.get('PATH', '')}",
        "RECOLLECT_DB": str(tmp_path / "recollect.db"),
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "TERM": "dumb",
    }

    def run(page: Path) -> None:
        if not asks_a_server(page):
            run_page(page, environment)
            return
        with Memory.open(tmp_path / "served.db") as memory, serve(memory) as server:
            run_page(page, environment, server)

    return run


@pytest.mark.parametrize("page", [page(path) for path in PAGES])
def test_examples_run(page: Path, run) -> None:
    run(page)


def test_every_setting_is_documented() -> None:
    from recollect.settings import Settings

    page = (ROOT / "docs/settings.md").read_text("utf-8")
    documented = set(re.findall(r"\bRECOLLECT_[A-Z0-9_]+\b", page))
    settings = {f"RECOLLECT_{field.name.upper()}" for field in dataclasses.fields(Settings)}
    assert settings - documented == set()
    # Nor may the page promise a setting that is gone. Those of the tests are not the product's.
    tests = {name for name in documented if name.startswith(("RECOLLECT_TEST_", "RECOLLECT_NO_SKIPS"))}
    assert documented - settings - tests == {"RECOLLECT_CONFIG"}  # names the file that others stand in
    rows = re.findall(r"^\| `(RECOLLECT_\w+)` \|.+\|.+\|$", page, re.MULTILINE)
    assert [name for name, count in Counter(rows).items() if count > 1] == []


def test_every_technique_is_in_the_table() -> None:
    from recollect.recall.techniques import TECHNIQUES

    page = (ROOT / "docs/recall.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (on|off) \| (.+) \|$", page, re.MULTILINE)
    assert rows == [(name, "on" if on else "off", does) for name, (on, does) in TECHNIQUES.items()]


def test_every_metric_is_in_the_table(tmp_path: Path) -> None:
    from recollect import Memory

    with Memory.open(tmp_path / "memory.db", embedder="none") as memory:
        memory.tend()
        told = memory.metrics()
    page = (ROOT / "docs/operating.md").read_text("utf-8")
    rows = re.findall(r"^\| `(recollect_\w+)` \| (\w+) \|", page, re.MULTILINE)
    assert rows == re.findall(r"^# TYPE (\w+) (\w+)$", told, re.MULTILINE)


def test_every_metric_of_the_server_is_in_its_table() -> None:
    from recollect.server.measured import HttpMeasures

    page = (ROOT / "docs/server.md").read_text("utf-8")
    rows = re.findall(r"^\| `(recollect_\w+)` \| (\w+) \|", page, re.MULTILINE)
    told = HttpMeasures().exposition(1)
    assert rows == re.findall(r"^# TYPE (\w+) (\w+)$", told, re.MULTILINE)


PAGE = """\
```python
a = 1
print(a, "3b241101-e2bb-4255-8caf-4136c566a962", "12.5 ms")
```

```text
1 00000000-0000-0000-0000-000000000000 3 ms
```

- in a list

  ```python
  assert a == 1
  ```

<!-- no-run: needs a key -->
```python
raise SystemExit
```

```console
$ pip install something
$ recollect-is-not-this
```
"""


def test_a_true_page_passes(tmp_path: Path, run) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    run(page)


@pytest.mark.parametrize(
    ("markdown", "error"),
    [
        ("```python\nassert False\n```", AssertionError),
        ("```python\nprint(1)\n```\n```text\n2\n```", ExampleError),
        ("<!-- no-run -->\n```python\n```", ExampleError),
        ("```console\n$ recollect no-such-command\n```", ExampleError),
    ],
)
def test_a_false_page_fails(tmp_path: Path, run, markdown: str, error: type[Exception]) -> None:
    page = tmp_path / "page.md"
    page.write_text(markdown)
    with pytest.raises(error):
        run(page)


def test_blocks_know_their_line_and_neighbours() -> None:
    first, shown, *_ = found = blocks(PAGE)
    assert [block.language for block in found] == ["python", "text", "python", "python", "console"]
    assert (first.line, first.adjoins, shown.adjoins) == (2, False, True)
    assert [block.no_run for block in found] == [None, None, None, "needs a key", None]


def test_commands_carry_on_and_keep_their_output() -> None:
    assert commands("$ recollect a \\\n  b\nout\n$ recollect c\n") == [
        ("recollect a   b", "out\n"),
        ("recollect c", ""),
    ]


@pytest.mark.parametrize(
    ("expected", "got", "alike"),
    [
        ("found ...\n", "found 3 memories\n", True),
        ("took 3 ms", "took 120.5 ms", True),
        ("took 3 ms", "took 3 rows", False),
        ("1. 0.255  turn", "1. 0.260  turn", True),
        ("1. 0.255  turn", "1. 0.3  turn", False),
        ("one\n", "one\ntwo\n", False),
    ],
)
def test_output_matches_but_for_what_varies(expected: str, got: str, alike: bool) -> None:
    assert matches(expected, got) is alike
