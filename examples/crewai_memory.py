"""A CrewAI crew whose memory is Recollect: the next crew of the same user knows what the last one found out.

    pip install recollect crewai
    python examples/crewai_memory.py

The model is scripted, so that this runs without a key: put your own in its place.
"""

# It has an environment of its own.
# pyright: reportMissingImports=false

import os
from typing import Any

os.environ.setdefault("CREWAI_DISABLE_TELEMETRY", "true")
os.environ.setdefault("CREWAI_TRACING_ENABLED", "false")

from crewai import Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM

from recollect import Memory
from recollect.integrations.crewai import RecollectMemory


class Scripted(BaseLLM):
    """Stands for a language model: it answers from what it was given."""

    def call(self, messages: Any, *args: Any, **kwargs: Any) -> str:
        asked = messages if isinstance(messages, str) else str(messages)
        if "Where does" not in asked:
            return "Thought: I know\nFinal Answer: The launch party is in Lisbon."
        known = "party is in Lisbon" in asked
        return f"Thought: I know\nFinal Answer: {'Lisbon.' if known else 'I do not know.'}"


def crew(memory: RecollectMemory, work: str) -> str:
    agent = Agent(role="planner", goal="plan parties", backstory="You plan.", llm=Scripted(model="scripted"))
    task = Task(description=work, expected_output="one sentence", agent=agent)
    return str(Crew(agents=[agent], tasks=[task], memory=memory, tracing=False).kickoff())


def main() -> None:
    with Memory.open() as memory:
        print("derek:", crew(RecollectMemory(memory.scope("derek")), "Find a place for the launch party."))
    with Memory.open() as memory:  # another day
        asked = "Where does the launch party take place?"
        print("derek:", crew(RecollectMemory(memory.scope("derek")), asked))
        print("ana:", crew(RecollectMemory(memory.scope("ana")), asked))


if __name__ == "__main__":
    main()
