"""Text of others in a block that a model reads: on one line, without markup, within its tokens."""

import re
from html import escape

from recollect.text.chunk import estimate_tokens

# What nobody sees, and a model reads all the same: tags, overrides of the direction, spaces of no width. The
# joiners stay: scripts and emoji need them.
_UNSEEN = re.compile("[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]")
SHORTEST = 40
"""Tokens that must be left for a line to be cut to them; with fewer it is left out."""


def plain(text: str) -> str:
    """The text on one line; markup in it is escaped, so that nothing can close the block."""
    sent = _UNSEEN.sub("", text).encode("utf-8", "replace").decode()  # a lone surrogate cannot be sent
    return " ".join(escape(sent, quote=False).split())


def fitting(line: str, tokens: int) -> str:
    """The line, cut to so many tokens; nothing when hardly anything of it would be left."""
    cost = estimate_tokens(line)
    if cost <= tokens:
        return line
    if tokens < SHORTEST:
        return ""
    cut = line[: len(line) * tokens // cost]
    while estimate_tokens(f"{cut} …") > tokens:
        cut = cut[: len(cut) * 9 // 10]
    # Half of an escaped character would be markup of nobody's.
    return f"{cut[: cut.rindex('&')] if '&' in cut[-5:] else cut} …"
