"""Mining through the verbs and the background, with a language model over real HTTP that fails in every way:
nothing is lost, nothing false is stored, doctor says why, and the next run succeeds."""

import os
import threading
from collections.abc import Callable, Generator, Iterator
from typing import Any

import pytest

from recollect import Memory, ScopedMemory
from recollect.model.records import RECORD_TYPES
from recollect.testing.openai_server import Alter, Break, Drop, Hang, OpenAIServer, Status, Step, Truncate
from recollect.testing.store_samples import ManualClock
from tests.interface.test_cli_frame import ask
from tests.interface.test_mine_model import cut
from tests.unit.mine_answers import answer, entity, fact, relation, topic

pytest.importorskip("openai")

from recollect.models.chat import ChatModel

SAID = (
    ("user", "I moved from Lyon to Lisbon last month."),
    ("assistant", "Shall I look for a gym there?"),
    ("user", "Yes. My sister Marta comes on Friday, she is vegetarian."),
)
HOME = fact("The user lives in Lisbon", attribute="home", value="Lisbon", marks=["single"])
DIET = fact("Marta is vegetarian", turns=[3], subject="Marta", attribute="diet", value="vegetarian")
GOOD = answer(
    facts=[HOME, DIET],
    entities=[entity("Marta", turns=[3], type="person")],
    relations=[relation("Marta", "SISTER_OF", "user", turns=[3])],
    topics=[topic("moving", 1, 3, "user")],
)
KNOWN = ["Marta is vegetarian", "The user lives in Lisbon"]

USELESS = {
    "truncated": GOOD[: len(GOOD) // 2],
    "prose": "Of course! The user lives in Lisbon.",
    "wrong types": answer(facts=[HOME | {"turns": "1", "content": 5}]),
    "a list": "[]",
    "ten thousand facts": answer(facts=[HOME] * 10_000),
}
FAULTS: dict[str, list[Step]] = {
    "too many requests": [Status(429, retry_after="1")] * 2,
    "server error": [Status(500)] * 2,
    "not allowed": [Status(401)],
    "dropped": [Drop()] * 2,
    "half an answer": [Truncate()],
    "broken off": [Break()] * 2,
    "no choices": [Alter(lambda body: body | {"choices": []})],
    "out of tokens": [Alter(cut)] * 2,
}
Fail = Callable[[OpenAIServer], None]
EVERY: dict[str, Fail] = {
    **{name: (lambda server, bad=bad: server.say(bad, bad)) for name, bad in USELESS.items()},
    "empty": lambda server: server.say(""),
    **{name: (lambda server, steps=steps: server.script(*steps)) for name, steps in FAULTS.items()},
}
RAN = {*USELESS, "empty", "out of tokens"}
"""Those after which the model has said something, which costs."""


@pytest.fixture
def server() -> Generator[OpenAIServer]:
    with OpenAIServer(chat=lambda body: GOOD) as running:
        yield running


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def memory(server: OpenAIServer, clock: ManualClock, waits: list[float]) -> Iterator[Memory]:
    model = ChatModel(server.base_url, "a-model", attempts=2, timeout=60, sleep=waits.append)
    with Memory.open(embedder="hashing", model=model, clock=clock) as memory:
        yield memory


@pytest.fixture
def derek(memory: Memory) -> ScopedMemory:
    return spoken(memory)


def spoken(memory: Memory) -> ScopedMemory:
    scope = memory.scope("derek")
    scope.record_many({"role": role, "content": content, "conversation": "a"} for role, content in SAID)
    return scope


def state(memory: Memory) -> dict[str, list[Any]]:
    """All that is stored of Derek but how mining stands."""
    store = memory.store.user("derek")
    kinds = [kind for kind in RECORD_TYPES if kind.kind != "conversation"]
    return {kind.kind: [*store.find(kind)] for kind in kinds}


def contents(derek: ScopedMemory) -> list[str]:
    return sorted(record.content for record in derek.list("fact"))  # type: ignore[attr-defined]


def told(memory: Memory) -> list[dict[str, str]]:
    """What doctor says of mining."""
    checks: list[dict[str, str]] = ask("doctor", RECOLLECT_DB=os.environ["RECOLLECT_DB"])["checks"]
    return [check for check in checks if check["name"] == "mining"]


def calls(derek: ScopedMemory) -> int:
    return sum(spent.calls for spent in derek.spending() if spent.source == "memory_extract")


def check_parked(memory: Memory, derek: ScopedMemory, problem: str | None) -> None:
    assert problem
    assert "Lisbon" not in problem
    (conversation,) = [found for found in derek.conversations() if found.id == "a"]
    assert (conversation.mined_to, conversation.mining_failures) == (0, 1)
    assert conversation.mining_problem == problem[:500]
    (check,) = told(memory)
    assert check["state"] == "warn"
    assert problem[:100] in check["detail"]


def check_mined(memory: Memory, derek: ScopedMemory) -> None:
    assert contents(derek) == KNOWN
    (conversation,) = derek.conversations()
    assert (conversation.mined_to, conversation.mining_failures, conversation.mining_problem) == (3, 0, None)
    assert [check["state"] for check in told(memory)] == ["ok"]
    assert derek.mine() == []
    assert len(derek.audit("mine")) == 1


@pytest.mark.parametrize("name", EVERY)
def test_a_fault_is_parked_and_the_next_run_succeeds(
    server: OpenAIServer, memory: Memory, derek: ScopedMemory, name: str
) -> None:
    before = state(memory)
    EVERY[name](server)
    (done,) = derek.mine()
    assert (done.turns, done.added) == (0, 0)
    assert state(memory) == before
    check_parked(memory, derek, done.problem)
    assert calls(derek) == len(server.requests if name in RAN else [])
    assert derek.recall("moved Lyon Lisbon", threshold=-1).hits
    (done,) = derek.mine()
    assert (done.problem, done.turns, done.way) == (None, 3, "a-model")
    check_mined(memory, derek)


@pytest.mark.parametrize("name", EVERY)
def test_the_background_parks_it_and_comes_again(
    server: OpenAIServer, memory: Memory, derek: ScopedMemory, clock: ManualClock, name: str
) -> None:
    before = state(memory)
    clock.advance(hours=1)
    EVERY[name](server)
    outcome = next(o for o in memory.tend() if o.job == "mine")
    assert outcome.done == 0
    assert state(memory) == before
    check_parked(memory, derek, outcome.problem)
    asked = len(server.requests)
    memory.tend()
    assert len(server.requests) == asked  # not yet
    derek.record("user", "See you.", conversation="b")
    clock.advance(days=1)
    outcome = next(o for o in memory.tend() if o.job == "mine")
    assert (outcome.done, outcome.problem) == (4, None)
    assert contents(derek) == KNOWN


def test_a_server_that_hangs_holds_up_neither_recording_nor_recall(
    server: OpenAIServer, clock: ManualClock
) -> None:
    release, again = threading.Event(), threading.Event()
    server.script(Hang(release), Hang(release))

    def wait(seconds: float) -> None:
        again.wait(60)

    model = ChatModel(server.base_url, "a-model", attempts=2, timeout=0.5, sleep=wait)
    with Memory.open(embedder="hashing", model=model, clock=clock) as memory:
        derek = spoken(memory)
        done: list[Any] = []
        mining = threading.Thread(target=lambda: done.extend(derek.mine()))
        mining.start()
        while not server.requests:
            pass
        derek.record("user", "I have a dog.", conversation="b")
        assert derek.recall("moved Lyon Lisbon", threshold=-1).hits
        assert mining.is_alive()
        again.set()
        mining.join()
        release.set()
        assert "ReadTimeout" in done[0].problem
        check_parked(memory, derek, done[0].problem)
        assert [m.problem for m in derek.mine()] == [None, None]
        assert contents(derek) == KNOWN


LIES = {
    "an empty list": (answer(), []),
    "turns that there are not": (answer(facts=[HOME | {"turns": [n]} for n in (0, 4, 99, -1)]), []),
    "turns of none": (answer(facts=[HOME | {"turns": []}]), []),
    "a town that nobody named": (answer(facts=[HOME | {"content": "The user lives in Oslo"}]), []),
    "some that are true": (answer(facts=[HOME | {"turns": [99]}, DIET]), KNOWN[:1]),
}


@pytest.mark.parametrize("name", LIES)
def test_what_nobody_said_is_not_stored(server: OpenAIServer, derek: ScopedMemory, name: str) -> None:
    said, expected = LIES[name]
    server.say(said)
    (done,) = derek.mine()
    assert (done.problem, done.turns) == (None, 3)
    assert contents(derek) == expected


def test_what_is_parked_holds_up_no_other_and_spends_for_its_user(
    server: OpenAIServer, memory: Memory, derek: ScopedMemory
) -> None:
    derek.record("user", "Good morning.", conversation="b")
    eve = memory.scope("eve")
    eve.record("user", "Good evening.", conversation="a")
    server.say("PWNED", "PWNED", answer())
    first, second = derek.mine()
    assert (bool(first.problem), second.problem) == (True, None)
    assert (calls(derek), calls(eve)) == (3, 0)
    assert [conversation.mining_problem for conversation in eve.conversations()] == [None]


def test_a_model_by_its_address(server: OpenAIServer) -> None:
    with Memory.open(embedder="hashing", model=server.base_url, model_name="a-model") as memory:
        derek = memory.scope("derek")
        derek.record_many({"role": role, "content": content, "conversation": "a"} for role, content in SAID)
        assert [m.way for m in derek.mine()] == ["a-model"]
        check_mined(memory, derek)
        assert calls(derek) == 1
