"""A Pydantic AI agent that remembers, with a scripted model: it needs neither a key nor the network.

    python examples/pydantic_ai_memory.py [DATABASE]

Run it twice with a database: the second time it knows from the first.
"""

import asyncio
import sys
from tempfile import TemporaryDirectory

from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from recollect import Memory
from recollect.integrations.pydantic_ai import MemoryHistory, memory_toolset


def scripted(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Remembers what the user says of themselves, and tells what it was shown of other conversations."""
    last = messages[-1].parts[-1]
    if last.part_kind == "tool-return":
        return ModelResponse([TextPart("I will keep that in mind.")])
    if last.part_kind == "user-prompt" and str(last.content).startswith("I "):
        return ModelResponse([ToolCallPart("remember", {"content": f"The user: {last.content}"})])
    shown = [part.content for part in messages[-1].parts if part.part_kind == "system-prompt"]
    return ModelResponse([TextPart("Lisbon." if "Lisbon" in "".join(shown) else "I do not know.")])


async def main(database: str) -> None:
    with Memory.open(database, embedder="hashing") as memory:
        agent = Agent(
            FunctionModel(scripted),
            deps_type=str,  # the user; one agent serves them all
            toolsets=[memory_toolset(lambda ctx: memory.scope(user=ctx.deps))],
            capabilities=[MemoryHistory(lambda ctx: memory.scope(user=ctx.deps))],
        )
        for user, conversation, text in [
            ("anna", "monday", "Which city do I live in?"),
            ("anna", "monday", "I live in Lisbon, the city of seven hills."),
            ("anna", "tuesday", "Which city do I live in?"),
            ("ben", "wednesday", "Which city do I live in?"),
        ]:
            result = await agent.run(text, deps=user, conversation_id=conversation)
            print(f"{user}: {text}\nagent: {result.output}")
        anna = memory.scope(user="anna")
        print(f"turns in anna's Monday: {len(anna.conversation('monday'))}")
        anna.mine()  # the background does that by itself
        print(f"remembered of anna: {anna.counts()}")


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else f"{folder}/memory.db"))
