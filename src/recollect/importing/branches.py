"""Which messages of a tree are the conversation: one that was edited, or answered anew, leaves a branch
that nobody goes on with."""

from collections.abc import Mapping

OTHER_BRANCH = "it was edited or answered anew: it is of a branch that the conversation left"


def branch(parents: Mapping[str, str | None], leaf: str) -> list[str]:
    """The way from the root to the leaf."""
    way: dict[str, None] = {}
    at: str | None = leaf
    while at is not None and at in parents and at not in way:
        way[at] = None
        at = parents[at]
    return [*reversed(way)]
