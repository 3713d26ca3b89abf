"""Whether a question needs memory at all.

A wrong skip leaves out what the user has told; a wrong search costs milliseconds. So only what is plainly
a nicety, a request to a tool or general knowledge is skipped, and everything else is searched, other
languages than English included.
"""

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from recollect.recall.gate_rules import (
    AUTHORSHIP,
    FIRST_PERSON,
    GENERAL,
    KNOWN_NAMES,
    LEAD_IN,
    NAMES_ALLOWED,
    NICETY,
    NICETY_LIMIT,
    PAST,
    POINTER,
    TOOL,
)
from recollect.text.analyse import STOP_WORDS, words
from recollect.text.sentences import sentences

LONG = 500
"""From this many characters on a prompt has something of its own to say and is searched."""
LOOK_BACK = 3
"""How many of the user's last messages a question may refer to."""

# Faces, hands, hearts and what one celebrates with; a cat may be asked for.
_REACTION = re.compile(
    r"(?:[\U0001f600-\U0001f64f\U0001f44a-\U0001f450\U0001f910-\U0001f92f\U0001f389\U0001f38a\U0001f525"
    r"\U0001f4af\U0001f493-\U0001f49f\U0001f3fb-\U0001f3ff\u2764\u2665\u263a\u2705\u270c\ufe0f\u200d]|\s)+"
)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|`+[^`]*`+")
_CONTRACTED = re.compile(r"\b(what|who|how|where|when)s\b", re.IGNORECASE)
_CAPITAL = re.compile(r"(?<![.!?\w'])[A-Z][\w+#]*")
_POSSESSIVE = re.compile(r"\b(?!(?:what|who|how|where|when|it|that|there|let|here|today)'s)\w+(?:'s|s')\b")


class Reason(StrEnum):
    GREETING = "greeting"
    TOOL = "tool"
    GENERAL = "general knowledge"
    PAST = "past conversation"
    PERSONAL = "personal"
    DEFAULT = "default"


class Verdict(NamedTuple):
    search: bool
    reason: Reason


def decide(query: str, history: Sequence[str] = ()) -> Verdict:
    """Search or skip, and why. `history` is what the user said before in this conversation, oldest first:
    a question about something of one's own from there is not general knowledge."""
    text = _CONTRACTED.sub(r"\1's", query[: LONG + 1].replace("\u2019", "'")).strip()
    if is_nicety(text):
        return Verdict(False, Reason.GREETING)
    if len(query) > LONG:
        return Verdict(True, Reason.DEFAULT)
    unquoted = _QUOTED.sub('"', text)
    if PAST.search(unquoted.lower()):
        return Verdict(True, Reason.PAST)
    verdicts = [
        _sentence(sentence) for sentence in sentences(_shield(text)) if sentence and not is_nicety(sentence)
    ]
    if not verdicts:
        return Verdict(True, Reason.DEFAULT)
    verdict = next((found for found in verdicts if found.search), verdicts[0])
    if verdict.reason is Reason.GENERAL and _mentioned(text, history):
        return Verdict(True, Reason.PERSONAL)
    return verdict


def is_nicety(text: str) -> bool:
    """Whether it is a greeting, a thank-you, a yes or a no, and nothing else."""
    if not text or len(text) > NICETY_LIMIT:
        return False
    if not any(character.isalnum() for character in text):
        return _REACTION.fullmatch(text) is not None
    return NICETY.fullmatch(text.lower()) is not None


def _shield(text: str) -> str:
    """Without the stops inside quotations: they end no sentence of the asker's."""
    return _QUOTED.sub(lambda found: re.sub(r"[.!?\n]", " ", found.group()), text)


def _sentence(sentence: str) -> Verdict:
    lead = LEAD_IN.match(sentence.lower())
    request = sentence[lead.end() :] if lead else sentence
    unquoted = _QUOTED.sub('"', request)
    if TOOL.match(unquoted.lower()):
        return Verdict(False, Reason.TOOL)
    if not _is_general(request, unquoted):
        return Verdict(True, Reason.DEFAULT)
    # In what is to be translated or defined, "my" is not the asker's.
    if FIRST_PERSON.search(unquoted.lower()):
        return Verdict(True, Reason.PERSONAL)
    return Verdict(False, Reason.GENERAL)


def _is_general(request: str, unquoted: str) -> bool:
    lowered = request.lower()
    if any(rule.match(lowered) for rule in NAMES_ALLOWED):
        return True
    if _POSSESSIVE.search(unquoted.lower()):
        return False
    if AUTHORSHIP.match(request):
        return True
    if _names(unquoted) or POINTER.search(unquoted.lower()):
        return False
    return any(rule.match(lowered) for rule in GENERAL)


def _names(text: str) -> bool:
    """Whether a word within the sentence is written like a name and is nobody's everyday knowledge.
    Words in capitals throughout are abbreviations."""
    words = [found for found in _CAPITAL.finditer(text) if found.start() > 0]
    return any(
        word.group().lower() not in KNOWN_NAMES and not (len(word.group()) > 1 and word.group().isupper())
        for word in words
    )


def _mentioned(text: str, history: Sequence[str]) -> bool:
    """Whether the user spoke of it a moment ago, and of themselves."""
    subject = set(words(text)) - STOP_WORDS
    return any(
        subject & set(words(message))
        for message in history[-LOOK_BACK:]
        if FIRST_PERSON.search(message[: 10 * LONG].lower())
    )
