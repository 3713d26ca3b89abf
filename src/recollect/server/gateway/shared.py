"""What a request may name of what the upstream keeps, where many users share one key of it."""

from typing import cast

from recollect.server.gateway.hearing import as_json
from recollect.server.gateway.reading import Body, dicts
from recollect.server.gateway.refusals import Turned

INSTEAD = "use previous_response_id, or the header X-Recollect-Conversation"


def check_shared(body: Body | None) -> None:
    """`Turned` for what may be somebody else's: what was said, and where code was run. Files, vector stores
    and prompts are nobody's in particular: no user of ours can make them."""
    if body is None:
        raise Turned(400, "The body is no JSON object.", "invalid_json")
    if body.get("conversation") is not None:
        raise _refused("conversation")
    given: object = body.get("input")
    if any(item.get("type") == "item_reference" or _is_bare(item) for item in dicts(given)):
        raise _refused("input", "item_reference")
    if any(_names_container(tool) for tool in dicts(body.get("tools"))):
        message = "Containers of the upstream may be anybody's: have a new one made, by type auto."
        raise Turned(400, message, "container", "tools")


def check_counted(body: Body | None) -> bytes:
    """A request to count tokens, as it may be passed on: what was said before is kept here."""
    check_shared(body)
    if body is not None and body.get("previous_response_id") is not None:
        message = "The upstream does not know this response: send all of its input."
        raise Turned(400, message, "unsupported", "previous_response_id")
    return as_json(body)


def _names_container(tool: Body) -> bool:
    environment: object = tool.get("environment")
    inside = cast(Body, environment).get("container_id") if isinstance(environment, dict) else None
    return isinstance(tool.get("container"), str) or inside is not None


def _is_bare(item: Body) -> bool:
    """A reference may come without its type."""
    return item.get("type") is None and "role" not in item and "id" in item


def _refused(param: str, what: str = "") -> Turned:
    message = f"Behind the gateway the upstream's {what or param} may be anybody's: {INSTEAD}."
    return Turned(400, message, what or param, param)
