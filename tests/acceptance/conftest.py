"""Other processes, as a user would start them."""

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RunPython = Callable[..., Any]

# A model of one's own is nothing that every machine must have, so without one this is not even a skip.
_MODEL = ("RECOLLECT_TEST_MODEL", "RECOLLECT_TEST_MODEL_NAME")
collect_ignore = [] if all(os.environ.get(name) for name in _MODEL) else ["test_mine_real_model.py"]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def start_python(database: Path) -> Callable[[str], subprocess.Popen[str]]:
    """Starts a script in a process of its own; `path` is the database in it."""

    def start(script: str) -> subprocess.Popen[str]:
        code = f"path = {str(database)!r}\n{textwrap.dedent(script)}"
        return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)

    return start


@pytest.fixture
def run_python(start_python: Callable[[str], subprocess.Popen[str]]) -> RunPython:
    """Runs a script in a process of its own and gives back the JSON it prints."""

    def run(script: str) -> Any:
        process = start_python(script)
        output, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        return json.loads(output)

    return run
