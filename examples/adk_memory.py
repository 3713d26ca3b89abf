"""A Google ADK agent that remembers, with a scripted model: it needs neither a key nor the network.

    python examples/adk_memory.py [DATABASE]

Run it twice with a database: the second time it knows from the first.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator
from tempfile import TemporaryDirectory

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types

from recollect import Memory
from recollect.integrations.adk import AutoSavePlugin, RecollectMemoryService


class Scripted(BaseLlm):
    """Saves what the user says of themselves, and tells what it was shown of earlier sessions."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        parts = [part for content in llm_request.contents for part in content.parts or []]
        said = parts[-1].text or ""
        if said.startswith("I "):
            part = types.Part.from_function_call(name="save_memory", args={"content": f"The user: {said}"})
        elif parts[-1].function_response:
            part = types.Part(text="I will keep that in mind.")
        else:
            shown = "".join(part.text or "" for part in parts if "<memory_context" in (part.text or ""))
            part = types.Part(text="Lisbon." if "Lisbon" in shown else "I do not know.")
        used = types.GenerateContentResponseUsageMetadata(prompt_token_count=0, candidates_token_count=0)
        yield LlmResponse(content=types.Content(role="model", parts=[part]), usage_metadata=used)


async def ask(runner: Runner, user: str, session: str, text: str) -> None:
    print(f"{user}: {text}")
    message = types.Content(role="user", parts=[types.Part(text=text)])
    async for event in runner.run_async(user_id=user, session_id=session, new_message=message):
        if event.is_final_response() and event.content and event.content.parts:
            print(f"agent: {event.content.parts[0].text}")


async def main(database: str) -> None:
    with Memory.open(database, embedder="hashing") as memory:
        service = RecollectMemoryService(memory)
        agent = LlmAgent(
            name="helper",
            model=Scripted(model="scripted"),
            instruction="You help people.",
            tools=service.tools(),
        )
        app = App(name="desk", root_agent=agent, plugins=[AutoSavePlugin(service)])
        sessions = InMemorySessionService()
        runner = Runner(app=app, session_service=sessions, memory_service=service)
        for user, session, text in [
            ("anna", "monday", "Which city do I live in?"),
            ("anna", "monday", "I live in Lisbon, the city of seven hills."),
            ("anna", "tuesday", "Which city do I live in?"),
            ("ben", "tuesday", "Which city do I live in?"),
        ]:
            if not await sessions.get_session(app_name="desk", user_id=user, session_id=session):
                await sessions.create_session(app_name="desk", user_id=user, session_id=session)
            await ask(runner, user, session, text)
        monday = await sessions.get_session(app_name="desk", user_id="anna", session_id="monday")
        assert monday
        await service.add_session_to_memory(monday)  # it is over: what was not saved yet is saved now
        print(f"remembered of anna: {memory.scope(user='anna', channel='desk').counts()}")
        await runner.close()


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else f"{folder}/memory.db"))
