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
from recollect.testing.openai_server import OpenAIServer
from tests.interface.rest_server import serve

pytestmark = pytest.mark.slow

EXAMPLES = 3
"""Of each operation, and of what is nearly one."""
WHO = {"x-role": "local", "x-user": "derek"}


@schemathesis.serializer("application/x-ndjson")
def lines(_: Any, value: Any) -> bytes:
    """What is generated for an import is a text already."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = tmp_path_factory.mktemp("fuzz") / "memory.db"
    with (
        OpenAIServer() as upstream,
        Memory.open(path, embedder="hashing", rate_limit=0, upstream=upstream.base_url) as memory,
        serve(memory) as url,
    ):
        scope = memory.scope("derek", conversation="c")
        scope.record_many([{"role": "user", "content": "I live in Porto."}])
        scope.remember("Likes tea", about=["Derek"])
        yield url


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_no_request_is_the_servers_fault(url: str, mode: GenerationMode) -> None:
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
    operations = [found.ok() for found in cast(Any, schema.get_all_operations())]
    assert len(operations) > 80
    with requests.Session() as session:
        failed = [line for operation in operations for line in _failures(operation, url, mode, session)]
    assert failed == []


def _failures(operation: Any, url: str, mode: GenerationMode, session: requests.Session) -> list[str]:
    failed: list[str] = []

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=EXAMPLES,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=cast(list[HealthCheck], list(HealthCheck)),
        database=None,
    )
    def attack(case: Any) -> None:
        response = case.call(base_url=url, headers=WHO, session=session)
        if response.status_code >= 500:
            failed.append(f"{operation.label}: {response.status_code} {case.as_curl_command()[:1000]}")

    with suppress(Unsatisfiable):  # of some there is nothing that is nearly one
        attack()
    return failed
