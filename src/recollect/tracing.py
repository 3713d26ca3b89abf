"""Spans for OpenTelemetry, where the program has it at work: recall, mining and the background, step by step.

It is looked for among what is loaded already, so that nothing is imported, and next to nothing costs, without
it; its interface alone, which a library may have brought along, is not enough. A span says how long and how
much, never what: no text, no name and no reason of a failure goes into one.
"""

import sys
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Any, Protocol

NAME = "recollect"


class Span(Protocol):
    def set_attribute(self, key: str, value: int | str) -> None: ...


class _Untraced:
    def set_attribute(self, key: str, value: int | str) -> None:
        pass


_NOTHING = nullcontext(_Untraced())


def at_work() -> bool:
    """Whether the program has OpenTelemetry at work."""
    return _api() is not None


def _api() -> Any:
    api: Any = sys.modules.get("opentelemetry.trace")
    if api is None or isinstance(api.get_tracer_provider(), api.ProxyTracerProvider):
        return None  # nobody would receive a span
    return api


def span(name: str, **attributes: int | str) -> AbstractContextManager[Span]:
    """A span around what is done meanwhile, inside of the one that is going on."""
    api = _api()
    return _NOTHING if api is None else _Traced(api, name, attributes)


class _Traced:
    """Not the API's own context manager alone: that one notes the message of what was raised."""

    def __init__(self, api: Any, name: str, attributes: dict[str, int | str]) -> None:
        self._api = api
        self._current = api.get_tracer(NAME).start_as_current_span(
            f"{NAME}.{name}",
            attributes={f"{NAME}.{key}": value for key, value in attributes.items()},
            record_exception=False,
            set_status_on_exception=False,
        )

    def __enter__(self) -> Span:
        self._span = self._current.__enter__()
        return self

    def set_attribute(self, key: str, value: int | str) -> None:
        self._span.set_attribute(f"{NAME}.{key}", value)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._span.set_status(self._api.StatusCode.ERROR)
            self._span.set_attribute("error.type", kind.__name__)
        self._current.__exit__(kind, error, trace)
