"""CrewAI: a crew with a memory of ours. Runs where CrewAI is installed (see conftest.py)."""

# It has an environment of its own.
# pyright: reportMissingImports=false

import copy
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("crewai")

from crewai import Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM

from recollect import Memory, ScopedMemory
from recollect.integrations.crewai import RecollectMemory
from recollect.testing.store_samples import ManualClock
from tests.framework.running import run_example
from tests.unit.support import OpenMemory, SwitchedEmbedder

pytestmark = [
    pytest.mark.framework,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # CrewAI's own, at import and in pydantic
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


class Scripted(BaseLLM):
    """Says whether it was told of Lisbon."""

    def call(self, messages: Any, *args: Any, **kwargs: Any) -> str:
        told = "party is in Lisbon" in str(messages)
        return f"Thought: I know\nFinal Answer: {'In Lisbon.' if told else 'No idea.'}"


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREWAI_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")


def run(memory: RecollectMemory, work: str) -> str:
    agent = Agent(role="planner", goal="plan", backstory="You plan.", llm=Scripted(model="scripted"))
    task = Task(description=work, expected_output="one sentence", agent=agent)
    return str(Crew(agents=[agent], tasks=[task], memory=memory, tracing=False).kickoff())


@pytest.fixture
def crew_memory(derek: ScopedMemory) -> RecollectMemory:
    return RecollectMemory(derek)


def contents(matches: Any) -> list[str]:
    return [match.record.content for match in matches]


def test_a_crew_knows_what_the_user_said_elsewhere(memory: Memory, derek: ScopedMemory) -> None:
    derek.record("user", "The launch party is in Lisbon.", conversation="earlier")
    asked = "Tell where the launch party takes place."
    assert run(RecollectMemory(derek), asked) == "In Lisbon."
    assert run(RecollectMemory(memory.scope("ana")), asked) == "No idea."


def test_what_a_crew_reached_is_remembered(derek: ScopedMemory, open_memory: OpenMemory) -> None:
    run(RecollectMemory(derek), "Find a hotel near the harbour.")
    kept = open_memory().scope("derek").list("fact")
    assert any("hotel near the harbour" in getattr(fact, "content", "") for fact in kept)


def test_remembering_and_recalling(crew_memory: RecollectMemory, derek: ScopedMemory) -> None:
    record = crew_memory.remember(
        "Rex eats fish 🐟", scope="/pets", categories=["dogs"], metadata={"n": 1}, importance=0.9
    )
    assert record is not None
    assert (record.scope, record.categories, record.metadata, record.importance) == (
        "/pets",
        ["dogs"],
        {"n": 1},
        0.9,
    )
    crew_memory.remember_many(["The harbour is busy", " "], scope="/city")
    (first, *_) = crew_memory.recall("What does Rex eat?")
    assert first.record == record
    assert contents(crew_memory.recall("harbour", scope="/pets")) in ([], ["Rex eats fish 🐟"])
    assert contents(crew_memory.recall("Rex", categories=["cats"])) == []
    assert derek.counts()["fact"] == 2


def test_scopes_and_views(crew_memory: RecollectMemory) -> None:
    for number, scope in enumerate(("/a", "/a/b", "/ab", "/c/d")):
        crew_memory.remember(f"note {number}", scope=scope, categories=[scope])
    assert [r.content for r in crew_memory.list_records("/a")] == ["note 1", "note 0"]
    assert crew_memory.list_scopes("/") == ["/a", "/ab", "/c"]
    assert (crew_memory.info("/a").record_count, crew_memory.info("/a").child_scopes) == (2, ["/a/b"])
    assert crew_memory.list_categories("/c") == {"/c/d": 1}
    assert "(4 records)" in crew_memory.tree()
    view = crew_memory.scope("/a")
    view.remember("in the view")
    assert crew_memory.info("/a").record_count == 3
    assert set(contents(view.recall("note"))) <= {"note 0", "note 1", "in the view"}


def test_private_records_are_their_sources(crew_memory: RecollectMemory) -> None:
    crew_memory.remember("the code is walrus", source="ana", private=True)
    assert contents(crew_memory.recall("walrus code")) == []
    assert contents(crew_memory.recall("walrus code", source="ana")) == ["the code is walrus"]
    assert contents(crew_memory.recall("walrus code", include_private=True)) == ["the code is walrus"]


def test_forgetting(crew_memory: RecollectMemory, clock: ManualClock) -> None:
    one = crew_memory.remember("one", scope="/a", metadata={"k": 1})
    assert one is not None
    clock.advance(days=2)
    crew_memory.remember("two", scope="/a")
    crew_memory.remember("three", scope="/b", categories=["x"])
    assert crew_memory.forget(record_ids=["no such id"]) == 0
    assert crew_memory.forget(metadata_filter={"k": 2}) == 0
    assert crew_memory.forget(record_ids=[one.id]) == 1
    assert crew_memory.forget(categories=["x"]) == 1
    crew_memory.reset()
    assert crew_memory.list_records() == []
    assert crew_memory.recall("one two three") == []


def test_updating(crew_memory: RecollectMemory) -> None:
    record = crew_memory.remember("Rex eats chicken", scope="/pets")
    assert record is not None
    crew_memory.update(record.id, content="Rex eats fish")
    assert [(r.content, r.scope) for r in crew_memory.list_records()] == [("Rex eats fish", "/pets")]
    with pytest.raises(ValueError, match="not found"):
        crew_memory.update(record.id, content="again")


def test_reading_only(derek: ScopedMemory) -> None:
    memory = RecollectMemory(derek, read_only=True)
    assert memory.remember("nothing") is None
    assert memory.remember_many(["nothing"]) == []
    assert derek.counts() == {}


def test_results_are_not_kept_for_whom_memory_is_off(derek: ScopedMemory) -> None:
    derek.update_settings(enabled=False)
    run(RecollectMemory(derek), "Find a hotel near the harbour.")
    assert "fact" not in derek.counts()


def test_users_are_apart_and_a_restart_changes_nothing(open_memory: OpenMemory) -> None:
    first = open_memory()
    RecollectMemory(first.scope("derek")).remember("Rex eats fish")
    first.close()
    again = open_memory()
    assert contents(RecollectMemory(again.scope("derek")).recall("Rex")) == ["Rex eats fish"]
    assert RecollectMemory(again.scope("ana")).recall("Rex") == []


def test_a_crew_goes_on_when_vectors_are_down(derek: ScopedMemory, embedder: SwitchedEmbedder) -> None:
    derek.record("user", "The launch party is in Lisbon.", conversation="earlier")
    embedder.down = True
    assert run(RecollectMemory(derek), "Tell where the launch party takes place.") == "In Lisbon."


def test_a_crew_goes_on_without_its_memory(memory: Memory, derek: ScopedMemory) -> None:
    memory.store.close()
    assert RecollectMemory(derek).recall("anything") == []
    assert run(RecollectMemory(derek), "Tell where the launch party takes place.") == "No idea."


def test_copies_share_it(crew_memory: RecollectMemory) -> None:
    assert copy.deepcopy(crew_memory) is crew_memory


def test_the_example_runs(tmp_path: Path) -> None:
    lines = run_example(
        "crewai_memory.py", tmp_path, CREWAI_DISABLE_TELEMETRY="true", OTEL_SDK_DISABLED="true"
    )
    told = [line for line in lines if line.startswith("crew:")]
    assert told == ["crew: The launch party is in Lisbon.", "crew: Lisbon.", "crew: I do not know."]
