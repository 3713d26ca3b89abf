"""Clauses as they can be read alone: cut apart, turned round, with the subject that was left out."""

import re

from recollect.mine.rules.grammar import is_adverb
from recollect.mine.rules.verbs import ALIKE, BASE, ING, PAST, is_participle
from recollect.mine.rules.wordlist import listed

JOINT = re.compile(
    r"\s*;\s+|\s+(?:—|–|--|-)\s+|\.\.\.\s+"
    r"|,?\s+(?:but|yet)\s+(?!not\b|only\b|also\b|rather\b)"
    r"|,?\s+(?:and then|and so|and now|and also|and|so|plus|then)\s+"
    r"(?=(?:I|my|we|our|she|he|his|her|they|it)\b(?! and I\b)|(?:I|we|she|he|it|they)')"
    r"|,?\s+(?:and\s+)(?=[A-Z][a-z]+ (?:is|isn't|can't|doesn't|has|lives|works|loves|likes|hates|never)\b)"
    r"|,\s+(?=[a-z][a-z ]{2,40} (?:is|are|makes?) (?:much |more |so |really |not )*(?:my|me)\b)"
    r"|,\s+(?=(?:hate|love|prefer|can't stand|don't like) )"
    r"|,\s+(?:since|while|as)\s+(?=(?:I|my|we|our|he|she|they|it|the)\b)"
    r"|,?\s+(?:because|although|though|even though|whereas|which is why)\s+"
    r"(?=(?:I|my|we|our|he|she|they|it|the)\b)"
    r"|,\s+(?=(?:I|my|we|our|she|he|his|her)\b|(?:I|we|she|he)'|never )"
    r"|,\s+(?:and|but|so|then)\s+(?=(?:no|please|now)\b)|\s+(?=I mean\b)"
)
_AND_VERB = re.compile(r",? and (?:then )?(?:also )?(?:just )?([a-z]+)\b")
_TIME_FIRST = re.compile(
    r"(?:(?:[Ss]o|[Aa]nd|[Bb]ut|[Aa]lso|[Oo]h|[Ww]ell|[Bb]y the way|BTW|[Bb]tw|[Aa]nyway),? "
    r")?(?P<time>(?:[Ii]n (?!fact|addition|case|"
    r"general|short|my opinion)|[Oo]n (?=\w+day|the \d)|[Aa]fter |[Bb]efore |[Ss]ince (?:the|my|last)\b|"
    r"[Dd]uring |[Ll]ast |[Nn]ext |"
    r"[Tt]his (?=week|month|year|morning|afternoon|evening|summer|spring|winter|fall|\w+day)|[Yy]esterday|"
    r"[Tt]oday|[Tt]onight|[Tt]omorrow|"
    r"[Ww]hen I (?:was|lived|worked|had|studied|moved)|[Bb]ack in |[Ff]or (?!example|instance|me\b|"
    r"context|the record|what)|"
    r"[Ee]very (?!time)|[Tt]he other day|[Aa] few |[Tt]wo |[Tt]hree |[A-Z]?\w+day (?:morning|afternoon|"
    r"evening|"
    r"night)?)"
    r"[^,:.?!]{0,60}?)(?:[,:] (?=(?:[Mm]y|[Oo]ur)\b)|"
    r"(?<!\bon)(?<!\bof)(?<!\bwith)(?<!\bfor)(?<!\bto)(?<!\bin)(?<!\bfrom)"
    r"(?<!\bat) (?=(?:my|our)\b)|[,:]? (?=(?:I|[Ww]e)\b(?! (?:was|lived|worked|had|studied|moved) "
    r"[^,]{0,40}, )))"
)
_WITH = re.compile(
    r"(?P<before>(?:^|\b[Ss]o |\b[Aa]nd |, ))(?P<who>(?:[Mm]y|[Oo]ur) [a-z-]+(?: [A-Z][\w-]+)?|"
    r"[A-Z][a-z]+) and I (?=[a-z])"
)
_NEITHER = re.compile(r"[Nn]either [^,.]{2,40}? nor I (?P<verb>[a-z]+)\b(?= )")
_ME_AND = re.compile(r"^[Mm]e and ((?:my|our) [a-z-]+(?: [A-Z][\w-]+)?|[A-Z][a-z]+) (?=[a-z])")
_ELLIPTIC = re.compile(r"(?:(?:[Jj]ust|[Ff]inally|[Rr]ecently|[Aa]lready) )?([A-Za-z]+) ")
_SURELY_VERBS = listed(
    "hate love like want need have live own prefer enjoy teach speak went bought got made took"
)
_AFTER_VERB = re.compile(
    r" (?:an?|the|my|our|in|at|on|for|to|with|as|about|it|them|up|out|into|from|some|\d+|two|three|one|"
    r"another|mine)\b"
)
_PRESENT = listed(
    "want need love like hate live work have would was wear play speak teach own drive study go run"
)
_WITHOUT_BE = re.compile(
    r"(?:currently |originally |now |still |recently )?(?:(?:not (?:really )?)?(?:an? )?(?:big |huge |"
    r"massive )?"
    r"(fan) of|(born)|(living) (?:in|with)|(based) in|(allergic) to|(originally) from|(married)|"
    r"(working) (?:at|as|for|on|from)|(divorced)|(between) (?:jobs|flats)|(selling))(?: |$)",
    re.IGNORECASE,
)
_WITHOUT_I = re.compile(
    r"(?:work (?:at|as|in|for|nights|shifts|part|full)|live in|play (?:in|the)|study at|"
    r"can't (?:eat|have|drink|swim|drive|stand|cook)|don't (?:eat|drink|own|have|smoke|like|drive)|"
    r"(?:love|hate|prefer|adore|enjoy)(?! (?:the|it|this|that|your|how|when|you|to)\b)|"
    r"used to (?:be|live|work|have|play|run|own|smoke|drink)|still (?:have|live|work)) ",
    re.IGNORECASE,
)
_PARENT = re.compile(
    r"(?:mum|mom|dad|grandma|grandpa|granny|nana)(?:'s| [a-z]+s| is| was| has| [a-z]+ed)\b", re.IGNORECASE
)
_ELLIPTIC_ING = listed(
    "starting moving flying going leaving planning thinking visiting hosting getting meeting taking "
    "having seeing picking driving heading attending"
)
_COPULA = listed("am is are was were")
_TRIM = re.compile(
    r"(?:,? (?:so|and so) (?:no|this|that|these|those|the|still|please|now|train|any|there|gardening|it|"
    r"explain|not|far so)\b.*|"
    r", so .*|,? or so (?:they|i|he|she)\b.*| and [\w ]{0,20}\bI \w+ (?:it|that|them)\b.*| so \w+ing .*|, "
    r"(?:absolutely |"
    r"really )?\w+ed "
    r"it\b.*|"
    r",? (?:and|but) (?:it|that|they|there|the people|honestly|only now|maybe|their|this|these|those|you|"
    r"please|now|"
    r"then)(?:'s|'ve)?\b .*|, (?:it|that|they|there|these|you|please|maybe|best|first time|by the way|"
    r"though|ugh|right|"
    r"actually|honestly|thanks|which|just me|if)\b.*| by the way| lol| haha| though| anyway| ugh| pls| "
    r"please| basically|"
    r" too|(?<!over)(?<!around)(?<!near)(?<!from)(?<!in)(?<!out) here| either| as well| :\)| :D| ;\))+$",
    re.IGNORECASE,
)


def turned(sentence: str) -> str:
    """With what is said of the time behind what is said: "Last week I met Ann" as "I met Ann last week"."""
    if sentence.startswith(("Me and ", "me and ")):
        sentence = _ME_AND.sub(r"\1 and I ", sentence)
    if " and I " in sentence:
        sentence = _together(sentence)
    if (neither := _NEITHER.match(sentence)) and neither["verb"] in BASE:
        sentence = f"I don't {sentence[neither.start('verb') :]}"
    found = _TIME_FIRST.match(sentence)
    if found is None:
        return sentence
    main = sentence[found.end() :]
    joint = JOINT.search(main)
    end = joint.start() if joint else len(main.rstrip(" .!,"))
    time = found["time"][0].lower() + found["time"][1:] if found["time"][:2] != "I " else found["time"]
    return f"{main[:end]} {time}{main[end:]}"


def _together(sentence: str) -> str:
    """ "Ann and I went to Rome" as "I went to Rome with Ann"."""
    found = _WITH.search(sentence)
    if found is None:
        return sentence
    main = sentence[found.end() :]
    joint = JOINT.search(main)
    end = joint.start() if joint else len(main.rstrip(" .!?,"))
    return (
        f"{sentence[: found.end('before')]}I {main[:end]} with {found['who'].replace('My', 'my')}{main[end:]}"
    )


def with_subject(text: str) -> str:
    """ "Booked the ferry" is said of oneself."""
    if text[:6].lower() == "never " and is_participle(text[6:].split(" ", maxsplit=1)[0].lower()):
        return f"I've n{text[1:]}"
    if text[:5].lower() == "been ":
        return f"I've b{text[1:]}"
    if begun := _WITHOUT_BE.match(text):
        return f"I {'was' if begun[2] else 'am'} {text[0].lower()}{text[1:]}".replace("I am", "I'm")
    if _WITHOUT_I.match(text):
        return f"I {text[0].lower()}{text[1:]}"
    if _PARENT.match(text):
        return f"my {text[0].lower()}{text[1:]}"
    first = _ELLIPTIC.match(text)
    if first is None or text[: first.end()].lower() in ("based ", "used ", "set ", "related ", "given "):
        return text
    verb = first[1].lower()
    if (verb in PAST and verb not in ALIKE and verb not in _COPULA) or verb == "need":
        return f"I {text[0].lower()}{text[1:]}"
    if verb in ING and first.start(1) == 0 and verb in _ELLIPTIC_ING and not text.startswith("Going forward"):
        return f"I'm {text[0].lower()}{text[1:]}"
    return text


def shared(piece: str) -> list[str]:
    """ "I live in Rome and work at Fiat" is two clauses with one subject."""
    if not piece.startswith(("I ", "I'", "we ", "We ", "We'", "we'")) or " and " not in piece:
        return [piece]
    subject, _, rest = piece.partition(" ")
    subject = subject.split("'")[0]
    verb = next((word for word in rest.lower().split(" ") if not is_adverb(word)), "")
    forms = (
        frozenset(BASE)
        if verb in BASE and verb not in ("have", "do")
        else frozenset(PAST)
        if verb in PAST and verb != "was"
        else None
    )
    forms = _PRESENT if forms is None else forms | PAST.keys() if verb in ALIKE else forms
    parts: list[str] = []
    start = 0
    for match in _AND_VERB.finditer(piece):
        if (
            match[1] in forms
            and (match[1] in _SURELY_VERBS or _AFTER_VERB.match(piece, match.end()))
            and " to " not in piece[: match.start()][-40:]
            and match.start() > start
        ):
            parts.append(
                piece[start : match.start()] if start == 0 else f"{subject} {piece[start : match.start()]}"
            )
            start = match.start(1)
    parts.append(piece[start:] if start == 0 else f"{subject} {piece[start:]}")
    return parts


def trimmed(text: str) -> str:
    """Without what was only added: ", best decision ever", lol."""
    for _ in range(3):
        shorter = _TRIM.sub("", text).rstrip(" ,.!")
        if shorter == text:
            break
        text = shorter
    return text
