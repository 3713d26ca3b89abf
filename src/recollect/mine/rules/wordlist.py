"""Lists of words, written as text."""


def listed(words: str) -> frozenset[str]:
    return frozenset(words.split())
