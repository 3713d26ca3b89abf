"""Which tools were used, in order."""

from collections.abc import Iterable

MOST_TOOLS = 30
"""The most tools of one task that are told."""


def sequence(tools: Iterable[str]) -> tuple[str, ...]:
    """The tools in order, each as long as another came between."""
    kept: list[str] = []
    for tool in tools:
        if not kept or kept[-1] != tool:
            kept.append(tool)
    return tuple(kept[:MOST_TOOLS])
