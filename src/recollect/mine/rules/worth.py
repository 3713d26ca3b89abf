"""Which first-person clauses tell something worth knowing, and which are only talk."""

import re

from recollect.mine.rules import lexicon as lx
from recollect.mine.rules.grammar import Said
from recollect.mine.rules.verbs import ING, lemma
from recollect.mine.rules.wordlist import listed

_TALK = listed(
    "guess suppose wish wonder mean understand agree appreciate thank apologise apologize bet doubt "
    "imagine assume believe suggest recommend explain ask say check note refer suspect reckon disagree "
    "confirm clarify promise figure swear look misread mistake realise realize"
)
"""Verbs of talking and thinking: what follows them is no fact, or not yet one."""
LIFE = listed(
    "visit travel fly move attend start graduate marry meet arrive leave stay host celebrate learn "
    "study become buy adopt foster own live retire quit join run open launch go take teach relocate "
    "emigrate apply register volunteer compete perform speak renovate sell write build play return "
    "switch train work paint turn"
)
"""What people plan to do with their time; not with this answer."""
_CAN = listed(
    "speak play swim spend afford drive cook ride sing dance ski eat drink stand have walk kneel sleep "
    "tolerate read bear digest use deal lift"
)
_IDLE_BEING = re.compile(
    r"(?:so |very |really |just |also |not |pretty |quite |a bit |a little |all |still |super |more |too "
    r")*(?:sure|sorry|glad|"
    r"happy|curious|wondering|ready|aware|here|back to|done|fine|ok|okay|good(?! at| with)|well|confused|"
    r"hoping|supposed to be|meant to be|open "
    r"to|able|grateful|"
    r"thankful|impressed|surprised|happy with|all set|set|right|wrong|serious|referring|asking|certain|"
    r"unsure|excited to|"
    r"excited about (?:the|your|these|this|that)|looking|interested in (?:the|[\ue000-\ue040]|these|those|"
    r"this|that|\w+ing|hearing|learning "
    r"more|your)|in a hurry|all ears|ears$|dying to|sold|in need|in the mood|welcome|stuck|lost|afraid (?:i|"
    r"that)|new to this|"
    r"tempted|leaning|"
    r"about to|inclined|intrigued|comfortable with|drawn to|flexible|an? \w+ \w+ (?:group|family|couple)|"
    r"familiar with (?:the|these|this|that)|on board|with you|like|it|that|there|the one|"
    r"concerned that|worried that|a bit|hesitant|convinced|pleased|looking forward|trying|talking|having "
    r"trouble|going to "
    r"(?:try|check|look|see|use|need|make|give|start with|do|have to|go with)|wondering|thinking)\b",
    re.IGNORECASE,
)
_VAGUE_START = listed(
    "it that them so this these those him one ones something anything everything nothing what how why "
    "which whatever there all both"
)
_ONGOING = listed(
    "try look hope ask talk refer wonder search have see think consider feel want need lean aim "
    "struggle find focus"
)
_EFFORTS = listed("cut lose quit stop save reduce conceive learn exercise eat drink sleep gain")
_PERCEIVED = listed("see hear notice find feel remember forget decide tell help let")
_LIKED_HERE = re.compile(
    r"the (?:idea|sound|way|suggestion|fact|first|second|third|fourth|last|former|latter|other|next)\b|how |"
    r"to (?:see|know)\b|the [a-z]+(?: [a-z]+)?$|(?!.*\bthan\b).*\bbetter$|option \w+\b"
)
_IDLE_START = {
    "have": re.compile(
        r"(?:a|some|a few|the same|one|another|no)? ?(?:questions?|idea|feeling|problem|trouble|fun|hard "
        r"time|good "
        r"idea|great time|heard|look|same)\b"
    ),
    "get": re.compile(
        r"the (?:job|offer|part|role|position|idea|point|message|hang|impression|joke|gist)\b(?! (?:at|"
        r"with|as|"
        r"in|of|from)\b)"
    ),
    "go": re.compile(r"(?:with|ahead|for the|through the|over)\b"),
    "like": _LIKED_HERE,
    "love": _LIKED_HERE,
    "mention": re.compile(""),
    "come": re.compile(r"(?:up with|across)\b"),
    "plan": re.compile(r"(?:on using|to use|on trying)\b"),
}
"""What starts so is about this talk, or says nothing."""
_OF_THIS_TALK = re.compile(
    r"(?:with|by|on|ahead|searching|looking|researching|using|a break|for|from|off|through|over|a (?:closer "
    r")?look|(?:some )?notes|the (?:\w+ )?(?:route|"
    r"option|approach)|your|it|that|these|those|into account)\b",
    re.IGNORECASE,
)
_LEFT_OPEN = listed("quit stop start begin finish leave return")
_LIVES_FOR = re.compile(r"for (?!\d|now\b|an?\b|two|three|four|five|the (?:past|last|time))", re.IGNORECASE)
_SOON = re.compile(
    r"(?:an? |another |some |two |three |the )(?:\w+ )?(?:meeting|call|appointment|class|exam|deadline|"
    r"interview)s?(?: (?:at|in|around|after|before|soon|later|now|until|from)\b[^,]{0,20})?$",
    re.IGNORECASE,
)
_ONLY_WHEN = re.compile(
    r"(?!.*\b(?:at|for|as|to|with|from|my)\b)(?:in (?:january|february|march|april|may|june|july|august|"
    r"september|october|november|december|spring|"
    r"summer|autumn|fall|winter|(?:19|20)\d\d)|last|this|next|today|yesterday|tomorrow|recently|already|"
    r"again|"
    r"early|late|on (?:\w+day|the \d)|\w+day|an? (?:few )?\w+ ago|(?:two|three|four|\d+) \w+ ago)\b",
    re.IGNORECASE,
)
_NO_ONE = re.compile(r"^(?:an?|the) (?:\w+ )?ones?\b|^(?:the )?time$", re.IGNORECASE)
_FOUND_SO = re.compile(
    r"(?!(?:it|that|this|the|your|these)\b).+ (?:\w+ing|hard|difficult|easy|stressful|dull|overrated)$",
    re.IGNORECASE,
)
_DATA = re.compile(
    r"(?:an?|the|this|two|some) (?:\w+ )?(?:list|function|array|string|data ?frame|dictionary|class|"
    r"component|query|regex|loop|"
    r"variable|json|csv|api|endpoint|matrix|vector|triangle|equation|paragraph|sentence|text|document|"
    r"spreadsheet)\b"
)
_EXAGGERATES = listed("basically literally")
_COUNTED = listed("finish complete read have get buy make manage do watch try add")
_AT_THE_SCREEN = re.compile(
    r"\b(?:[Ee]rror|[Ee]xception|[Tt]raceback|stack ?trace|undefined|segfault|\w+Exception|\w+Error|(?!iP|"
    r"iM|iC)[a-z]{3,}[A-Z]\w+|"
    r"the (?:script|file|code|command|button|link|function|output|tests?|build|logs?|terminal|console))\b"
)
_UNCOUNTED = re.compile(
    r"(?:a (?:new |good |nice )?|another |the |two|three|four|five|six|\d+)(?:ones?)?(?: so far| recently|"
    r" already| in\b|$)",
    re.IGNORECASE,
)
_WANTED = re.compile(r"to (?:\w+ly )?(?P<verb>\w+)")
_NEEDED = re.compile(
    r"(?:some |a little |any |a bit of |more )?(?:help|advice|assistance|ideas?|suggestions?|information|"
    r"info|recommendations?|more|to|it|that|them|guidance|tips|your|someone|something|this)\b"
)
_THOUGHT = re.compile(r"(?:of|about) (?P<verb>\w+ing)\b")
_KNOWN = re.compile(r"[A-Z]|how to|a (?:bit|little) (?:of )?[A-Z]|some [A-Z]")
_PRONOUN = re.compile(r"\b(?:it|them|him|her)\b(?!-)")
_PRONOUN_OBJECT = re.compile(r"\b(?:it|them|that one|those ones|him|her|he|she|they|there|then)\b")


def is_worth(said: Said, dated: bool) -> bool:
    """Whether a first-person clause says something of the speaker that will matter later."""
    verb, rest, aux = said.verb, said.rest, said.aux
    first = rest.split(" ", 1)[0].lower().rstrip(",.!")
    if (
        verb in _TALK
        or first in _VAGUE_START
        or (verb in _COUNTED and _UNCOUNTED.match(rest))
        or _AT_THE_SCREEN.search(rest)
        or (verb == "have" and _DATA.match(rest))
        or (verb == "be" and not _EXAGGERATES.isdisjoint(said.adverbs))
        or (verb in ("like", "love") and first == "when")
        or lx.EMPTY_TALK.search(said.predicate)
    ):
        return False
    if said.predicate.endswith((" that", " it", " them", " this")) or _NO_ONE.match(rest):
        return False
    if _says_too_little(said, dated):
        return False
    if not rest and not (said.negated or verb in ("smoke", "drink", "drive", "cook", "retire", "graduate")):
        return False
    if aux in ("would", "could", "should", "must"):
        return _wished(said)
    if aux in ("might", "may"):
        return verb in LIFE and bool(rest)
    if aux == "can":
        return verb in _CAN and (said.negated or verb not in ("have", "eat", "drink", "use", "read"))
    if aux in ("will", "going"):
        return (verb in LIFE and _OF_THIS_TALK.match(rest) is None) or (dated and verb != "do")
    return _plain(said, dated)


def _says_too_little(said: Said, dated: bool) -> bool:
    """What only those know who were there: "I quit in April", "we broke up", "I have a meeting at 3"."""
    if said.verb in _LEFT_OPEN:
        return _ONLY_WHEN.match(said.rest) is not None
    if said.verb in ("break", "split") and said.rest.startswith("up"):
        return " with " not in said.rest
    if said.verb == "live" and not said.negated:
        return _LIVES_FOR.match(said.rest) is not None
    return said.verb == "have" and not dated and _SOON.match(said.rest) is not None


def _wished(said: Said) -> bool:
    if said.aux != "would" or said.negated:
        return False
    if said.verb in ("like", "love", "want"):
        wanted = _WANTED.match(said.rest)
        return wanted is not None and wanted["verb"] in LIFE - {
            "start",
            "write",
            "build",
            "take",
            "go",
            "run",
            "speak",
        }
    if said.verb == "describe":
        return said.rest.startswith("myself as")
    if said.verb in ("take", "choose", "pick"):
        return " over " in said.rest
    return (
        "rather" in said.adverbs
        or said.verb == "prefer"
        or said.rest.startswith("rather ")
        or said.verb == "rather"
    )


def _plain(said: Said, dated: bool) -> bool:
    """Said without a helping verb that weakens it."""
    low = said.rest.lower()
    match said.verb:
        case "be":
            return (
                bool(low) and not low.endswith((" it", " them", " that")) and _IDLE_BEING.match(low) is None
            )
        case "think" | "consider" | "hope" | "want":
            return _intended(said)
        case "need":
            return dated or _NEEDED.match(low) is None
        case "see" if said.form == "ing" and dated:
            return True
        case "know":
            return not said.negated and _KNOWN.match(said.rest) is not None
        case _ if said.verb in _PERCEIVED:
            return _perceived(said, dated)
        case "try":
            if low.startswith("to "):
                return low.split(" ")[1] in _EFFORTS
            return said.form in ("past", "participle")
        case "have" if low.startswith("to ") and said.form in ("base", "past"):
            return dated or low.split(" ")[1] in LIFE | {"drive"}
        case _:
            idle = _IDLE_START.get(said.verb)
            if idle is not None and idle.match(low):
                return False
            return dated or not (said.form == "ing" and said.aux == "am" and said.verb in _ONGOING)


def _intended(said: Said) -> bool:
    """Thoughts and wishes about one's life, not about this answer."""
    if said.verb == "think":
        thought = _THOUGHT.match(said.rest)
        return said.form == "ing" and thought is not None and ING.get(thought["verb"], "") in LIFE
    if said.verb == "consider":
        return said.form == "ing" and lemma(said.rest.split(" ")[0]) in LIFE
    wanted = _WANTED.match(said.rest)
    return wanted is not None and wanted["verb"] in LIFE


def _perceived(said: Said, dated: bool) -> bool:
    """Past ones that name something: saw "Dune", found a flat, decided to move."""
    if said.verb == "find" and said.form == "base" and not said.aux:
        return _FOUND_SO.match(said.rest) is not None
    if said.form not in ("past", "participle") or said.negated:
        return False
    if said.verb in ("feel", "hear", "remember", "let"):
        return dated and said.verb == "feel"
    if said.verb == "decide":
        return (wanted := _WANTED.match(said.rest)) is not None and wanted["verb"] in LIFE | {
            "upgrade",
            "stop",
        }
    if said.verb == "find":
        return (
            re.match(r"(?:an? |my |some |the )(?!\w+ (?:helpful|useful|interesting|easier))", said.rest)
            is not None
        )
    return not re.match(r"(?:that|the|some|how|a lot|your)\b", said.rest) or dated


def is_vague(text: str, *, being: bool = False) -> bool:
    """Whether a clause points at something that it does not name."""
    return (_PRONOUN if being else _PRONOUN_OBJECT).search(text) is not None
