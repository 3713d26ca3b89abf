"""`import recollect` stays light: what is heavy is imported by the part that needs it, when it does."""

import json
import subprocess
import sys

HEAVY = {
    "alembic",
    "fastapi",
    "httpx",
    "neo4j",
    "onnxruntime",
    "openai",
    "pydantic",
    "redis",
    "rich",
    "sqlalchemy",
    "tokenizers",
    "typer",
}


def test_importing_recollect_imports_nothing_heavy() -> None:
    code = "import json, sys, recollect; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in json.loads(done.stdout)}
    assert "recollect" in loaded
    assert sorted(loaded & HEAVY) == []
