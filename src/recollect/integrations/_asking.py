"""Asking any memory from asyncio, and going on without it: an agent does not fail with its memory."""

import asyncio
import inspect
import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from recollect import Invalid, QuotaExceeded, RecollectError, Recollection

if TYPE_CHECKING:
    from recollect import AsyncScopedMemory, RemoteScopedMemory, ScopedMemory

    Scoped = ScopedMemory | AsyncScopedMemory | RemoteScopedMemory
    Whose = Scoped | Callable[[], Scoped]

PATIENCE = 10.0
"""Seconds that an agent waits for its memory before it goes on without."""
QUERY = 10_000
"""The most characters of a message that memory is asked by: its end, where the question usually is."""
PIECE = 100_000
"""The most characters of one turn; what is longer becomes several."""

log = logging.getLogger("recollect.integrations")


def check_scope(given: Any) -> Any:
    """One user's memory, or a function that gives it; `Invalid` for the memory of all."""
    if not callable(given) and (not hasattr(given, "recall") or callable(getattr(given, "scope", None))):
        raise Invalid("An integration works with one user's memory: give it memory.scope(user=…).")
    return given


async def asked(verb: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What a verb answers. One that is not for asyncio works in a thread."""
    if inspect.iscoroutinefunction(verb):
        return await verb(*args, **kwargs)
    return await asyncio.to_thread(verb, *args, **kwargs)


async def tried(whose: "Whose", verb: str, patience: float, *args: Any, **kwargs: Any) -> tuple[Any, str]:
    """What a verb answers, or nothing and what to tell a model instead; also of a user who cannot be one."""
    try:
        scope = whose() if callable(whose) else whose
        return await asyncio.wait_for(asked(getattr(scope, verb), *args, **kwargs), patience), ""
    except (Invalid, QuotaExceeded) as error:
        log.warning("Memory refused to %s: %s", verb, type(error).__name__)
        return None, str(error)
    except (RecollectError, TimeoutError) as error:
        log.warning("Memory could not %s: %s", verb, type(error).__name__)
        return None, "Memory cannot be reached right now. Go on without it."


async def recalled(whose: "Whose", query: str, patience: float, **how: Any) -> Recollection:
    """What bears on a message, or nothing, with the reason."""
    query = query[-QUERY:]
    found, problem = await tried(whose, "recall", patience, query, **how)
    return Recollection(query=query, problems=(problem,)) if found is None else found


async def loaded(
    whose: "Whose", query: str, patience: float, conversation: str | None = None
) -> dict[str, Any]:
    """The answer of a tool that recalls: small, and without what is said in the conversation that goes on,
    which the model has in front of it."""
    how = {"exclude_conversation": conversation, "techniques": {"gate": False}}
    found = (await recalled(whose, query, patience, **how)).compact()
    return found or {"memories": []}


async def saved(whose: "Whose", content: str, patience: float, **fields: Any) -> dict[str, Any]:
    """The answer of a tool that remembers."""
    if not content.strip():
        return {"error": "There is nothing to save: say what is to be remembered."}
    memory, problem = await tried(whose, "remember", patience, content, **fields)
    return {"error": problem} if memory is None else {"saved": memory.id}


def pieces(text: str, size: int = PIECE) -> Iterator[str]:
    """A text in parts that can be stored."""
    for start in range(0, len(text), size):
        yield text[start : start + size]
