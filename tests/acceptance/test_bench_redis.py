"""What the cache in Redis saves a recall with the default model, measured as `recollect bench` does."""

from pathlib import Path

import pytest

pytest.importorskip("redis", reason="the client is an extra")

from recollect.bench.corpus import Corpus
from recollect.bench.scale.redis import ASKED, redis_cache
from recollect.bench.sqlite import SqlitePlace
from tests.contract import redis

pytestmark = [pytest.mark.engine, pytest.mark.slow]


def test_what_the_cache_saves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.wiring.IMPATIENT", 30.0)
    monkeypatch.setenv("RECOLLECT_REDIS_TIMEOUT", "30")
    filled: list[int] = []
    with redis.own_server() as server:
        found = redis_cache(SqlitePlace(tmp_path), Corpus(), server.url, advance=filled.append)
    assert sum(filled) == found["rows"] == 10_000
    assert found["ratio_p50"] == pytest.approx(found["miss_p50_ms"] / found["hit_p50_ms"], rel=0.05)
    assert found["asked"] == ASKED
    assert 0.2 < found["hit_rate"] < 1
    assert found["stale"] == 0
