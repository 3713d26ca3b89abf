"""What is answered: values of ours as JSON."""

import json
from typing import Any

from starlette.responses import Response

from recollect.wire import to_wire


def answer(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """The value as JSON. Not by way of a response model: what we made ourselves needs no checking."""
    text = json.dumps(to_wire(value), ensure_ascii=False, separators=(",", ":"))
    return Response(text.encode("utf-8", "surrogatepass"), status, headers, "application/json")


def page(name: str, items: list[Any], limit: int) -> Response:
    """A page of a list, and from where the next one goes on: `next` is given as `after`."""
    more = {"next": items[-1].id} if items and len(items) == limit else {}
    return answer({name: items, **more})
