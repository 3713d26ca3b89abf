"""How much of what people noted down about LoCoMo's conversations is among what was mined.

Each observation is a sentence about one speaker and names the turns it comes from. It is covered when a
single claim that cites one of those turns has at least so much of its content words: stems as recall has
them, without the words that say nothing and without the speakers' names.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect.bench.mining.labelled import window
from recollect.bench.quality import datasets
from recollect.bench.quality.datasets import Place, Session
from recollect.errors import Invalid
from recollect.mine.extracted import Claim, Extraction, Window
from recollect.text.analyse import STOP_WORDS, terms

THRESHOLDS = (0.3, 0.5, 0.7)

_UNCOUNTED = frozenset(term for word in STOP_WORDS for term in terms(word))

Extract = Callable[[Window], Extraction]


@dataclass(frozen=True, slots=True)
class Observation:
    text: str
    turns: frozenset[Place]


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation of two people and what was noted down about it."""

    names: frozenset[str]
    sessions: tuple[Session, ...]
    observations: tuple[Observation, ...]


def read(path: Path) -> list[Talk]:
    objects, _ = datasets.read(path)
    try:
        return [_talk(item) for item in objects]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise Invalid(f"{path} is not in LoCoMo's format: {error!r}") from None


def _talk(item: Mapping[str, Any]) -> Talk:
    talk = item["conversation"]
    sessions, places = datasets.locomo_sessions(talk)
    noted = (
        Observation(text, frozenset(places[id] for id in datasets.named_turns(evidence) if id in places))
        for session in item["observation"].values()
        for of_one in session.values()
        for text, evidence in of_one
    )
    names = frozenset(terms(f"{talk['speaker_a']} {talk['speaker_b']}"))
    return Talk(names, tuple(sessions), tuple(one for one in noted if one.turns))


def windows(talks: Iterable[Talk]) -> list[Window]:
    """A window for each session."""
    return [window(session) for talk in talks for session in talk.sessions]


def coverage(talks: Sequence[Talk], extract: Extract, advance: Callable[[int], None]) -> dict[str, Any]:
    """The share of observations that are covered, at each threshold, and how much was mined for that."""
    shares: list[float] = []
    cited = claims = turns = said = 0
    for talk in talks:
        mined = _mined(talk, extract)
        claims += len({id(claim) for some in mined.values() for claim in some})
        turns += len(mined)
        said += sum(len(session.turns) for session in talk.sessions)
        for one in talk.observations:
            found = [claim for place in one.turns for claim in mined.get(place, ())]
            cited += bool(found)
            shares.append(best_share(one.text, (claim.content for claim in found), talk.names))
        advance(1)
    count = len(shares)
    return {
        "conversations": len(talks),
        "observations": count,
        "covered": {str(t): _rounded(sum(share >= t for share in shares), count) for t in THRESHOLDS},
        "cited": _rounded(cited, count),
        "turns": said,
        "turns_with_claims": _rounded(turns, said),
        "claims": claims,
        "claims_a_turn": _rounded(claims, said),
    }


def _mined(talk: Talk, extract: Extract) -> dict[Place, list[Claim]]:
    """The claims by the turns that they cite."""
    mined: dict[Place, list[Claim]] = {}
    for session in talk.sessions:
        opened = window(session)
        places = {turn.id: (session.id, turn.index) for turn in opened.turns}
        for claim in extract(opened).claims:
            for id in dict.fromkeys(claim.turns):
                mined.setdefault(places[id], []).append(claim)
    return mined


def best_share(observation: str, contents: Iterable[str], names: frozenset[str]) -> float:
    """The greatest part of the observation's content words that one of the contents has."""
    wanted = frozenset(content_terms(observation, names))
    if not wanted:
        return 0.0
    return max((len(wanted.intersection(terms(content))) / len(wanted) for content in contents), default=0.0)


def content_terms(text: str, names: frozenset[str]) -> Iterator[str]:
    return (term for term in terms(text) if term not in _UNCOUNTED and term not in names)


def _rounded(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0
