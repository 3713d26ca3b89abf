"""From text to terms, the same for every store, so that all rank alike.

Words in any script, lower-cased, accents folded. Scripts written without spaces become overlapping
pairs of characters. Terms are words without their English endings, so that "painted" finds "painting".
ASCII, most of what is said, takes a short cut.
"""

import re
import unicodedata

VERSION = 2
"""Stored with the index; another number means the index has to be built again."""

TERM_LIMIT = 64

STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a about am an and any are as at be been being but by can could did do does doing for from "
        "had has have having he her hers him his how i id if ill im in into is it its ive just me "
        "mine my of on or our ours she should so some such than that the their theirs them then there "
        "these they this those to too us was we were what when where which who whom whose why will "
        "with would you your yours ",
    )
)
"""English words that say nothing of what a question is about. They are indexed, but not searched by."""

REQUEST_WORDS = frozenset(("advice", "ideas", "please", "recommend", "suggest", "suggestions", "tips"))
"""Words that ask for something and do not say what."""

_ASCII_WORDS = {code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)}
_ACCENT = re.compile("[\u0300-\u036f]")
# Letters and digits, plus the marks that \w leaves out: Hebrew, Arabic, Indic, Thai, Lao, Tibetan,
# Myanmar, Khmer vowels and points; then single emoji.
_MARKS = (
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8"
    "\u0900-\u0963\u0966-\u0dff\u0e01-\u0e4e\u0e50-\u0edf\u0f00-\u0fbc\u1000-\u109f\u1780-\u17d3"
)
_WORD = re.compile(rf"(?:[^\W_]|[{_MARKS}])+(?:'[a-z]+)?|[\u2600-\u27bf\U0001f300-\U0001faff]")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003134f]+"
)


_UNSEARCHED = STOP_WORDS | REQUEST_WORDS


def words(text: str) -> list[str]:
    """The words of a text as they are written, in order, repeated as often as they occur."""
    if text.isascii() and "'" not in text:
        return text.translate(_ASCII_WORDS).split()
    found = _split_unspaced(_WORD.findall(_fold(text)))
    return [_whole(word) if "'" in word else word for word in found]


def terms(text: str) -> list[str]:
    """The terms that a text is indexed by: its words without endings."""
    return [*map(_STEMS.__getitem__, words(text))]


def query_words(text: str) -> list[str]:
    """The words a question is about, each once: without those that say nothing, unless there are no
    others."""
    found = list(dict.fromkeys(words(text)))
    return [word for word in found if word not in _UNSEARCHED] or found


def query_terms(text: str) -> list[str]:
    """The terms to search by, each once."""
    return list(dict.fromkeys(map(_STEMS.__getitem__, query_words(text))))


def stem(word: str) -> str:
    """The word without a plural, -ed, -ing or a silent e. Light on purpose: two words that are not the
    same are seldom made one."""
    if len(word) < 4 or not (word.isascii() and word.isalpha()):
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith("sses"):
        word = word[:-2]
    elif word[-1] == "s" and word[-2] not in "sui":
        word = word[:-1]
    elif word.endswith("ing") and len(word) > 5:
        word = _undoubled(word[:-3])
    elif word.endswith("ed") and len(word) > 4:
        word = _undoubled(word[:-2])
    return word[:-1] if word[-1] == "e" and len(word) > 4 else word


def _undoubled(word: str) -> str:
    """plann -> plan, but fall and miss stay."""
    return word[:-1] if word[-1] == word[-2] and word[-1] not in "aeioulsz" else word


class _Stems(dict[str, str]):
    """The terms of words that were met, no longer than the limit: every word of every text is looked up
    here."""

    def __missing__(self, word: str) -> str:
        term = stem(word)[:TERM_LIMIT]
        if len(word) <= TERM_LIMIT:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[word] = term
        return term


_REMEMBERED = 1 << 16
_STEMS = _Stems()


def _fold(text: str) -> str:
    # Decomposed first: only then do letters in disguise (™, ℌ, 𝐁) have a case to fold.
    decomposed = unicodedata.normalize("NFKD", text.replace("\u2019", "'"))
    return unicodedata.normalize("NFKC", _ACCENT.sub("", decomposed).casefold())


def _whole(word: str) -> str:
    """Without the clitic: what's -> what, don't -> dont."""
    stem, _, clitic = word.partition("'")
    if clitic in ("t", "re", "ve", "ll", "d", "m"):
        stem += clitic
    return stem


def _split_unspaced(words: list[str]) -> list[str]:
    found: list[str] = []
    for word in words:
        if word.isascii():
            found.append(word)
            continue
        end = 0
        for run in _UNSPACED.finditer(word):
            if run.start() > end:
                found.append(word[end : run.start()])
            found.extend(_grams(run.group()))
            end = run.end()
        if end < len(word) and word[end] != "'":  # a clitic alone is no word
            found.append(word[end:])
    return found


def _grams(run: str) -> list[str]:
    """Each character and each pair: the pairs carry the meaning, single characters are words too."""
    return [*run, *(run[i : i + 2] for i in range(len(run) - 1))]
