"""Names as they are compared, and keyed hashes by which they are found."""

import hmac
import re
import unicodedata

_ARTICLE = re.compile(r"^(?:the|a|an) +(?=\S)")
_POSSESSIVE = re.compile(r"['’]s\b")
_ACCENTS = re.compile("[\u0300-\u036f]")
_KEPT = frozenset("$€£%+#@")
"""What tells prices and C++ from others, beside letters, digits and the marks that scripts need."""


def _told(character: str) -> str:
    return character if character in _KEPT or unicodedata.category(character)[0] in "LNM" else " "


_ASCII = {code: _told(chr(code)) for code in range(128)}
"""Most of what is said, which takes a short cut."""


def folded(name: str) -> str:
    """The name without what does not tell it from another: case, accents, an article, punctuation."""
    plain = _POSSESSIVE.sub("", name.casefold())
    if plain.isascii():
        told = plain.translate(_ASCII)
    else:
        told = "".join(map(_told, _ACCENTS.sub("", unicodedata.normalize("NFKD", plain))))
    return _ARTICLE.sub("", " ".join(told.split()))


def name_key(secret: bytes, name: str) -> str:
    """What a name is looked up by. Keyed, because a key may be kept where names may not be read."""
    return hmac.digest(secret, b"name\0" + folded(name).encode("utf-8", "surrogatepass"), "sha256")[:16].hex()
