"""What the gateway says itself, in the shape of OpenAI's errors, which clients of it understand."""

from typing import Any

from starlette.responses import Response

from recollect.server.problems import openai_error


class Turned(Exception):
    """A request that the gateway does not pass on, or could not."""

    def __init__(
        self,
        status: int,
        message: str,
        code: str,
        param: str | None = None,
        kind: str = "invalid_request_error",
    ) -> None:
        super().__init__(message)
        self.status = status
        self._more: dict[str, Any] = {"code": code, "param": param, "kind": kind}

    def answer(self, headers: dict[str, str] | None = None) -> Response:
        return openai_error(self.status, str(self), headers, **self._more)


def no_response(id: str, param: str | None = None) -> Turned:
    """The same for one that never was and for one that is somebody else's."""
    what = "Previous response" if param else "Response"
    code = "previous_response_not_found" if param else "not_found"
    return Turned(404, f"{what} with id {id[:100]!r} not found.", code, param)
