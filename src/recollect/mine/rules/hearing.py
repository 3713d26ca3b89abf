"""What is made of a clause, by whom or what it is about."""

import re

from recollect.mine.extracted import Claim
from recollect.mine.rules import lexicon as lx
from recollect.mine.rules.being import AS_A, as_a
from recollect.mine.rules.corrections import corrected
from recollect.mine.rules.oneself import liking, own
from recollect.mine.rules.others import of_another
from recollect.mine.rules.owned import possessed
from recollect.mine.rules.statements import Clause, Sentence
from recollect.mine.rules.telling import Teller, introduce
from recollect.mine.rules.values import Facet, value

_THERE = re.compile(
    r"\b(?:(?P<live>live[sd]?|living|moved|grew up|stay\w*)|(?P<work>(?:start|work)\w*(?: as "
    r"[\w -]{2,40}?)?)) there\b"
)
_THING = re.compile(
    r"\b(?:my|our) ([a-z]+(?: [a-z]+)?) (?:is|are|leaves|starts|was|begins|ends|takes)\b", re.IGNORECASE
)


def hear(teller: Teller, clause: Clause, sentence: Sentence) -> None:
    """Everything in a clause that is worth keeping."""
    teller.correcting = teller.correcting or clause.corrects
    introduce(teller, clause.text)
    _introduced_as(teller, clause, sentence)
    if (clause.asked or not teller.correcting) and (thing := _THING.search(clause.text)):
        teller.thing = thing[1]
    if clause.asked:
        return
    text = _pointed(teller, clause.text, teller.correcting)
    if text.startswith(("I ", "I'", "We ", "We'", "we ", "we'")):
        own(teller, text, clause, sentence)
    elif text.startswith(("My ", "my ", "Our ", "our ")):
        possessed(teller, text, clause, sentence)
    elif not liking(teller, text, clause, sentence):
        of_another(teller, text, clause, sentence)


def _introduced_as(teller: Teller, clause: Clause, sentence: Sentence) -> None:
    """As a nurse I…; as a vegetarian, what can I…"""
    found = AS_A.match(clause.text)
    if found is None:
        return
    what = found["what"]
    with_it = found["having"]
    content = f"{teller.who.subject} has {with_it}" if with_it else f"{teller.who.subject} is {what}"
    facet = Facet("has", value(with_it)) if with_it else as_a(what)
    claim = Claim(content=content, turns=(teller.turn,), subject=teller.subject, certainty="implied")
    teller.finish(claim, facet, clause._replace(text=content), sentence)


def _pointed(teller: Teller, text: str, corrects: bool) -> str:
    """With what "there" and "it" point at, and a bare correction put into what it corrects."""
    if corrects and (taken_back := corrected(text, teller.told)):
        for key in teller.told.pop(taken_back.clause):
            teller.found.claims.pop(key, None)
        return taken_back.corrected
    if (
        corrects
        and teller.thing
        and (it := re.match(r"[Ii]t(?:'s| (?=is|was|leaves|starts|begins|ends|opens))", text))
    ):
        return f"my {teller.thing} {'is' if it[0].endswith('s') else ''}{text[it.end() :]}".replace("  ", " ")
    named = re.search(r"\b(?:to|in|at|from) ([A-Z][\w-]+(?: [A-Z][\w-]+)?)", text)
    if named and named[1].lower() not in lx.NOT_NAMES:
        teller.place = named[1]
    elif teller.place and (there := _THERE.search(text)):
        where = f"{there['live']} in" if there["live"] else f"{there['work']} at"
        text = f"{text[: there.start()]}{where} {teller.place}{text[there.end() :]}"
    return text
