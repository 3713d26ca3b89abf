"""What is answered: values of ours as JSON."""

import json
from typing import Any

from starlette.responses import Response

from recollect.wire import to_wire


def answer(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """The value as JSON. Not by way of a response model: what we made ourselves needs no checking."""
    wired = to_wire(value)
    try:
        text = json.dumps(wired, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # half of a character, which JSON can name and UTF-8 cannot
        text = json.dumps(wired, separators=(",", ":")).encode()
    return Response(text, status, headers, "application/json")


def page(name: str, items: list[Any], limit: int) -> Response:
    """A page of a list, and from where the next one goes on: `next` is given as `after`."""
    more = {"next": items[-1].id} if items and len(items) == limit else {}
    return answer({name: items, **more})
