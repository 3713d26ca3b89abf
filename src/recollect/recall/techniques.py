"""The techniques of recall, each of which can be switched on and off: for all recalls by the setting
`techniques`, for one by its argument of that name."""

from collections.abc import Mapping
from functools import lru_cache

from recollect.errors import Invalid, SettingsError
from recollect.limits import shown

TECHNIQUES: dict[str, tuple[bool, str]] = {
    "gate": (True, "nothing is searched for a greeting, a request to a tool or general knowledge"),
    "context": (True, "a question that does not stand alone takes key terms from the user's last messages"),
    "sentences": (True, "of a long first prompt the sentences are searched one by one"),
    "statement": (False, "the question is also searched as the beginning of its answer"),
    "rewrite": (False, "a language model makes the question stand alone"),
    "hyde": (False, "a language model writes a passage as the answer might be, which is searched too"),
    "self_query": (False, "a language model finds the time that the question is about"),
    "times": (True, "what was said in a time that the question names is searched and preferred"),
    "anchor": (True, "a time given by an event, such as 'since I moved', is looked up"),
    "meaning": (True, "the nearest by vector"),
    "words": (True, "the best by full text (BM25)"),
    "entities": (True, "who and what is related to those named in the question is searched for too"),
    "preferences": (False, "for a request for advice, what the user likes is searched for too"),
    "conversation": (True, "a turn counts more in a conversation that matches the question elsewhere"),
    "neighbours": (True, "a turn counts more when the next one matches as well"),
    "boosts": (True, "what matters and holds today counts more, what is past or archived less"),
    "recency": (False, "what is newer counts more"),
    "kinds": (False, "turns, facts, entities and procedures count by fixed weights"),
    "rrf": (False, "ranks are fused (reciprocal rank fusion) in place of scores"),
    "diversity": (True, "one conversation fills no more than part of the hits"),
    "updates": (True, "of several turns that say something of the same matter the newest comes first"),
    "rerank": (True, "the best are put in order by a reranker, if one is configured"),
}
"""Whether each is on by default, and what it does."""

DEFAULT = frozenset(name for name, (on, _) in TECHNIQUES.items() if on)


def switched(on: frozenset[str], switches: Mapping[str, bool]) -> frozenset[str]:
    """What is on after some were switched."""
    if not isinstance(switches, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid('Techniques are switched by a dict such as {"gate": False}.')
    if unknown := [name for name in switches if name not in TECHNIQUES]:
        raise Invalid(f"There is no technique {shown(unknown[0])}; there are {', '.join(TECHNIQUES)}.")
    if odd := [value for value in switches.values() if not isinstance(value, bool)]:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"A technique is switched by True or False, not by {shown(odd[0])}.")
    return on - {name for name, wanted in switches.items() if not wanted} | {
        name for name, wanted in switches.items() if wanted
    }


@lru_cache(maxsize=16)  # every recall asks
def configured(text: str) -> frozenset[str]:
    """What is on by the setting."""
    try:
        return switched(DEFAULT, parsed(text))
    except Invalid as error:
        raise SettingsError(f"RECOLLECT_TECHNIQUES cannot be read. {error}") from None


def parsed(text: str) -> dict[str, bool]:
    """Switches as they are written in a setting: "-gate, +recency"."""
    names = text.replace(",", " ").split()
    if odd := [name for name in names if name[0] not in "+-" or len(name) == 1]:
        raise Invalid(f"Write +{odd[0].strip('+-') or 'name'} or -{odd[0].strip('+-') or 'name'}.")
    return {name[1:]: name[0] == "+" for name in names}
