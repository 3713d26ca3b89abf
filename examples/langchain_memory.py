"""A LangChain chain with a history that outlives it and a retriever over everything ever said.

    pip install 'recollect[langchain]'
    python examples/langchain_memory.py [DATABASE]

The model is scripted, so that this runs without a key: put your own in its place.
Run it twice with a database: the second time it knows from the first.
"""

import sys
from tempfile import TemporaryDirectory

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from recollect import Memory
from recollect.integrations.langchain import RecollectChatMessageHistory, RecollectRetriever


def model(*answers: str) -> GenericFakeChatModel:
    return GenericFakeChatModel(messages=iter([AIMessage(answer) for answer in answers]))


def chat(memory: Memory, user: str, conversation: str, said: str, llm: GenericFakeChatModel) -> str:
    """One turn: what was said in other conversations is retrieved, this one's messages come along."""
    history = RecollectChatMessageHistory(memory.scope(user, conversation=conversation))
    retriever = RecollectRetriever(
        memory=memory.scope(user), top_k=1, how={"exclude_conversation": conversation}
    )
    known = "\n".join(document.page_content for document in retriever.invoke(said))
    question = HumanMessage(said)
    answer = llm.invoke([SystemMessage(f"What you know:\n{known}"), *history.messages, question])
    history.add_messages([question, answer])
    print(f"{user}: {said}\n  retrieved: {known or 'nothing'}\nagent: {answer.text}")
    return answer.text


def main(database: str) -> None:
    with Memory.open(database, embedder="hashing") as memory:
        chat(memory, "derek", "monday", "My dog Rex is allergic to chicken.", model("Poor Rex!"))
    with Memory.open(database, embedder="hashing") as memory:  # another day
        chat(memory, "derek", "friday", "What is Rex allergic to?", model("Chicken."))
        chat(memory, "ana", "friday", "What is Rex allergic to?", model("I do not know Rex."))
        monday = RecollectChatMessageHistory(memory.scope("derek", conversation="monday"))
        print(f"messages in derek's Monday: {[message.type for message in monday.messages]}")


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        main(sys.argv[1] if len(sys.argv) > 1 else f"{folder}/memory.db")
