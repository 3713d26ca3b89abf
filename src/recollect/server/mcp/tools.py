"""The tools: each a function with what models are told of it, and the one table of them all."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from recollect.errors import Invalid
from recollect.model.places import Pointer, read_place
from recollect.server.mcp import telling
from recollect.server.mcp.telling import answer, row
from recollect.server.mcp.toolkit import TIME, Answer, Seen, Time, Tool, several, text, tool

RECALLED, LISTED, MOST = 10, 20, 50
"""How many memories are recalled and how many things are listed unless the model says, and at most."""

Id = Annotated[str, text("The id, as another tool has told it.")]
Limit = Annotated[int, Field(ge=1, le=MOST, description=f"How many at most; {MOST} at the most.")]
Place = Annotated[str, text("Such as W-042, W-042/R-11 or § W-042/R-11/D-007.")]
Conversation = Annotated[str, text("The conversation's id.")]
Kind = Literal["fact", "procedure", "episode", "reflection"]
Found = Literal["turn", "fact", "procedure", "episode", "reflection", "entity"]
Names = Annotated[list[str], BeforeValidator(several)]
Kinds = Annotated[list[Found], BeforeValidator(several)]
Since = Annotated[Time | None, Field(description=f"No earlier than then ({TIME}).")]
Until = Annotated[Time | None, Field(description=f"No later than then ({TIME}).")]


def recall(
    seen: Seen,
    query: Annotated[str, text("What to look for: a question, or words, in any language.")],
    limit: Limit = RECALLED,
    kinds: Annotated[Kinds | None, Field(description="Only these; everything by default.")] = None,
    since: Since = None,
    until: Until = None,
    as_of: Annotated[Time | None, Field(description="What was true at that time.")] = None,
    conversation: Annotated[Conversation | None, Field(description="Only from this conversation.")] = None,
) -> Answer:
    """Search the user's long-term memory: what they said, their facts, preferences, plans, and how tasks went
    before. Call this first whenever an answer may depend on the user, their work or earlier conversations.
    Tells the id of each memory."""
    narrowed: dict[str, Any] = {"since": since, "until": until, "as_of": as_of, "conversation": conversation}
    # Who calls this wants to know: no rule decides that there is nothing to ask.
    found = seen.memory.recall(query, top_k=limit, kinds=kinds, techniques={"gate": False}, **narrowed)
    problems = [f"Note: {problem}" for problem in found.problems]
    skipped = [f"Not searched: {found.skipped}."] if found.skipped else []
    rows = map(telling.hit_row, found.hits)
    return answer("memories", rows, telling.hit_line, "Nothing is remembered of that.", *problems, *skipped)


def remember(
    seen: Seen,
    content: Annotated[str, text("One self-contained sentence with names and dates, no pronouns.")],
    kind: Annotated[Kind, Field(description="procedure: how something is done. episode: a task.")] = "fact",
    about: Annotated[Names | None, Field(description="Names of whom or what it is about.")] = None,
    since: Annotated[Time | None, Field(description="Since when it is true, if not now.")] = None,
    expires: Annotated[Time | None, Field(description="When it may be forgotten.")] = None,
    pinned: Annotated[bool, Field(description="Keep it forever.")] = False,
) -> Answer:
    """Save one thing worth knowing in later conversations: a fact, preference, decision, or how something is
    done. Use it when the user asks you to remember, or tells something lasting. If it changes a memory you
    recalled, use correct instead. Never save passwords or keys."""
    fields = {"valid_from": since, "expires_at": expires, "pinned": pinned}
    given = {name: value for name, value in fields.items() if value not in (None, False)}
    memory = seen.memory.remember(content, kind=kind, about=about or (), **given)
    return _told("Remembered", memory)


def record(
    seen: Seen,
    role: Annotated[Literal["user", "assistant", "system", "tool"], Field(description="Who said it.")],
    content: Annotated[str, text("What was said, word for word.")],
    conversation: Annotated[
        Conversation | None, Field(description="Where it was said, as told before.")
    ] = None,
) -> Answer:
    """Store one message of the conversation word for word; what is worth knowing is worked out from it in the
    background. Use it to keep the conversation itself; for a single fact use remember."""
    turn = seen.memory.record(role, content, conversation=conversation or seen.conversation)
    data = row(id=turn.id, conversation=turn.conversation, index=turn.index)
    return Answer(f"Recorded as [{turn.id}] in the conversation {data['conversation']!r}.", data)


def correct(
    seen: Seen,
    id: Id,
    content: Annotated[str, text("The whole memory as it is true now.")],
    since: Annotated[Time | None, Field(description="Since when that holds, if not now.")] = None,
) -> Answer:
    """Replace a memory that is wrong or no longer true. The old one is kept as what held before. Recall it
    first to get its id."""
    return _told("Corrected", seen.memory.correct(id, content, since=since))


def forget(
    seen: Seen,
    id: Annotated[Id | None, Field(description="What to erase: the id of a memory, turn or goal.")] = None,
    conversation: Annotated[Conversation | None, Field(description="Or a whole conversation.")] = None,
    dry_run: Annotated[bool, Field(description="Only tell how much would go.")] = False,
) -> Answer:
    """Erase a memory, or a whole conversation, for good, with all that was derived from it alone. Only when
    the user asks for it; for what has changed use correct."""
    if (id is None) == (conversation is None):
        raise Invalid("Say what to forget with exactly one of: id, conversation.")
    gone = seen.memory.forget(id, conversation=conversation, dry_run=dry_run)
    counted = ", ".join(f"{count} {kind}" for kind, count in gone.counts.items()) or "nothing"
    said = f"Would erase: {counted}." if dry_run else f"Erased: {counted}."
    return Answer(said, row(erased=dict(gone.counts), dry_run=dry_run or None, receipt=gone.receipt))


def pin(
    seen: Seen, id: Id, pinned: Annotated[bool, Field(description="false: no longer keep it.")] = True
) -> Answer:
    """Keep a memory forever, whatever is cleaned up over time; or no longer."""
    return _told("Pinned" if pinned else "No longer pinned", seen.memory.pin(id, pinned))


def timeline(
    seen: Seen,
    about: Annotated[str | None, text("A person, place, project or thing; without it, everything.")] = None,
    since: Since = None,
    until: Until = None,
    limit: Limit = LISTED,
) -> Answer:
    """What happened when: what was said, learnt, corrected and ended, the latest of it, oldest first. For
    questions such as "what changed", "since when" and "what did we do in March"."""
    events = seen.memory.timeline(about, since=since, until=until, limit=limit, latest=True)
    more = (
        [f"There may be more before that: until={events[0].at.isoformat()}."] if len(events) == limit else []
    )
    rows = map(telling.event_row, events)
    return answer("events", rows, telling.event_line, "Nothing is known of that.", *more)


def goals(
    seen: Seen,
    status: Annotated[
        Literal["active", "blocked", "completed", "abandoned", "all"], Field(description="Which of them.")
    ] = "active",
    limit: Limit = LISTED,
) -> Answer:
    """What the user is after: their goals, the most pressing first, with their ids."""
    found = seen.memory.goals(None if status == "all" else status)
    more = [f"{len(found) - limit} more: ask with a higher limit."] if len(found) > limit else []
    rows = map(telling.goal_row, found[:limit])
    return answer("goals", rows, telling.goal_line, "There are no such goals.", *more)


def add_goal(
    seen: Seen,
    description: Annotated[str, text("What is to be reached.")],
    deadline: Annotated[Time | None, Field(description="Until when.")] = None,
    priority: Annotated[int, Field(ge=-100, le=100, description="The higher, the more pressing.")] = 0,
    parent: Annotated[Id | None, Field(description="The id of the goal that it is a part of.")] = None,
) -> Answer:
    """Note a goal of the user's that will outlast this conversation."""
    goal = seen.memory.add_goal(description, deadline=deadline, priority=priority, parent=parent)
    return _goal("Added", goal)


def complete_goal(
    seen: Seen,
    id: Id,
    result: Annotated[str | None, text("What came of it.")] = None,
    status: Annotated[
        Literal["completed", "abandoned", "active"], Field(description="active opens it again.")
    ] = "completed",
) -> Answer:
    """Close a goal that was reached or given up, with what came of it."""
    return _goal(status.capitalize(), seen.memory.complete_goal(id, status, result))


def palace(
    seen: Seen,
    place: Annotated[Place | None, Field(description="What to open; without it, all subjects.")] = None,
    limit: Limit = LISTED,
    after: Annotated[int | None, Field(ge=0, description="Go on behind this number.")] = None,
) -> Answer:
    """Walk through what was talked about: subjects (W-042), in them conversations (W-042/R-11), topics
    (W-042/R-11/C-2), and turns word for word. A citation such as § W-042/R-11/D-007 opens what it cites."""
    if place is not None and isinstance(read_place(place), Pointer):
        return _drawer(seen, place)
    places = seen.memory.palace(place, limit=limit, after=after)
    following = places[-1].number if len(places) == limit else None
    notes = [f"There may be more: after={following}."] if following is not None else []
    rows = map(telling.place_row, places)
    nothing = "There is nothing here: a conversation has its place once it was mined."
    return answer("places", rows, telling.place_line, nothing, *notes, next=following)


def _drawer(seen: Seen, place: str) -> Answer:
    drawer = seen.memory.drawer(place)
    turn = drawer.turn
    told = telling.shortened(
        row(
            place=drawer.pointer,
            id=turn.id,
            role=str(turn.role),
            at=telling.when(turn.at),
            conversation=turn.conversation,
            content=turn.content,
        )
    )
    said = f"{telling.PREAMBLE}\n{told['place']} [{turn.id}] {told['role']}, {turn.at:%Y-%m-%d %H:%M}:\n"
    return Answer(said + told["content"], told)


def _told(did: str, memory: Any) -> Answer:
    told = telling.shortened(telling.memory_row(memory))
    return Answer(f"{did}: [{memory.id}] {told['content']}", told)


def _goal(did: str, goal: Any) -> Answer:
    told = telling.shortened(telling.goal_row(goal))
    return Answer(f"{did}: {telling.goal_line(told)}", told)


TOOLS: dict[str, Tool] = {
    one.name: one
    for one in (
        tool(recall, reads=True, asks=True),
        tool(remember),
        tool(correct),
        tool(forget, destroys=True),
        tool(record),
        tool(pin),
        tool(timeline, reads=True),
        tool(goals, reads=True),
        tool(add_goal),
        tool(complete_goal),
        tool(palace, reads=True),
        tool(remember, "save_memory", "The same as remember."),
        tool(recall, "load_memory", "The same as recall.", reads=True, asks=True),
    )
}
"""Every tool by its name; the last two have the names that other memories gave theirs."""
