"""What of a recollection is worth a place in a prompt; pure."""

from collections.abc import Callable
from dataclasses import replace

from recollect.model.recollection import Hit, Recollection
from recollect.recall.render import rendered
from recollect.text.chunk import estimate_tokens

KNOWN = ("fact", "reflection", "turn")
"""What answers a question: what is known, and what was said, mined or not."""
SPOKEN = ("user", "assistant")
SPARE = 2
"""So many times as many as are wanted are recalled, as some are in the prompt already."""

SHARING = 0.25
"""The part of the least score that is enough for a task which shares words with the question."""


def bearing(found: Recollection, most: int, wanted: Callable[[Hit], bool]) -> Recollection:
    """The best of what is wanted, in no more room than the whole took."""
    hits = tuple(filter(wanted, found.hits))[:most]
    if hits == found.hits:
        return found
    context, told = rendered(hits, estimate_tokens(found.context))
    ids = tuple(hit.id for hit in told)
    return replace(found, hits=hits, context=context, context_tokens=estimate_tokens(context), told=ids)


def is_near(hit: Hit, least: float) -> bool:
    """Whether it is about the question at all, and not only of the same day, say. Where it shares words, a
    task needs a part of that score; a fact needs none: it may be all there is to know."""
    if "words" not in hit.paths:
        return hit.score >= least
    return hit.kind in KNOWN or hit.score >= SHARING * least


def is_news(hit: Hit, question: str, shown: frozenset[str]) -> bool:
    """Whether it says something that is not in the prompt: no turn that is `shown`, no task that was done
    between them, no note of what is recalled by itself, nor the same question."""
    if hit.kind != "turn":
        return hit.kind != "episode" or shown.isdisjoint(hit.sources)
    same = " ".join(hit.content.casefold().split()) == " ".join(question.casefold().split())
    return hit.role in SPOKEN and hit.id not in shown and not same
