"""A LangGraph agent that still knows, in a new process, what it was told: its store is Recollect.

    pip install 'recollect[langgraph]'
    python examples/langgraph_memory.py [DATABASE]

The model is scripted, so that this runs without a key: put your own in its place.
Run it twice with a database: the second time it knows from the first.
"""

import sys
from tempfile import TemporaryDirectory
from typing import Any, NotRequired, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from recollect import Memory
from recollect.integrations.langgraph import RecollectStore

NOTES = ("notes",)


class State(TypedDict):
    said: str
    answer: NotRequired[str]


def model(said: str, known: list[str]) -> str:
    """Stands for a language model that was given what is known."""
    return f"I know that {known[0]}." if known else "Tell me more."


def listen(state: State, runtime: Runtime) -> dict[str, Any]:
    """Keeps what the user wants kept. The key makes it one item, however often it is said."""
    store, said = runtime.store, state["said"]
    if store is not None and said.startswith("Remember: "):
        text = said.removeprefix("Remember: ")
        store.put(NOTES, text.casefold(), {"text": text})
    return {}


def answer(state: State, runtime: Runtime) -> dict[str, Any]:
    found = runtime.store.search(NOTES, query=state["said"], limit=3) if runtime.store else []
    return {"answer": model(state["said"], [item.value["text"] for item in found])}


def agent(store: RecollectStore):
    builder = StateGraph(State)
    builder.add_node("listen", listen)
    builder.add_node("answer", answer)
    builder.add_edge(START, "listen")
    builder.add_edge("listen", "answer")
    builder.add_edge("answer", END)
    return builder.compile(store=store)


def chat(memory: Memory, user: str, said: str) -> None:
    told = agent(RecollectStore(memory, user)).invoke({"said": said})
    print(f"{user}: {said}\nagent: {told['answer']}")


def main(database: str) -> None:
    with Memory.open(database, embedder="hashing") as memory:
        chat(memory, "derek", "Remember: the standup is at nine")
        chat(memory, "derek", "Remember: Rex the dog eats at six")
    with Memory.open(database, embedder="hashing") as memory:  # another day
        chat(memory, "derek", "When does Rex eat?")
        chat(memory, "ana", "When does Rex eat?")


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        main(sys.argv[1] if len(sys.argv) > 1 else f"{folder}/memory.db")
