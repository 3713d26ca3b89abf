"""What was said, and what is asked of it: the two that are called all the time."""

from typing import Annotated, Any, Literal

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from recollect import Recollection, TooLarge, Turn
from recollect.server.answers import answer
from recollect.server.http.asked import ours
from recollect.server.http.shapes import (
    MANY,
    Body,
    Flag,
    Name,
    Number,
    Text,
    Texts,
    Time,
    Vector,
    Whole,
    gives,
    like,
    made,
)
from recollect.server.http.writing import Writes, every
from recollect.server.scope import Scoped
from recollect.server.serving import serving

router = ours("asking and telling")


class Said(Body):
    """Something said. With `index`, recording it twice changes nothing."""

    role: Literal["user", "assistant", "system", "tool", "note"]
    content: str
    conversation: Name | None = None
    index: Whole | None = None
    at: Time | None = None
    zone: Name | None = None
    model: Text | None = None
    tokens: Whole | None = None
    title: Text | None = None
    metadata: dict[str, Any] | None = None
    vector: Vector | None = None


class Told(Body):
    """Turns of a conversation, in order; those that name none go into this one, or into a new one."""

    messages: Annotated[list[Said], Field(min_length=1, max_length=MANY)]
    conversation: Name | None = None

    model_config = like(
        {
            "conversation": "monday",
            "messages": [
                {"role": "user", "content": "I moved to Porto last week."},
                {"role": "assistant", "content": "How do you like it?"},
            ],
        }
    )


@router.post("/turns", operation_id="record", summary="Record", **gives(made(turns=list[Turn]), status=201))
async def record(request: Request, body: Told, write: Writes) -> Response:
    """Store turns, word for word, all or none; they are on disk when this answers."""
    if len(body.messages) > (most := serving(request).settings.batch_limit):
        raise TooLarge(f"These are {len(body.messages)} turns; send at most {most} at a time.")
    messages = [_plain(message) for message in body.messages]
    return await write.do(
        lambda memory: memory.record_many(messages, conversation=body.conversation),
        every,
        (Turn.kind,),
        status=201,
        shown=lambda turns: {"turns": turns},
    )


def _plain(said: Said) -> dict[str, Any]:
    return {name: value for name, value in said.given().items() if value is not None}


class Question(Body):
    """A question. What is left out is as the settings say."""

    query: str
    """What is asked, in plain words."""
    top_k: Annotated[Whole, Field(ge=1, le=1000)] | None = None
    """How many memories at most."""
    kinds: Texts | None = None
    """Only of these kinds: turn, fact, procedure, episode, reflection."""
    threshold: Number | None = None
    """The least similarity of what is found by meaning alone: 0 unrelated, 1 the same."""
    agent: Name | None = None
    """Only what belongs to this agent."""
    conversation: Name | None = None
    """Only what was said in this conversation."""
    exclude_conversation: Name | None = None
    """Not what was said in this one: the model has it in front of it."""
    roles: Texts | None = None
    """Only turns of these roles: user, assistant, system, tool, note."""
    since: Time | None = None
    """Only what was said or began from then on."""
    until: Time | None = None
    """Only what was said or began before."""
    as_of: Time | None = None
    """What was true at that time."""
    known_at: Time | None = None
    """What was known at that time."""
    min_confidence: Number = 0.0
    """Only memories that are at least so sure, from 0 to 1."""
    context_tokens: Annotated[Whole, Field(ge=0)] | None = None
    """About how many tokens `context` may have."""
    history: Annotated[list[str | dict[str, Any]], Field(max_length=MANY)] | None = None
    """Messages before it (texts, or objects with role and content), by which it is understood."""
    techniques: dict[str, Flag] | None = None
    """Techniques of recall to switch on or off, by name."""
    include: Texts | None = None
    """What to bring along: goals, profile, related."""
    explain: Flag = False
    """Tell what each signal adds to a score, and what was left out, and why."""
    count: Flag = True
    """Whether what is found counts as returned, which popularity goes by; not for a look."""
    vector: Vector | None = None
    """The embedding of the query, by the model that the server embeds with."""

    model_config = like(
        {"query": "Where do I live?", "top_k": 3},
        {"query": "What about the budget?", "exclude_conversation": "monday", "include": ["goals"]},
    )


@router.post("/recall", operation_id="recall", summary="Recall", **gives(Recollection))
async def recall(request: Request, body: Question, memory: Scoped) -> Response:
    """The memories that bear on a question, best first, and one block of them to give to a model."""
    asked: dict[str, Any] = {**body.given(), "include": body.include or ()}
    return answer(await serving(request).ask(lambda: memory.recall(**asked)))
