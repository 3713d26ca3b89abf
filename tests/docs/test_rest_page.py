"""The page about REST is true: its requests are sent to a server, and answered as it says."""

import json
import os
import subprocess
from pathlib import Path

from recollect import Memory
from tests.docs.examples import blocks, commands, matches
from tests.interface.serving import serve

PAGE = Path(__file__).parents[2] / "docs" / "rest.md"
ADDRESS = "http://127.0.0.1:7070"


def test_requests_are_answered_as_the_page_says(tmp_path: Path) -> None:
    shown = [
        block for block in blocks(PAGE.read_text("utf-8")) if block.language == "console" and not block.no_run
    ]
    requests = [pair for block in shown for pair in commands(block.code.replace("\n    {", " {"))]
    assert len(requests) > 15
    id = ""
    with (
        Memory.open(tmp_path / "memory.db", embedder="hashing", rate_limit=0) as memory,
        serve(memory) as url,
    ):
        for request, expected in requests:
            assert ADDRESS in request
            done = subprocess.run(
                request.replace(ADDRESS, url),
                shell=True,  # as the reader's shell reads it
                env={**os.environ, "ID": id},
                cwd=tmp_path,
                capture_output=True,
                text=True,
                timeout=60,
                check=True,
            )
            assert matches(expected, done.stdout), f"{request}\n{done.stdout}"
            told = json.loads(done.stdout) if done.stdout else {}
            id = told.get("id", id)
