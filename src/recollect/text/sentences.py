"""Sentences, as far as punctuation and line breaks show them."""

import re

# A stop ends a sentence if a space follows, so that 3.5 and example.com stay whole; in scripts without
# spaces it ends one at once.
_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])|\n+")


def sentences(text: str) -> list[str]:
    """The sentences of a text in order, without blank ones."""
    return [piece.strip() for piece in _END.split(text) if piece and piece.strip()]
