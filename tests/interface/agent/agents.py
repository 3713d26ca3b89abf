"""What agents asked and told."""

from collections.abc import Sequence
from typing import Any

from recollect import Answer
from recollect.agent.events import Action, Event, Observation, Problem, Text, Thought
from recollect.testing.openai_answers import Body
from recollect.testing.openai_server import OpenAIServer


def prompts(server: OpenAIServer) -> list[list[Body]]:
    """The messages of each request to the chat model."""
    return [r.body["messages"] for r in server.requests if r.path == "/v1/chat/completions"]


def system(server: OpenAIServer, turn: int = 0) -> str:
    return prompts(server)[turn][0]["content"]


def observed(answer: Answer) -> list[str]:
    return [event.output for event in answer.events if isinstance(event, Observation)]


def told(events: Sequence[Event]) -> list[Any]:
    """What happened, in few words."""
    words: dict[type, Any] = {
        Thought: lambda e: f"thought {e.text}",
        Action: lambda e: f"action {e.tool}",
        Observation: lambda e: f"observation {e.success}",
        Problem: lambda e: "problem",
        Text: lambda e: "text",
    }
    return [words[type(event)](event) if type(event) in words else event.type for event in events]


def add(a: int, b: int = 1) -> int:
    """Add two numbers.

    Args:
        a: the first
        b: the second
    """
    return a + b
