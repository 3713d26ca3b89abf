"""An agent of the OpenAI Agents SDK that remembers, with a scripted model: it needs neither a key nor the
network.

    python examples/openai_agents_memory.py [DATABASE]

Run it twice with a database: the second time it knows from the first.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from tempfile import TemporaryDirectory
from typing import Any

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from recollect import Memory
from recollect.integrations.openai_agents import RecollectSession, memory_tools


class Scripted(Model):
    """Remembers what the user says of themselves, and tells what it was shown of other sessions."""

    async def get_response(
        self, system_instructions: str | None, input: Any, *args: Any, **kwargs: Any
    ) -> ModelResponse:
        last = input[-1]
        if last.get("type") == "function_call_output":
            output = said("I will keep that in mind.")
        elif last["content"].startswith("I "):
            arguments = json.dumps({"content": f"The user: {last['content']}"})
            output = ResponseFunctionToolCall(
                type="function_call", call_id="c1", name="remember", arguments=arguments
            )
        else:
            shown = "".join(item["content"] for item in input if item.get("role") == "system")
            output = said("Lisbon." if "Lisbon" in shown else "I do not know.")
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


def said(text: str) -> ResponseOutputMessage:
    content = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(
        id="m1", type="message", role="assistant", status="completed", content=[content]
    )


async def main(database: str) -> None:
    with Memory.open(database, embedder="hashing") as memory:
        for user, name, text in [
            ("anna", "monday", "Which city do I live in?"),
            ("anna", "monday", "I live in Lisbon, the city of seven hills."),
            ("anna", "tuesday", "Which city do I live in?"),
            ("ben", "wednesday", "Which city do I live in?"),
        ]:
            scope = memory.scope(user=user, conversation=name)
            session = RecollectSession(name, scope)
            agent = Agent(
                name="helper",
                instructions="You help people.",
                model=Scripted(),
                tools=memory_tools(scope),
            )
            config = RunConfig(call_model_input_filter=session.with_memory, tracing_disabled=True)
            result = await Runner.run(agent, text, session=session, run_config=config)
            print(f"{user}: {text}\nagent: {result.final_output}")
        monday = RecollectSession("monday", memory.scope(user="anna"))
        print(f"items in anna's Monday: {len(await monday.get_items())}")
        memory.scope(user="anna").mine()  # the background does that by itself
        print(f"remembered of anna: {memory.scope(user='anna').counts()}")


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else f"{folder}/memory.db"))
