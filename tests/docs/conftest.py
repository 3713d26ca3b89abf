"""The person of the documentation."""

import pytest


@pytest.fixture(autouse=True)
def _derek(_own_database: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_USER", "derek")
