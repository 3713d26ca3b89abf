"""How a verb over the network comes to be the verb of a memory in this process, argument for argument."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")

Given = dict[str, Any]
"""The arguments that were given, by name: what was not is the server's to fill in."""


def like(
    verb: Callable[Concatenate[Any, P], T],
) -> Callable[[Callable[[S, Given], T]], Callable[Concatenate[S, P], T]]:
    """The method with the name, signature and documentation of the verb; it is handed what was given."""
    signature = inspect.signature(verb)

    def derived(method: Callable[[S, Given], T]) -> Callable[Concatenate[S, P], T]:
        @functools.wraps(verb)
        def call(self: S, *args: P.args, **kwargs: P.kwargs) -> T:
            _, *given = signature.bind(self, *args, **kwargs).arguments.items()
            return method(self, dict(given))

        return call

    return derived
