"""What an operator, or a disk, does to the database under a server: no accepted write is lost."""

from pathlib import Path

import httpx
import pytest

from recollect import Memory
from tests.interface.serving import serve


@pytest.mark.parametrize("replaced", [False, True])
def test_nothing_is_accepted_once_the_file_is_gone(tmp_path: Path, replaced: bool) -> None:
    database = tmp_path / "memory.db"
    if replaced:
        Memory.open(tmp_path / "backup.db", embedder="hashing").close()
    with (
        Memory.open(database, embedder="hashing") as memory,
        serve(memory) as url,
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        kept = client.post("/api/v1/facts", json={"content": "kept"})
        assert kept.status_code == 201
        if replaced:
            (tmp_path / "backup.db").replace(database)
        else:
            database.unlink()
        lost = client.post("/api/v1/facts", json={"content": "lost"})
        assert lost.status_code == 503, lost.text
        assert str(tmp_path) not in lost.text  # where it is, is told to the log alone
        assert kept.json()["id"] in client.get("/api/v1/export").text  # the one way to save it
