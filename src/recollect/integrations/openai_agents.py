"""OpenAI Agents SDK: a session whose history is mined for memories, memory in front of the model, and tools.

    anna = memory.scope(user="anna")
    session = RecollectSession("support-42", anna)
    agent = Agent(name="helper", instructions="…", tools=memory_tools(anna))
    config = RunConfig(call_model_input_filter=session.with_memory)
    await Runner.run(agent, "…", session=session, run_config=config)

An item is a turn with what it says, so that it is found and mined; what else there is to it is kept beside
it, so that it comes back as it was. A session is a conversation of the same name.
"""

import json
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from agents import RunContextWrapper, SessionSettings, Tool, TResponseInputItem, function_tool
from agents.run import CallModelData, ModelInputData

from recollect import Message, NotFound, RecollectError, Turn
from recollect.integrations._asking import PATIENCE, asked, check_scope, loaded, pieces, recalled, saved

if TYPE_CHECKING:
    from recollect.integrations._asking import Scoped

    ScopeOf = Scoped | Callable[[RunContextWrapper[Any]], Scoped]

INLINE = 16_000
"""The most characters of an item's JSON that are kept with its turn; more has turns of its own."""
TOOLS = ("recall", "remember")
_ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}


class RecollectSession:
    """The history of one session, in a user's memory. It fails as any session does: an agent that lost its
    history would answer as if nothing had been said. It is the conversation `session_id`, even if the
    scope names another. `clear_session` forgets what was said, and what was
    worked out from it alone."""

    def __init__(
        self,
        session_id: str,
        scope: "Scoped",
        *,
        session_settings: SessionSettings | None = None,
        patience: float = PATIENCE,
    ) -> None:
        self.session_id = session_id
        self.session_settings: SessionSettings | None = session_settings or SessionSettings()
        self._scope: Scoped = check_scope(scope)
        self._patience = patience
        self._popped: set[str] = set()

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The items, oldest first; with a limit the latest."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        items = [item for item, _ in await self._items()]
        return items if limit is None else items[max(0, len(items) - max(0, limit)) :]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Append items, in order."""
        given = cast("list[Mapping[str, Any]]", items)
        ours = await self._calls_of_ours(given)
        turns = [turn for item in given for turn in _as_turns(item, item.get("call_id") in ours)]
        if turns:
            await asked(self._scope.record_many, turns, conversation=self.session_id)

    async def pop_item(self) -> TResponseInputItem | None:
        """Take the last item out; what was worked out from it alone goes too."""
        while left := [one for one in await self._items() if one[1][0].id not in self._popped]:
            item, turns = left[-1]
            self._popped.add(turns[0].id)  # whoever pops at the same time takes the one before it
            try:
                for turn in turns:
                    await asked(self._scope.forget, turn.id)
            except NotFound:  # another process has taken it
                continue
            except BaseException:
                self._popped.discard(turns[0].id)
                raise
            return item
        return None

    async def clear_session(self) -> None:
        """Forget the session."""
        await asked(self._scope.forget, conversation=self.session_id)

    async def with_memory(self, data: CallModelData[Any]) -> ModelInputData:
        """A `call_model_input_filter`: what is remembered of other sessions, in front of the last thing that
        the user says. It is shown to the model and becomes no part of the session."""
        given = data.model_data
        items = cast("list[Mapping[str, Any]]", given.input)
        place = max((i for i, item in enumerate(items) if item.get("role") == "user"), default=None)
        query = "" if place is None else _text(items[place])
        if place is None or not query.strip():
            return given
        found = await recalled(self._scope, query, self._patience, exclude_conversation=self.session_id)
        if not found.context:
            return given
        told = cast("TResponseInputItem", {"role": "system", "content": found.context})
        return ModelInputData([*given.input[:place], told, *given.input[place:]], given.instructions)

    async def _calls_of_ours(self, items: Sequence[Mapping[str, Any]]) -> set[str]:
        """The calls of `recall` and `remember` that these items tell of: memory does not hear itself."""
        calls = [item for item in items if item.get("type") == "function_call"]
        answered = {item["call_id"] for item in items if item.get("type") == "function_call_output"}
        if answered - {call.get("call_id") for call in calls}:
            calls += [cast("Mapping[str, Any]", item) for item, _ in await self._items()]
        return {call["call_id"] for call in calls if call.get("name") in TOOLS}

    async def _items(self) -> list[tuple[TResponseInputItem, list[Turn]]]:
        """The items with their turns. One of which a turn was forgotten is forgotten."""
        turns: Sequence[Turn] = await asked(self._scope.conversation, self.session_id)
        groups: dict[str, list[Turn]] = {}
        for turn in turns:
            if key := turn.metadata.get("openai_item"):
                groups.setdefault(key, []).append(turn)
        return [
            (_as_item(group), group) for group in groups.values() if len(group) == group[0].metadata["of"]
        ]


def memory_tools(scope: "ScopeOf", *, patience: float = PATIENCE) -> list[Tool]:
    """`recall` and `remember` for an agent: of one user, or of whomever the run's context names. What is said
    in the scope's conversation, if it has one, is not recalled: the model has it in front of it."""
    check_scope(scope)

    def of(context: RunContextWrapper[Any]) -> "Callable[[], Scoped]":
        return lambda: scope(context) if callable(scope) else scope

    @function_tool
    async def recall(context: RunContextWrapper[Any], query: str) -> dict[str, Any]:
        """Search what is remembered of earlier conversations with this user.

        Args:
            query: What you want to know, as a question or in a few words.
        """
        return await loaded(of(context), query, patience, _current(of(context)))

    @function_tool
    async def remember(context: RunContextWrapper[Any], content: str) -> dict[str, Any]:
        """Save a fact, a finding or a lesson, word for word, for later conversations with this user.

        Args:
            content: What is to be remembered, in a sentence that can be understood by itself.
        """
        return await saved(of(context), content, patience)

    return [recall, remember]


def _current(whose: "Callable[[], Scoped]") -> str | None:
    with suppress(RecollectError):  # which is said when memory is asked
        return whose().scope.conversation
    return None


def _as_turns(item: Mapping[str, Any], unsaid: bool) -> Iterator[Message]:
    """What an item says in turns of its role; then, in notes, which are neither found nor mined, what does
    not fit beside them, or all of it where it is to stay `unsaid`."""
    text, role = "" if unsaid else _text(item), _ROLES.get(str(item.get("role")), "tool")
    said = [(role, piece) for piece in pieces(text)]
    kept: dict[str, Any] = {}
    if len(said) != 1 or item != {"role": role, "content": text}:
        whole = json.dumps(item)
        if said and len(whole) <= INLINE:
            kept = {"json": whole}
        else:
            said += [("note", piece) for piece in pieces(whole)]
    key = uuid.uuid4().hex
    for part, (role, piece) in enumerate(said):
        metadata = {"openai_item": key, "part": part, "of": len(said), **kept}
        yield Message(role=role, content=piece, metadata=metadata)


def _as_item(turns: Sequence[Turn]) -> TResponseInputItem:
    """The item that these turns were made of."""
    turns = sorted(turns, key=lambda turn: turn.metadata["part"])
    whole = turns[0].metadata.get("json") or "".join(t.content for t in turns if t.role == "note")
    return json.loads(whole) if whole else {"role": str(turns[0].role), "content": turns[0].content}  # pyright: ignore[reportReturnType]


def _text(item: Mapping[str, Any]) -> str:
    """What a message says, what a tool was asked and what it answered; nothing of anything else."""
    kind = item.get("type", "message")
    if kind == "function_call":
        return f"{item.get('name')}({item.get('arguments')})"
    said = {"message": item.get("content"), "function_call_output": item.get("output")}.get(str(kind))
    if isinstance(said, str):
        return said
    parts = cast("list[Any]", said) if isinstance(said, list) else []
    texts = (cast("Mapping[str, Any]", part).get("text") for part in parts if isinstance(part, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))
