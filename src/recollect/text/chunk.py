"""Long texts are indexed in pieces, so that nothing in them is cut off or drowned."""

import re

CHUNK_TOKENS = 200
"""About how many tokens a piece has at most; fits the smallest window of the local models."""

_SENTENCE_END = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])\s+|\n+")
_SPACE = re.compile(r"\s+")


def estimate_tokens(text: str) -> int:
    """About how many tokens a model sees: four ASCII characters each, every other character one."""
    if text.isascii():
        return (len(text) + 3) // 4
    ascii_characters = len(text.encode("ascii", "ignore"))
    return (ascii_characters + 3) // 4 + len(text) - ascii_characters


def spans(text: str, limit: int = CHUNK_TOKENS) -> list[tuple[int, int]]:
    """Where to cut: at sentence ends if possible, else between words, else anywhere.

    The spans are in order, do not overlap, and leave out nothing but white space.
    """
    if estimate_tokens(text) <= limit:
        return [(0, len(text))] if text.strip() else []
    found: list[tuple[int, int]] = []
    for start, stop in _pieces(text, 0, len(text), limit, (_SENTENCE_END, _SPACE)):
        if found and estimate_tokens(text[found[-1][0] : stop]) <= limit:
            found[-1] = (found[-1][0], stop)
        else:
            found.append((start, stop))
    return found


def _pieces(
    text: str, start: int, stop: int, limit: int, separators: tuple[re.Pattern[str], ...]
) -> list[tuple[int, int]]:
    """Non-blank pieces of text[start:stop] within the limit, by the first separator that gets there."""
    if estimate_tokens(text[start:stop]) <= limit:
        return [(start, stop)] if text[start:stop].strip() else []
    if not separators:
        return [(i, min(i + limit, stop)) for i in range(start, stop, limit) if text[i : i + limit].strip()]
    found: list[tuple[int, int]] = []
    at = start
    for separator in separators[0].finditer(text, start, stop):
        found += _pieces(text, at, separator.start(), limit, separators[1:])
        at = separator.end()
    return found + _pieces(text, at, stop, limit, separators[1:])
