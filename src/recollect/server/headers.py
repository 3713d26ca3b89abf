"""Headers that every answer has, so that browsers keep to themselves what they get; and which web pages may
call at all."""

from typing import Any
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.errors import SettingsError
from recollect.server import page
from recollect.server.web import routes as web
from recollect.settings import Settings

_ALWAYS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
)
_UNLESS_SET = ((b"cache-control", b"no-store"),)
_NOTHING = b"default-src 'none'; frame-ancestors 'none'"
_PAGES = {page.PAGE: page.POLICY, web.PAGE: web.POLICY}


class Headers:
    """Adds them to what the app answers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        policy = (b"content-security-policy", _PAGES.get(scope["path"], _NOTHING))

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                given: list[Any] = list(message.get("headers", ()))
                names = {name.lower() for name, _ in given}
                given += [pair for pair in (*_ALWAYS, *_UNLESS_SET, policy) if pair[0] not in names]
                message = {**message, "headers": given}
            await send(message)

        await self._app(scope, receive, answer)


def origins(settings: Settings) -> tuple[str, ...]:
    """The origins of web pages that may call, as a browser writes them."""
    named = tuple(filter(None, (part.strip() for part in settings.cors.split(","))))
    for origin in named:
        parts = urlsplit(origin)
        whole = f"{parts.scheme}://{parts.netloc}"
        if origin != whole.lower() or parts.scheme not in ("http", "https") or "*" in origin or "@" in origin:
            raise SettingsError(
                f"RECOLLECT_CORS has {origin!r}, but must name origins such as https://app.example.org, "
                "separated by commas: scheme, host and port, no path, no wildcard."
            )
    return named
