"""Compressing working memory: which items, and into what; pure functions.

A summary's content has a line for each thing it tells, `kind: text`. So it can be compressed again with what
comes after it, and what was said told from what was only thought.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from recollect.model.working import ItemType, WorkingItem
from recollect.text.chunk import estimate_tokens
from recollect.text.sentences import sentences

SHARE = 4
"""A summary takes at most one part in so many of the limit, so that the next is not due at once."""
LEAST = 100
"""The tokens a summary gets even where the items that are kept leave it none."""
LENGTHS = (120, 60, 30, 15)
"""To how many tokens lines are cut: the first length at which all that must survive fits."""

SAID, AGREED, THOUGHT, DID, DECIDED, RESULT, FOLDED = (
    "said",
    "agreed",
    "thought",
    "did",
    "decided",
    "result",
    "folded",
)
OF_THE_CONVERSATION = (SAID, AGREED)
"""What stays when an invocation ends; the rest is its trace."""
DECISIONS = (AGREED, DECIDED)
SURVIVING = (*DECISIONS, RESULT)
"""What is never left out before the rest is."""
OTHERS = (SAID, THOUGHT, DID)

_KINDS = {
    ItemType.TURN: SAID,
    ItemType.THOUGHT: THOUGHT,
    ItemType.ACTION: DID,
    ItemType.OBSERVATION: RESULT,
    ItemType.DECISION: DECIDED,
}
_DECIDES = re.compile(
    r"\b(?:decid(?:e|ed|es|ing)|decision|chose|chosen|agreed|settled on|opt(?:ed)? for"
    r"|(?:let's|let us|we will|we'll|i will|i'll) (?:go with|use|take|stick with))\b",
    re.IGNORECASE,
)
_MARK = " …"


class Line(NamedTuple):
    """One thing that a summary tells."""

    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


def token_limit(most: int, context_window: int | None) -> int:
    """From how many tokens on items are compressed."""
    return most if context_window is None else min(most, context_window // 2)


def older(items: Sequence[WorkingItem], limit: int, keep: int, most: int) -> list[WorkingItem]:
    """The items to compress: all but the newest when there are too many, or too many tokens."""
    if sum(item.tokens for item in items) <= limit and len(items) <= most:
        return []
    return [*items[: max(0, len(items) - keep)]]


def room(newest: Iterable[WorkingItem], limit: int) -> int:
    """How many tokens the summary beside them may have."""
    return max(LEAST, min(limit - sum(item.tokens for item in newest), limit // SHARE))


def lines(item: WorkingItem) -> list[Line]:
    """What is to be told of an item."""
    if item.type is ItemType.SUMMARY:
        return [*map(_read, item.content.split("\n"))]
    kind = _KINDS[item.type]
    told = one_line(item.content)
    if decisive := _decisive(item, told):
        kind, told = (AGREED if kind == SAID else DECIDED), decisive
    name = item.metadata.get("role" if item.type is ItemType.TURN else "tool")
    return [Line(kind, f"{one_line(name)}: {told}" if isinstance(name, str) and name.strip() else told)]


def _decisive(item: WorkingItem, told: str) -> str:
    """The part of a thought or a turn that decides something."""
    if item.type not in (ItemType.TURN, ItemType.THOUGHT):
        return ""
    if item.metadata.get("decision") is True:
        return told
    return " ".join(one for one in sentences(told) if _DECIDES.search(one) and not one.endswith("?"))


def fitted(told: Sequence[Line], tokens: int) -> list[Line]:
    """The lines within so many tokens. Decisions and results are cut short before one is left out; when not
    even a few words of each fit, the oldest are only counted, of results before any decision. Of the rest,
    the newest that fit."""
    total = counted(told)
    told = [line for line in told if line.kind != FOLDED]
    left = tokens - _cost(_count_line(total))  # room to count whatever is left out
    cut: list[Line] = []
    for length in LENGTHS:
        cut = [Line(line.kind, _cut(line, length)) for line in told]
        if sum(_cost([line]) for line in cut if line.kind in SURVIVING) <= left:
            break
    kept: set[int] = set()
    for group in (DECISIONS, (RESULT,), OTHERS):
        for place in reversed([place for place, line in enumerate(cut) if line.kind in group]):
            if (cost := _cost([cut[place]])) > left:
                break
            left -= cost
            kept.add(place)
    kept_lines = [cut[place] for place in sorted(kept)]
    return [*_count_line(total - Counter(line.kind for line in kept_lines)), *kept_lines]


def counted(told: Iterable[Line]) -> Counter[str]:
    """How many of each kind the lines tell of, one by one or only counted."""
    found: Counter[str] = Counter()
    for line in told:
        if line.kind == FOLDED:
            found.update({kind: int(count) for count, kind in re.findall(r"(\d+) (\w+)", line.text)})
        else:
            found[line.kind] += 1
    return found


def content(told: Iterable[Line]) -> str:
    return "\n".join(map(str, told))


def of_the_conversation(told: Iterable[Line]) -> list[Line]:
    """What was said, without the trace of the invocation."""
    told = [*told]
    counts = counted(line for line in told if line.kind == FOLDED)
    said = Counter({kind: counts[kind] for kind in OF_THE_CONVERSATION})
    return [*_count_line(said), *(line for line in told if line.kind in OF_THE_CONVERSATION)]


def _read(line: str) -> Line:
    kind, _, text = line.partition(": ")
    return Line(kind, text)


def one_line(text: str) -> str:
    return " ".join(text.split())


def _cut(line: Line, tokens: int) -> str:
    """Its text, so that the line has no more tokens than that."""
    if estimate_tokens(str(line)) <= tokens:
        return line.text
    text = line.text.removesuffix(_MARK)[: 4 * tokens]
    while text and estimate_tokens(f"{line.kind}: {text}{_MARK}") > tokens:
        text = text[: len(text) * 9 // 10]
    return f"{text.rstrip()}{_MARK}"


def _cost(told: Iterable[Line]) -> int:
    """No less than what the lines take when they stand below each other."""
    return sum(estimate_tokens(f"{line}\n") for line in told)


def _count_line(counts: Counter[str]) -> list[Line]:
    told = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()) if count)
    return [Line(FOLDED, told)] if told else []
