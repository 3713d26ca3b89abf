"""Imports point one way, adapters stay behind the wiring, and the environment has one reader.

model <- ports <- record, mine, recall, tend <- memory <- agent, server, cli, integrations, bench
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src" / "recollect"

# What each part may import besides itself. ROOT is `from recollect import Memory`, the public names.
ROOT = "recollect"
BASE = {"errors", "model", "text", "ports"}
KIT = BASE | {"settings", "limits", "workspace", "policies", "wishes", "measuring", "tracing"}
CORE = KIT | {"record", "mine", "recall", "tend"}
EDGE = CORE | {"keys", "lasting", "memory", "scoped", "wiring", "metrics", "doing", "wire", ROOT}
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "version": set(),
    "model": {"errors"},
    "text": {"errors", "model"},
    "ports": {"errors", "model", "text"},
    "wire": {"errors", "model"},
    "settings": {"errors", "model"},
    "keys": {"errors"},
    "limits": {"errors", "model", "settings"},
    "resting": set(),
    "capacity": {"errors"},
    "capacity_measured": {"capacity"},
    "addresses": {"errors"},
    "tracing": set(),
    "lasting": set(),
    "policies": {"model", "wishes"},
    "wishes": {"errors", "model", "limits"},
    "auditing": BASE,
    "measuring": BASE,
    "metering": BASE | {"measuring"},
    "metrics": BASE | {"measuring", "settings"},
    "doing": {"measuring", "metrics"},
    "workspace": BASE | {"settings", "resting", "policies", "wishes", "measuring"},
    "record": KIT,
    "recall": KIT | {"wire", "version"},  # answers are kept as clients get them, and by release
    "mine": KIT | {"record"},
    "tend": KIT | {"record", "mine", "recall"},  # the background drives the others
    "stores": BASE | {"keys", "resting"},
    "models": BASE | {"addresses"},
    "scoped": CORE | {"auditing"},
    # Memory.open asks the wiring for its ports
    "memory": CORE | {"scoped", "wiring", "resting", "metering", "auditing", "metrics"},
    "asynchronous": CORE | {"scoped", "memory"},
    "wiring": CORE | {"keys", "memory", "stores", "models"},
    "client": BASE | {"addresses", "record", "tend", "scoped", "limits", "asynchronous", "wire", ROOT},
    "agent": EDGE | {"addresses"},
    "importing": {"errors", "model", "limits", "workspace", "record", "scoped"},
    "demo": {"errors", "model", "memory", "scoped"},
    "server": EDGE | {"agent"},
    "cli": EDGE | {"agent", "server", "bench", "importing", "demo", "capacity", "capacity_measured"},
    "bench": EDGE | {"agent", "server", "client", "testing"},
    "testing": EDGE | {"server"},
    "integrations": {"errors", ROOT},  # written as a user would write them
    ROOT: {
        "version",
        "errors",
        "model",
        "record",
        "tend",
        "scoped",
        "memory",
        "asynchronous",
        "client",
        "agent",
    },
    "__main__": {"cli"},
}

# Single files that reach an adapter, each with its reason.
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("cli.models", "models"): "`recollect models` lists and installs weights",
}

# Who may touch os.environ.
ENVIRONMENT_READERS: dict[str, str] = {
    "settings.reading": "every setting is read in one place",
    "models.onnx": "the runtime's telemetry is switched off by a variable only",
    "bench.peers.runners.harness": "other systems' telemetry is switched off by variables only",
    "models.install": "pip's temporary files go where their growth can be seen",
}


def module_name(path: Path, src: Path) -> str:
    parts = path.relative_to(src).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(tree: ast.Module, path: Path, src: Path) -> Iterator[tuple[str, int]]:
    """Every module of ours that the file names in an import, dotted, without the `recollect.`."""
    package = ["recollect", *path.relative_to(src).parent.parts]
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            # A name taken from a package may be a module inside it.
            names = [f"{base}.{alias.name}" if is_package(base, src) else base for alias in node.names]
        elif isinstance(node, ast.Call) and "import" in ast.unparse(node.func) and node.args:
            first = node.args[0]  # importlib.import_module("recollect.…")
            names = [str(first.value)] if isinstance(first, ast.Constant) else []
        for name in names:
            if name == "recollect" or name.startswith("recollect."):
                yield name.removeprefix("recollect").removeprefix("."), getattr(node, "lineno", 0)


def is_package(dotted: str, src: Path) -> bool:
    top, _, inner = dotted.partition(".")
    return top == "recollect" and (src / inner.replace(".", "/")).is_dir()


def part_of(dotted: str, src: Path) -> str:
    """The row of the table: the first word, or ROOT for a public name."""
    first = dotted.partition(".")[0]
    return first if (src / first).is_dir() or (src / f"{first}.py").is_file() else ROOT


def wrong_arrows(src: Path) -> list[str]:
    wrong: list[str] = []
    for path in sorted(src.rglob("*.py")):
        module = module_name(path, src)
        here = module.partition(".")[0] or ROOT
        if here not in MAY_IMPORT:
            wrong.append(f"{path}:1: {here} has no row in MAY_IMPORT")
            continue
        for target, line in imported(ast.parse(path.read_text("utf-8")), path, src):
            there = part_of(target, src) if target else ROOT
            if there == here or there in MAY_IMPORT[here] or (module, there) in EXCEPTIONS:
                continue
            wrong.append(f"{path}:{line}: {module or ROOT} imports {there}")
    return wrong


def environment_readers(src: Path) -> list[str]:
    """Uses of os.environ and its kin, typer's `envvar=` among them, by anybody else."""
    found: list[str] = []
    for path in sorted(src.rglob("*.py")):
        if module_name(path, src) in ENVIRONMENT_READERS:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            reads = (
                (isinstance(node, ast.Attribute) and node.attr in {"environ", "environb", "getenv"})
                or (isinstance(node, ast.alias) and node.name in {"environ", "environb", "getenv"})
                or (isinstance(node, ast.keyword) and node.arg == "envvar")
            )
            if reads:
                found.append(f"{path}:{getattr(node, 'lineno', 0)}: reads the environment")
    return found


def test_imports_point_one_way() -> None:
    assert not wrong_arrows(SRC), "\n".join(wrong_arrows(SRC))


def test_only_settings_reads_the_environment() -> None:
    assert not environment_readers(SRC), "\n".join(environment_readers(SRC))


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A package with every part of the real one, all of them empty."""
    for part in MAY_IMPORT:
        (tmp_path / part).mkdir()
        (tmp_path / part / "__init__.py").touch()
    (tmp_path / "__init__.py").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("file", "line", "message"),
    [
        ("model/a.py", "import recollect.ports", "model.a imports ports"),
        ("model/a.py", "from recollect import Memory", "model.a imports recollect"),
        ("ports/a.py", "from recollect.memory import Memory", "ports.a imports memory"),
        ("record/a.py", "from recollect import memory", "record.a imports memory"),
        ("record/a.py", "from ..recall import fuse", "record.a imports recall"),
        ("recall/a.py", "from .. import stores", "recall.a imports stores"),
        ("stores/a.py", "def f():\n    from recollect.record import b", "stores.a imports record"),
        ("cli/a.py", "import_module('recollect.stores.sqlite')", "cli.a imports stores"),
        ("integrations/a.py", "from recollect.memory import Memory", "integrations.a imports memory"),
        ("stray/a.py", "", "stray has no row in MAY_IMPORT"),
    ],
)
def test_a_wrong_arrow_is_caught(planted: Path, file: str, line: str, message: str) -> None:
    (planted / file).parent.mkdir(exist_ok=True)
    (planted / file).write_text(f"\n{line}\n")
    (found,) = wrong_arrows(planted)
    assert found.startswith(f"{planted / file}:")
    assert found.endswith(message)


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("ports/a.py", "from recollect.model import Turn"),
        ("record/a.py", "from recollect.record import b\nfrom . import c\nimport sqlalchemy"),
        ("wiring/a.py", "from recollect.stores.sqlite import open_store"),
        ("cli/models.py", "from recollect.models import registry"),
        ("integrations/a.py", "from recollect import Memory"),
    ],
)
def test_a_right_arrow_is_let_through(planted: Path, file: str, line: str) -> None:
    (planted / file).write_text(line)
    assert wrong_arrows(planted) == []


@pytest.mark.parametrize(
    "line", ["import os; os.environ['A']", "from os import getenv", "Option(envvar='RECOLLECT_DB')"]
)
def test_a_second_reader_of_the_environment_is_caught(tmp_path: Path, line: str) -> None:
    (tmp_path / "settings").mkdir()
    (tmp_path / "settings" / "reading.py").write_text(line)
    assert environment_readers(tmp_path) == []
    (tmp_path / "memory.py").write_text(line)
    assert environment_readers(tmp_path) == [f"{tmp_path / 'memory.py'}:1: reads the environment"]
