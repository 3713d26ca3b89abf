"""Names as they are compared, and keyed hashes by which they are found."""

import hmac
import re
import unicodedata

_ARTICLE = re.compile(r"^(?:the|a|an)\s+(?=\S)")
_OTHER = re.compile(r"[^\w$€£%+#@]+")
_POSSESSIVE = re.compile(r"['’]s\b")


def folded(name: str) -> str:
    """The name without what does not tell it from another: case, accents, an article, punctuation."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    return _ARTICLE.sub("", _OTHER.sub(" ", _POSSESSIVE.sub("", plain)).strip())


def name_key(secret: bytes, name: str) -> str:
    """What a name is looked up by. Keyed, because a key may be kept where names may not be read."""
    return hmac.digest(secret, b"name\0" + folded(name).encode("utf-8", "surrogatepass"), "sha256")[:16].hex()
