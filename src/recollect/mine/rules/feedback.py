"""What a user lets the assistant know of its answers: too long, wrong, just right, never do that again."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from recollect.mine.extracted import USER, Claim
from recollect.mine.rules.grammar import retold
from recollect.mine.rules.statements import LENGTH_LIMIT, Told
from recollect.mine.rules.verbs import ING, third
from recollect.mine.rules.verdicts import LASTING, OF_A_TEXT, VERDICTS, WORD

_I = re.IGNORECASE
_WISH_HINTS = (
    *("concise", "brief", "succinct", "short", "verbose", "wordy", "detail", "thorough", "longer", "bullet"),
    *(
        "emoji",
        "simpler",
        "plain",
        "technical",
        "jargon",
        "always",
        "from now on",
        " in ",
        "when you",
        "when you",
    ),
)
_JUDGED_HINTS = (
    *(
        "too ",
        "wrong",
        " you ",
        "you ",
        "don't",
        "do not",
        "never",
        "stop",
        "next time",
        "from now on",
        "future",
    ),
    *(
        "format",
        "length",
        "style",
        "tone",
        "going forward",
        "please",
        "what i ",
        "love",
        "liked",
        "helped",
        "was ",
        "is ",
        "made ",
        "worked",
    ),
)
"""Letters without which no pattern of the kind need be looked for."""
_SENTENCES = 8
_LONGEST = 200


class Wish(NamedTuple):
    """How answers are wanted, whichever words asked for it."""

    pattern: re.Pattern[str]
    content: str
    attribute: str
    value: str


_ANSWERS = (
    r"(?:your |the |all )?(?:answers?|repl(?:y|ies)|responses?|messages?|explanations?|summar(?:y|ies))"
)
_WISHES = (
    Wish(
        re.compile(
            rf"\b(?:be|more) (?:more )?(?:concise|brief|succinct)\b|\bkeep (?:it|{_ANSWERS}) (?:short|"
            rf"brief|concise)|\bless "
            rf"(?:verbose|wordy)|\b(?:shorter|briefer) {_ANSWERS}|\bshort {_ANSWERS}",
            _I,
        ),
        "{user} prefers shorter answers.",
        "answer length",
        "short",
    ),
    Wish(
        re.compile(
            rf"\b(?:be|give) (?:me )?more (?:detail(?:ed|s)?|thorough)\b(?! (?:about|on|of))|\b(?:longer|"
            rf"more detailed) {_ANSWERS}"
            r"|\bin more (?:detail|depth) (?:next time|from now on|in future)|\bprefer detailed\b",
            _I,
        ),
        "{user} prefers detailed answers.",
        "answer length",
        "detailed",
    ),
    Wish(
        re.compile(
            r"\b(?:don't|do not|no|stop|without|never) (?:use |using |give me |the )?(?:so many |more "
            r")?bullet(?:ed)?(?: points?| "
            r"lists?|s)\b",
            _I,
        ),
        "{user} prefers answers without bullet points.",
        "bullet points",
        "no",
    ),
    Wish(
        re.compile(r"^(?:please )?(?:always )?use bullet(?: points|s)\b|\bprefer bullet", _I),
        "{user} prefers answers with bullet points.",
        "bullet points",
        "yes",
    ),
    Wish(
        re.compile(
            r"\b(?:don't|do not|no|stop|without|never) (?:use |using |more )?(?:so many )?emojis?\b", _I
        ),
        "{user} prefers answers without emojis.",
        "emojis",
        "no",
    ),
    Wish(
        re.compile(
            r"\b(?:simpler|plain) (?:words|terms|language|english)\b|\bless (?:technical|jargon)|\bno "
            r"jargon\b",
            _I,
        ),
        "{user} prefers answers in plain words.",
        "answer style",
        "plain",
    ),
)
_LANGUAGE = re.compile(
    r"\b(?i:answer|reply|respond|write|speak|talk)(?: to me)? (?:only |always )?in (?P<what>English|French|"
    r"German|"
    r"Spanish|Italian|Portuguese|Dutch|Polish|Swedish|Japanese|Chinese|Korean|Russian|Arabic|Hindi|"
    r"Turkish)\b(?! (?:and|or) )"
)
_WHEN_YOU = re.compile(
    r"i (?:really )?(?P<no>hate |don't like |can't stand )?(?:like |love |prefer )?(?:it )?when you "
    r"(?P<what>(?!said|say|are|were)"
    r"[a-z]+ [^?]{3,120})$",
    _I,
)
_STOP = re.compile(
    r"(?:please,? |(?:can|could|would|will) you (?:please )?)*stop (?P<what>[a-z]+ing\b[^?]{0,120})", _I
)
_STANDING = re.compile(
    r"(?:please |can you |could you )*(?:always|from now on,?) (?P<what>(?:use|give|show|cite|include|"
    r"answer|check|ask|sign|mention|explain|end|address|quote|"
    r"add|write|tell|start|reply|call|put)\b[^?]{4,160}?)(?:,? (?:because|since|as|so) .*|, (?=I\b).*)?$",
    _I,
)
_TOO = re.compile(
    r"(?:(?:oh|no|hm+|well|ugh|sorry|ok)[,!.]* )*(?:(?:that|this|it)(?:'s| is| was)|your (?:answer|reply|"
    r"summary|"
    r"response) (?:is|was)|(?P<bare>))?(?: ?(?:way|a bit|a little|far|much|still|just))* ?too "
    r"(?P<how>(?:long|short|"
    r"formal|casual|technical|vague|generic|wordy|verbose|complicated|complex|simple|basic|detailed|brief|"
    r"stiff|"
    r"general|harsh|salesy|enthusiastic|cheerful|much\b[^.!?]{0,60}|"
    r"many\b[^.!?]{0,60}))(?P<rest>[^.!?]{0,100})",
    _I,
)
_WRONG = re.compile(
    r"\byou(?:'ve| have)? (?:got (?:that|it|this) (?:all )?wrong|misunderstood|made a mistake|forgot|"
    r"ignored|missed|"
    r"mixed up|made (?:that|this) up|keep (?!up)\w+ing)\b[^.!?]{0,120}|\bthat(?:'s| is| was) not what i "
    r"(?:asked|"
    r"wanted|meant)[^.!?]{0,80}|\byour (?:answer|code|solution) (?:was|is) (?:wrong|incorrect)[^.!?]{0,80}",
    _I,
)
_ASKED = re.compile(r"\bi (?:asked|told) you (?P<not>not )?to (?P<what>[^.!?]{3,160})", _I)
_DONT = re.compile(
    r"(?:please,? |and |so |no,? |next time,? |in future,? )*(?:don't|do not|never|stop(?= \w+ing\b)) "
    r"(?P<what>(?!tell (?:my|anyone|him|her|them)|worry|get me|mind|think|"
    r"know|forget|hesitate|need|have|want|be (?:shy|sorry|afraid)|understand|see|bother|like|"
    r"you\b)[^?]{4,160})$",
    _I,
)
_NEXT_TIME = re.compile(
    r"(?:please,? )?(?P<what>(?!(?:i|we|my|it|that|this|they|he|she|there|you|so|and|thanks|"
    r"maybe)\b)[^?]{6,160}?),? "
    r"(?:next time|from now on)\b",
    _I,
)
_ALWAYS = re.compile(
    r"(?:please |from now on,? |in future,? |next time,? |can you |could you )+(?:always "
    r")?(?P<what>(?:check|use|show|cite|"
    r"include|start|answer|explain|ask|verify|double-check|mention|add|avoid|keep|stick|give|skip|"
    r"tell)\b[^?]{4,160})"
    r"$|always (?P<also>(?:use|give|show|cite|include|answer|check|ask|add|write)\b[^?]{4,160})$",
    _I,
)
_PRAISED = re.compile(
    r"\b(?:this|that|perfect) (?:format|length|style|level of detail|tone)\b[^.?]{0,60}|\b(?:exactly|"
    r"just) what i (?:needed|wanted|was looking for)\b[^.?]{0,120}|\b(?:the|that|your) "
    r"(?P<what>table|list|"
    r"summary|breakdown|format|diagram|examples?|step-by-step|analogy|comparison|outline|explanation|chart|"
    r"structure|short version) (?:helped|was (?:great|perfect|helpful|clear)|is (?:great|perfect|clear)|made "
    r"(?:it|things) clear|worked)\b[^.?]{0,80}|\b(?:i )?(?:love|loved|liked) (?:how you|the way you|the|"
    r"your) "
    r"(?:short |long |clear )?(?:list|summary|table|format|tone|breakdown|examples?|structure|level of "
    r"detail)"
    r"\b(?! (?:in|at|from|of) (?:my|our))[^.?]{0,80}",
    _I,
)
_FOR_THIS = re.compile(r"\b(?:this|it|them|these|paragraph|sentence|email|essay|code|function)\b", _I)


_SHORTEST = 8
_WRONG_HINTS = (
    *("wrong", "misunder", "mistake", "forgot", "ignored", "missed", "mixed up", "this up", "that up"),
    *("you keep", "not what i", "incorrect"),
)
_PRAISE_HINTS = (
    *("format", "length", "style", "level of", "tone", "what i", "helped", " great", "perfect", "clear"),
    *("worked", "love", "liked", "helpful"),
)
_ASKS_TO = re.compile(
    r"(?:please,? |(?:but |and |so )?why (?:did|do|are|would) you |(?:can|could|would|will) you )", _I
)
_WITHOUT = re.compile(
    r"(?:please )*(?:(?:(?:there's |there is )?no need (?:to|for)|(?:it|you) (?:don't|do not) (?:need|"
    r"have) to|it needn't|don't|do "
    r"not|never|stop|quit|avoid|refrain from) (?P<act>.+)|(?:spare them|skip|drop|cut|lose|leave out|"
    r"enough with|no more|lay off|"
    r"ditch|ease up on|go easy on) (?:the |all the |all these |all that )?(?P<thing>.+))",
    _I,
)
_AND_ALWAYS = re.compile(
    r"[,;]? (?:and|but) (?=(?:please |also |instead )?(?:always|never|don't|do not)\b(?! (?:when|in|if|"
    r"on|at|with|the|an?)\b))|"
    r"[,;] (?=(?:always|never|don't|do not)\b(?! (?:when|in|if|on|at|with|the|an?)\b))",
    _I,
)
_BUT = re.compile(r",? (?:but|instead) (?=\w)", _I)
_LEAD = re.compile(r"(?:when(?:ever)? you|if you|every time you|for|in|on)\b[^,.]{2,80}, ", _I)
_SPLIT_NOT = re.compile(r"wants the assistant to (?:not|never|don't|do not) (?=\w)")


def feedback(told: Told, turn: str, user: str, answered: bool) -> list[Claim]:
    """Lessons about answers. What is only said of the answer before counts where there was one."""
    found: list[Claim] = []
    for sentence in _pieces(told.sentences[:_SENTENCES]):
        if len(sentence) > LENGTH_LIMIT:
            continue
        low = sentence.lower()
        lesson = _wished(sentence, user) if any(hint in low for hint in _WISH_HINTS) else None
        if lesson is None and answered and any(hint in low for hint in _JUDGED_HINTS):
            lesson = _judged(sentence, user)
        if lesson is None:
            lesson = _valued(sentence, low, user, answered)
        if lesson is not None:
            content, attribute, value = lesson
            found.append(
                Claim(
                    content=content,
                    turns=(turn,),
                    kind="reflection",
                    subject=user if user != "The user" else USER,
                    attribute=attribute,
                    value=value,
                    single=bool(attribute),
                    preference=True,
                )
            )
    return found


def _pieces(sentences: list[str]) -> Iterator[str]:
    """Each wish by itself: what is never wanted, and what always is, after what they are wanted for."""
    for sentence in sentences:
        wishes = _AND_ALWAYS.split(sentence)
        if len(wishes) == 1 and _DONT.match(sentence):
            wishes = _BUT.split(sentence)
        lead = _LEAD.match(sentence) if len(wishes) > 1 else None
        yield wishes[0]
        for wish in wishes[1:]:
            yield f"{lead.group()}{wish}" if lead else wish


def _wished(sentence: str, user: str) -> tuple[str, str, str] | None:
    """Wishes that hold for answers to come."""
    if sentence.endswith("?") and not re.match(
        r"(?:can|could|would|will) you (?:please )?(?:be more|keep your|use shorter)", sentence, _I
    ):
        return None
    for wish in _WISHES:
        if wish.pattern.search(sentence):
            return wish.content.format(user=user), wish.attribute, wish.value
    if found := _WHEN_YOU.match(sentence):
        likes = "does not like" if found["no"] else "likes"
        return f"{user} {likes} the assistant to {_to_assistant(found['what'])}.", "", ""
    if found := _STANDING.match(sentence):
        return f"{user} wants the assistant to always {_to_assistant(found['what'])}.", "", ""
    if found := _LANGUAGE.search(sentence):
        return f"{user} prefers answers in {found['what']}.", "answer language", found["what"].lower()
    return None


def _judged(sentence: str, user: str) -> tuple[str, str, str] | None:
    """What was wrong with the answer before, or right."""
    low = sentence.lower()
    if sentence.endswith("?") and not _STOP.match(sentence):
        return None
    if (
        "too " in low
        and (found := _TOO.match(sentence))
        and not re.search(r"\btoo (?:much|many) (?:work|money|time)\b", sentence)
    ):
        what = retold(found["how"] + found["rest"]).split(",")[0].strip()
        had = " had" if what.startswith(("many", "much")) else ""
        return f"{user} found the answer{had} too {what}.", "", ""
    if ("ed you" in low or "told you" in low) and (found := _ASKED.search(sentence)):
        no = "not " if found["not"] else ""
        return f"{user} had asked the assistant {no}to {_to_assistant(found['what'])}.", "", ""
    if any(hint in low for hint in _WRONG_HINTS) and (found := _WRONG.search(sentence)):
        return f"{user} said of the answer: {_to_assistant(found.group())}.", "", ""
    if found := _STOP.match(sentence):
        return f"{user} wants the assistant to stop {_to_assistant(found['what'])}.", "", ""
    if found := _DONT.match(sentence):
        return f"{user} does not want the assistant to {_to_assistant(found['what'])}.", "", ""
    if found := _ALWAYS.match(sentence):
        return f"{user} wants the assistant to {_to_assistant(found['what'] or found['also'])}.", "", ""
    if ("next time" in low or "from now on" in low) and (found := _NEXT_TIME.match(sentence)):
        return f"{user} wants for next time: {_to_assistant(found['what'])}.", "", ""
    if any(hint in low for hint in _PRAISE_HINTS) and (found := _PRAISED.search(sentence)):
        return f"{user} liked the answer: {_to_assistant(found.group())}.", "", ""
    return None


def _valued(sentence: str, low: str, user: str, answered: bool) -> tuple[str, str, str] | None:
    """Praise, blame and wishes in whichever words."""
    if len(sentence) < _SHORTEST or (sentence.endswith("?") and not _ASKS_TO.match(sentence)):
        return None
    words = set(WORD.findall(low))
    if not answered and LASTING.isdisjoint(words):
        return None
    for verdict in VERDICTS:
        if (verdict.after and not answered) or verdict.words.isdisjoint(words):
            continue
        found = verdict.pattern.search(sentence)
        if found is None or OF_A_TEXT.search(found.group()):
            continue
        parts = {name: _to_assistant(part) for name, part in found.groupdict().items() if part}
        what = parts.get("what") or parts.get("also", "")
        if len(what) < _SHORTEST // 2:
            continue
        if no := _WITHOUT.match(what):
            return f"{user} does not want {_spared(no)}.", "", ""
        likes = (
            "does not like"
            if re.match(r"hate|don't|dislike|can't", found.groupdict().get("no") or "", _I)
            else "likes"
        )
        told = verdict.told.format(user=user, what=what, likes=likes, when=_third(parts.get("when", "")))
        told = re.sub(r", The user", ", the user", told)
        return _SPLIT_NOT.sub("does not want the assistant to ", told), "", ""
    return None


def _spared(found: re.Match[str]) -> str:
    """What is not wanted: doing something, or something in the answers."""
    if found["thing"]:
        return f"{found['thing']} in the answers"
    act = found["act"]
    return (
        f"the assistant to {ING.get(first, first)}{act[len(first) :]}"
        if (first := act.split(" ")[0])
        else act
    )


def _third(text: str) -> str:
    verb, _, rest = text.partition(" ")
    return f"{third(verb)} {rest}".strip() if verb else ""


def _to_assistant(text: str) -> str:
    """With the speaker as they and whom they speak to as the assistant."""
    text = re.sub(
        r"\byour\b",
        "its",
        re.sub(r"[ ,]+(?:please|pls|thanks|thank you)[ .!]*$", "", text.strip(" .!,"))[:_LONGEST],
    )
    return re.sub(r"\b[Yy]ou(?:'ve|'re)?\b", "it", retold(text))
