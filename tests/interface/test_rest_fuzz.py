"""Whatever is sent that the OpenAPI document allows, or nearly does, the server is never at fault."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, cast

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode

from recollect import Memory
from recollect.server.gateway.described import PATHS
from recollect.testing.openai_server import OpenAIServer
from tests.interface.serving import Served, served

pytestmark = pytest.mark.slow

EXAMPLES = 3
"""Of each operation, and of what is nearly one."""
OF_THE_CALLER = ("x-recollect-user", "x-api-key", "authorization")
"""Headers that say who calls: with others than the session's, a request is refused unread."""
OPERATING = ("/api/v1/figures", "/api/v1/jobs", "/api/v1/keys", "/api/v1/receipts", "/metrics")
"""Paths for admins."""


@schemathesis.serializer("application/x-ndjson")
def lines(_: Any, value: Any) -> bytes:
    """What is generated for an import is a text already."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    path = tmp_path_factory.mktemp("fuzz") / "memory.db"
    with (
        OpenAIServer() as upstream,
        Memory.open(
            path,
            embedder="hashing",
            model=upstream.base_url,  # for agents
            model_name="scripted",
            miner="rules",
            rate_limit=0,
            upstream=upstream.base_url,
        ) as memory,
        served(memory) as server,
    ):
        scope = memory.scope("derek", conversation="c")
        scope.record_many([{"role": "user", "content": "I live in Porto."}])
        scope.remember("Likes tea", about=["Derek"])
        yield server


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_no_request_is_the_servers_fault(server: Served, mode: GenerationMode) -> None:
    operations = described(server)
    assert len(operations) > 80
    failed: list[str] = []
    with requests.Session() as session:
        for operation in operations:
            if operation.path in PATHS:
                continue
            admins = operation.path.startswith(OPERATING)
            issued = server.issue("admin") if admins else server.issue(owner="derek")
            session.headers["Authorization"] = f"Bearer {issued.key}"
            failed += failures(operation, server.url, mode, session, EXAMPLES)
    assert failed == []


def described(server: Served) -> list[Any]:
    """Every operation that the server tells of."""
    schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    return [found.ok() for found in cast(Any, schema.get_all_operations())]


def failures(
    operation: Any, url: str, mode: GenerationMode, session: requests.Session, examples: int
) -> list[str]:
    """What was answered with an error of the server's, of so many requests."""
    failed: list[str] = []

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=examples,
        derandomize=True,  # so that a run that fails fails again
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=cast(list[HealthCheck], list(HealthCheck)),
        database=None,
    )
    def attack(case: Any) -> None:
        for name in [name for name in case.headers if name.lower() in OF_THE_CALLER]:
            del case.headers[name]
        response = case.call(base_url=url, session=session, timeout=60)
        if response.status_code >= 500:
            failed.append(f"{operation.label}: {response.status_code} {case.as_curl_command()[:1000]}")

    with suppress(Unsatisfiable):  # of some there is nothing that is nearly one
        attack()
    return failed
