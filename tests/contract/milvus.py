"""Milvus for the tests: Lite in this process, and a server of their own to be killed and started again."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from recollect.stores.milvus.collection import has_words
from recollect.stores.milvus.rows import NAMES, TIMES
from recollect.testing.engines import MilvusServer as Server
from recollect.testing.engines import running

TIMEOUT = 60.0
FIELDS = ["id", "user_id", "confidence", "vector", *NAMES, *TIMES]


def client(where: str) -> Any:
    """Looks into it from outside."""
    from pymilvus import MilvusClient

    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
    return MilvusClient(uri=where, timeout=TIMEOUT)


def rows(looking: Any, epoch: str, number: int) -> dict[str, Any]:
    """Everything there is of a user, whatever was just written."""
    found = looking.query(
        epoch,
        filter=f"user_id == {number}",
        output_fields=[*FIELDS, "words"] if has_words(looking, epoch, timeout=TIMEOUT) else FIELDS,
        consistency_level="Strong",
        limit=16_000,
    )
    return {row["id"]: {**row, "vector": [round(float(part), 5) for part in row["vector"]]} for row in found}


@contextmanager
def own_server() -> Iterator[Server]:
    pytest.importorskip("milvus", reason="there is no wheel of Milvus here")
    with running(Server) as server:
        yield server
