"""What memory is to do for a request: as its headers and its body say, and within what the user has set."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast
from urllib.parse import unquote

from recollect.errors import Invalid
from recollect.limits import check_whole
from recollect.model.records import MEMORY_KINDS
from recollect.model.scope import GLOBAL
from recollect.server.gateway.reading import Body
from recollect.wishes import Wishes

TYPES = {"semantic": "fact", "procedural": "procedure", "episodic": "episode", "reflective": "reflection"}
KINDS = ("turn", *MEMORY_KINDS)
KNOWN = {
    "memory_config": ("enabled", "auto_store", "retrieval_limit", "similarity_threshold", "memory_types"),
    "memory_context": ("user_id", "project_id"),
}
"""What each of them may say."""
RETRIEVED = 1000
"""The most memories that a request gets, however many it asks for."""
NAME_SHOWN = 40
NAMES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Wanted:
    """`store` None: as usual, and not where the request asks that nothing be stored."""

    recall: bool = True
    store: bool | None = None
    kinds: tuple[str, ...] | None = None
    top_k: int | None = None
    threshold: float | None = None
    user: str | None = None
    channel: str = GLOBAL
    agent: str | None = None
    conversation: str | None = None

    @property
    def nothing(self) -> bool:
        return not self.recall and self.store is False


NOTHING = Wanted(recall=False, store=False)


def wanted(headers: Mapping[str, str], body: Body) -> Wanted:
    """As the request says; `Invalid` if that cannot be understood."""
    config, context = _mapping(body, "memory_config"), _mapping(body, "memory_context")
    enabled = _flag(config, "enabled") is not False
    if not enabled or headers.get("x-recollect-memory", "").strip().lower() == "off":
        return replace(NOTHING, user=_name(context, "user_id"))
    threshold = config.get("similarity_threshold")
    if threshold is not None and (isinstance(threshold, bool) or not isinstance(threshold, int | float)):
        raise Invalid("memory_config.similarity_threshold must be a number.")
    if (limit := config.get("retrieval_limit")) is not None:
        check_whole("memory_config.retrieval_limit", limit)
    return Wanted(
        recall=limit != 0,
        store=_flag(config, "auto_store"),
        kinds=_kinds(config.get("memory_types")),
        top_k=min(limit, RETRIEVED) if limit else None,
        threshold=threshold,
        user=_name(context, "user_id"),
        channel=_header(headers, "x-recollect-channel") or _name(context, "project_id") or GLOBAL,
        agent=_header(headers, "x-recollect-agent"),
        conversation=_header(headers, "x-recollect-conversation"),
    )


def unknown(body: Body) -> list[str]:
    """Which fields mean nothing here: a name that is written wrongly must not be passed over in silence."""
    told: list[str] = []
    for part, known in KNOWN.items():
        given = body.get(part)
        if isinstance(given, dict) and (odd := sorted(cast(Body, given).keys() - {*known})):
            names = ", ".join(repr(name[:NAME_SHOWN]) for name in odd[:NAMES_SHOWN])
            told.append(f"{part} has no {names}: it has {', '.join(known)}.")
    return told


def within(wanted: Wanted, wishes: Wishes) -> Wanted:
    """No more than the user's settings let memory do. A setting of an agent keeps it from recalling only."""
    if not wishes.enabled:
        return replace(wanted, recall=False, store=False)
    return wanted if wishes.agent(wanted.agent).recall else replace(wanted, recall=False)


def _mapping(body: Body, name: str) -> Body:
    given = body.get(name)
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise Invalid(f"{name} must be an object.")
    return cast(Body, given)


def _flag(config: Body, name: str) -> bool | None:
    given = config.get(name)
    if given is not None and not isinstance(given, bool):
        raise Invalid(f"memory_config.{name} must be true or false.")
    return given


def _name(context: Body, name: str) -> str | None:
    given = context.get(name)
    if given is not None and not isinstance(given, str):
        raise Invalid(f"memory_context.{name} must be text.")
    return given or None


def _kinds(given: object) -> tuple[str, ...] | None:
    if given is None:
        return None
    if not isinstance(given, list):
        raise Invalid("memory_config.memory_types must be a list.")
    kinds = tuple(TYPES.get(str(one), str(one)) for one in cast(list[object], given))
    if any(kind not in KINDS for kind in kinds):
        raise Invalid(f"memory_config.memory_types may name {', '.join((*TYPES, *KINDS))}.")
    return kinds or None


def _header(headers: Mapping[str, str], name: str) -> str | None:
    """Names may have any characters: in headers they are percent-encoded."""
    return unquote(headers.get(name, "").strip()) or None
