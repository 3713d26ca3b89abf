"""A LlamaIndex chat whose memory block is Recollect: what leaves the chat history is not lost, and a new
session knows of it.

    pip install 'recollect[llama-index]'
    python examples/llama_index_memory.py [DATABASE]

The model is scripted, so that this runs without a key: put your own in its place.
Run it twice with a database: the second time it knows from the first.
"""

import sys
from tempfile import TemporaryDirectory
from typing import Any

from llama_index.core.base.llms.types import CompletionResponse, CompletionResponseGen, LLMMetadata
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import CustomLLM
from llama_index.core.memory import Memory as ChatMemory

from recollect import Memory
from recollect.integrations.llama_index import RecollectMemoryBlock


class Scripted(CustomLLM):
    """Stands for a language model: it answers from what it was given."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="scripted")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        asked, known = "What is Rex allergic to?" in prompt, "is allergic to chicken" in prompt
        return CompletionResponse(text=("Chicken." if known else "Who is Rex?") if asked else "I see.")

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        yield self.complete(prompt)


def engine(memory: Memory, user: str, session: str) -> SimpleChatEngine:
    """A chat that keeps little in front of the model and the rest in the block."""
    chat = ChatMemory.from_defaults(
        session_id=session,
        token_limit=400,
        chat_history_token_ratio=0.05,
        token_flush_size=10,
        memory_blocks=[RecollectMemoryBlock(memory=memory.scope(user))],
    )
    return SimpleChatEngine.from_defaults(llm=Scripted(), memory=chat)


def chat(engine: SimpleChatEngine, user: str, said: str) -> None:
    print(f"{user}: {said}\nagent: {engine.chat(said)}")


def main(database: str) -> None:
    with Memory.open(database, embedder="hashing") as memory:
        monday = engine(memory, "derek", "monday")
        chat(monday, "derek", "My dog Rex is allergic to chicken, so he gets fish.")
        chat(monday, "derek", "He is a good dog, and sleeps on the sofa all day long.")
    with Memory.open(database, embedder="hashing") as memory:  # another day
        chat(engine(memory, "derek", "friday"), "derek", "What is Rex allergic to?")
        chat(engine(memory, "ana", "friday"), "ana", "What is Rex allergic to?")


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        main(sys.argv[1] if len(sys.argv) > 1 else f"{folder}/memory.db")
