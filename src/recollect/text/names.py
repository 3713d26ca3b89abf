"""Names as they are compared, and keyed hashes by which they are found."""

import hmac
import re
import unicodedata

_ARTICLE = re.compile(r"^(?:the|a|an) +(?=\S)")
_POSSESSIVE = re.compile(r"['’]s\b")
_ACCENTS = re.compile("[\u0300-\u036f]")
_KEPT = frozenset("$€£%+#@")
"""What tells prices and C++ from others, beside letters, digits and the marks that scripts need."""


def folded(name: str) -> str:
    """The name without what does not tell it from another: case, accents, an article, punctuation."""
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", _POSSESSIVE.sub("", name.casefold())))
    told = "".join(c if c in _KEPT or unicodedata.category(c)[0] in "LNM" else " " for c in plain)
    return _ARTICLE.sub("", " ".join(told.split()))


def name_key(secret: bytes, name: str) -> str:
    """What a name is looked up by. Keyed, because a key may be kept where names may not be read."""
    return hmac.digest(secret, b"name\0" + folded(name).encode("utf-8", "surrogatepass"), "sha256")[:16].hex()
