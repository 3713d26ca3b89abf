"""A CrewAI crew whose memory is Recollect: the next crew of the same user knows what the last one found out.

    pip install recollect crewai
    python examples/crewai_memory.py [DATABASE]

The model is scripted, so that this runs without a key: put your own in its place.
Run it twice with a database: the second time it knows from the first.
"""

# It has an environment of its own.
# pyright: reportMissingImports=false

import os
import sys
from tempfile import TemporaryDirectory
from typing import Any

os.environ.setdefault("CREWAI_DISABLE_TELEMETRY", "true")
os.environ.setdefault("CREWAI_TRACING_ENABLED", "false")

try:
    from crewai import Agent, Crew, Task
    from crewai.llms.base_llm import BaseLLM
except ModuleNotFoundError:
    sys.exit("This example needs CrewAI, in an environment of its own: pip install recollect crewai")

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


def ask(memory: Memory, user: str, work: str) -> None:
    print(f"{user}: {work}\ncrew: {crew(RecollectMemory(memory.scope(user)), work)}")


def main(database: str) -> None:
    with Memory.open(database, embedder="hashing") as memory:
        ask(memory, "derek", "Find a place for the launch party.")
    with Memory.open(database, embedder="hashing") as memory:  # another day
        asked = "Where does the launch party take place?"
        ask(memory, "derek", asked)
        ask(memory, "ana", asked)


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        main(sys.argv[1] if len(sys.argv) > 1 else f"{folder}/memory.db")
