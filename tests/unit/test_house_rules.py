"""Rules of the house that no linter has: small files, small functions, nothing of this machine, no debts."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
CODE = [path for folder in ("src", "tests") for path in sorted((ROOT / folder).rglob("*.py"))]
PAGE = ROOT / "src/recollect/server/web/static"
PAGE_CODE = [path for suffix in ("js", "css") for path in sorted(PAGE.rglob(f"*.{suffix}"))]
FILE_LINES = 400
FUNCTION_LINES = 60

# Written so that this file does not trip over itself.
FORBIDDEN = {
    "a path of one machine": re.compile(r"(?<![\w.])/(?:work|root)/"),
    "the address of a package index or hub": re.compile(
        r"(?:pypi|pythonhosted|npmjs|huggingface)\.(?:org|co)\b|https?://\S+/simple\b|--?(?:extra-)?index-url"
    ),
    "work put off": re.compile(r"\b(?:TO" r"DO|FIX" r"ME)\b"),
}
FORBIDDEN_IN_THE_PAGE = {
    "text made into markup": re.compile(
        r"\b(?:innerHTML|outerHTML|insertAdjacentHTML|srcdoc|setHTMLUnsafe|createContextualFragment)\b"
        r"|\bdocument\s*\.\s*write"
    ),
    "text made into code": re.compile(
        r"\beval\s*\(|\bFunction\s*\(|\bjavascript:|\bset(?:Timeout|Interval)\(\s*[\"'`]"
    ),
    "an address elsewhere": re.compile(r"(?:https?|wss?)://(?!www\.w3\.org/2000/svg[\"'])|\burl\([\"']?//"),
}
NAMES = {  # how a file of the page names another
    ".html": re.compile(r'(?:href|src)="memory/static/([^"]+)"'),
    ".js": re.compile(
        r"""^import\s*["']([^"']+)["']"""
        r"""|^(?:import\b|export\s*[*{])[^;"']*\bfrom\s*["']([^"']+)["']"""
        r"""|\bimport\(\s*["']([^"']+)["']""",
        re.MULTILINE,
    ),
    ".css": re.compile(r"""\burl\(["']?([^"')#]+)["']?\)"""),
}


def long_functions(source: str) -> list[tuple[int, str, int]]:
    """Functions over the limit: line, name, length. Decorators do not count, docstrings do."""
    lengths = [
        (node.lineno, node.name, (node.end_lineno or node.lineno) - node.lineno + 1)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return [found for found in lengths if found[2] >= FUNCTION_LINES]


def forbidden(text: str, rules: dict[str, re.Pattern[str]] = FORBIDDEN) -> list[tuple[int, str]]:
    return [
        (number, what)
        for number, line in enumerate(text.splitlines(), start=1)
        for what, pattern in rules.items()
        if pattern.search(line)
    ]


def named(path: Path, text: str) -> set[Path]:
    """The files of the page that this one loads."""
    found = NAMES[path.suffix].findall(text) if path.suffix in NAMES else []
    names = {name for group in found for name in ([group] if isinstance(group, str) else group) if name}
    return {(path.parent / name).resolve() for name in names}


def loaded(start: Path) -> set[Path]:
    """The file and all that it leads to. One that is not there is among them."""
    seen: set[Path] = set()
    waiting = {start.resolve()}
    while waiting:
        path = waiting.pop()
        seen.add(path)
        if path.is_file():
            waiting |= named(path, path.read_text("utf-8")) - seen
    return seen


def project_files() -> list[Path]:
    """What git tracks or would track; without git (an sdist), everything shipped."""
    command = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        paths = [ROOT / name for name in listed.split("\0") if name]
    except (FileNotFoundError, subprocess.CalledProcessError):
        folders = [ROOT / name for name in ("src", "tests", "docs", ".ci")]
        paths = [*ROOT.iterdir(), *(path for folder in folders for path in folder.rglob("*"))]
    return sorted(path for path in paths if path.is_file() and "__pycache__" not in path.parts)


def test_files_are_short() -> None:
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in (*CODE, *PAGE_CODE)}
    long = [f"{path}:1: {lines} lines" for path, lines in lengths.items() if lines >= FILE_LINES]
    assert not long, "\n".join(long)


def test_functions_are_short() -> None:
    long = [
        f"{path}:{line}: {name} has {length} lines"
        for path in CODE
        if "migrations" not in path.parts  # a revision is a list of tables, read once
        for line, name, length in long_functions(path.read_text("utf-8"))
    ]
    assert not long, "\n".join(long)


def test_nothing_forbidden_in_the_project() -> None:
    found = [
        f"{path}:{line}: {what}"
        for path in project_files()
        for line, what in forbidden(path.read_text("utf-8", errors="replace"))
    ]
    assert not found, "\n".join(found)


def test_the_page_makes_no_markup_of_text_and_asks_nobody_else() -> None:
    found = [
        f"{path}:{line}: {what}"
        for path in (*PAGE_CODE, *PAGE.rglob("*.html"))
        for line, what in forbidden(path.read_text("utf-8"), FORBIDDEN_IN_THE_PAGE)
    ]
    assert PAGE_CODE
    assert not found, "\n".join(found)


def test_the_page_loads_every_file_it_has_and_has_every_file_it_loads() -> None:
    there = {path.resolve() for path in PAGE.rglob("*") if path.is_file()}
    found = loaded(PAGE / "index.html")
    assert not found - there, "named, but not there"
    assert not there - found, "there, but nothing leads to it from index.html"


def test_the_wheel_holds_the_page(tmp_path: Path) -> None:
    """Built as a release is, by the backend that pyproject.toml names."""
    code = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
    with ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        packed = {name for name in wheel.namelist() if "/web/static/" in name}
    src = ROOT / "src"
    assert packed == {path.relative_to(src).as_posix() for path in PAGE.rglob("*") if path.is_file()}


def test_a_long_function_is_caught() -> None:
    short = "def f():\n" + "    pass\n" * (FUNCTION_LINES - 2)
    assert long_functions(short) == []
    assert long_functions(short + "    pass\n") == [(1, "f", FUNCTION_LINES)]


@pytest.mark.parametrize(
    "line",
    [
        "cd /" + "work/main",
        "home = '/" + "root/.cache'",
        "https://py" + "pi.org/project/x",
        "https://mirror.example/sim" + "ple",
        "pip install --index" + "-url x",
        "# TO" + "DO later",
    ],
)
def test_a_forbidden_line_is_caught(line: str) -> None:
    assert [number for number, _ in forbidden(f"fine\n{line}\n")] == [2]


@pytest.mark.parametrize("line", ["docs/work/notes.md", "https://www.apache.org/licenses/", "todos = []"])
def test_an_innocent_line_is_let_through(line: str) -> None:
    assert forbidden(line) == []


@pytest.mark.parametrize(
    "line",
    [
        "place.innerHTML = text;",
        "document.write(text);",
        "return eval(text);",
        "const f = new Function(text);",
        'setTimeout("go()", 1);',
        'fetch("https://example.com/x");',
        'import x from "http://example.com/x.js";',
        "@import url(//example.com/x.css);",
    ],
)
def test_what_the_page_must_not_do_is_caught(line: str) -> None:
    assert [number for number, _ in forbidden(f"fine\n{line}\n", FORBIDDEN_IN_THE_PAGE)] == [2]


@pytest.mark.parametrize(
    "line",
    [
        'const SVG = "http://www.w3.org/2000/svg";',
        "setTimeout(() => retrieval(text), LATER);",
        "node.textContent = text;",
        "export function show(place) {",
    ],
)
def test_what_the_page_may_do_is_let_through(line: str) -> None:
    assert forbidden(line, FORBIDDEN_IN_THE_PAGE) == []


def test_what_a_file_of_the_page_names_is_found(tmp_path: Path) -> None:
    imports = (
        'import "./a.js";\nimport {\n  one,\n  two,\n} from "./b.js";\nexport * from "../c.js";\n'
        'const late = await import("./d.js");\nconst said = "x from ./e.js";\n'
        'export const other = "./f.js";\n'
    )
    files = {path.relative_to(tmp_path).as_posix() for path in named(tmp_path / "in/main.js", imports)}
    assert files == {"in/a.js", "in/b.js", "c.js", "in/d.js"}
    assert named(tmp_path / "x.css", '@import url("y.css");\na { color: red }') == {tmp_path / "y.css"}


@pytest.mark.slow
@pytest.mark.parametrize(("refuse", "status"), [("", 0), ("1", 1)])
@pytest.mark.parametrize("jobs", ["0", "1"])
def test_a_skip_fails_the_run_where_skips_are_refused(
    tmp_path: Path, refuse: str, status: int, jobs: str
) -> None:
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_it.py").write_text(
        "import pytest\ndef test_a(): pass\ndef test_b(): pytest.skip('no server')\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", jobs, str(tmp_path)],
        cwd=tmp_path,
        env={**os.environ, "RECOLLECT_NO_SKIPS": refuse},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stdout
    assert ("so this run fails" in done.stdout) == bool(refuse)
    assert "1 passed, 1 skipped" in done.stdout.splitlines()[-1]
