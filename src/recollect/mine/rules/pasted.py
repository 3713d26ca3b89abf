"""What in a turn was typed by its speaker, and what was only put there to be worked on.

Pasted text is known by its shape (headings, salutations, signatures, logs, dialogues) and by the words that
hand it over ("what do you make of this ad?", "my sister sent me this:"). Where it begins, reading ends.
"""

import re

from recollect.mine.rules.markers import PASTED, WORKED_ON
from recollect.mine.speakers import prefix

_I = re.IGNORECASE
TEXTS = (
    r"(?:e-?mails?|letters?|messages?|texts?|dms?|repl(?:y|ies)|notes?|bios?|profiles?|resumes?|cvs?|tweets?|"
    r"posts?|captions?|reviews?|blogs?|articles?|ads?|adverts?|listings?|descriptions?|statements?|diary|"
    r"paragraphs?|testimonials?|comments?|essays?|drafts?|speech(?:es)?|toasts?|poems?|lyrics|songs?|verses?|"
    r"quotes?|quotations?|sentences?|passages?|excerpts?|transcripts?|dialogues?|stor(?:y|ies)|chapters?|"
    r"abstracts?|summar(?:y|ies)|headlines?|slogans?|signs?|answers?|prompts?|logs?|chats?|threads?|"
    r"screenshots?|examples?|questions?|exercises?|tests?|jokes?|scripts?|scam|spam|page|website|snippets?|"
    r"documents?|invitations?|complaints?|offers?|applications?|bits?|thing|version|wording|intro|pitch)"
)
"""What somebody can have written."""
_TELLS = (
    r"(?:wrote|writes|sent|sends|forwarded|posted|posts|tweeted|replied|answered|answers|says|said|reads|"
    r"goes|"
    r"continues|texted|commented|got this|found this|received|copied|pasted|typed)"
)
_LINE_OF_CODE = re.compile(
    r"\s*(?:>|\||#(?!\w)|//|/\*|\$ |at \w+\.|Traceback|File \"|[{}\[\]]|(?:def|class|import|return|var|"
    r"const) |★|☆|\W{0,2}\d{1,4}[-:/.]\d{1,2}[-:/.]\S)"
)
"""Code, quotes, logs and stars: what nobody says of themselves."""
_HEADING = re.compile(r"\s*#{1,6} \S|\s*(?:from|to|cc|bcc|sent|von|an|betreff): \S", _I)
_GREETS_ANOTHER = re.compile(
    r"(?!.*\b(?:I|[Ii]'m|[Mm]y|we|me)\b)(?!(?:hi|hey|hello) there\b|good \w+,|thanks|thank you|yes|no|ok|"
    r"well)"
    r"[^\W\d_][\w.'-]*(?: [\w.'-]+){1,5},\s*$",
    _I,
)
_SIGNS = re.compile(
    r"\s*(?:(?:(?:with )?(?:best|kind|warm|many)(?:est)? (?:regards|wishes)|regards|best|sincerely|yours(?: "
    r"\w+)?|\w+ yours|respectfully|warmly|xoxo|love|cheers)[,.!]?\s*$|sent from my \w+|-- ?$)",
    _I,
)
_FORWARDED = re.compile(r"\s*(?:fwd?|wg|tr)\s?:\s", _I)
_ANSWERED = re.compile(r"\s*(?:re|aw)\s?:\s", _I)
_SIGNED_OFF = re.compile(
    r"[.!?)] +(?i:cheers|best|(?:(?:with )?(?:best|kind|warm) )?(?:regards|wishes)|sincerely|yours(?: "
    r"\w+)?|love|xoxo|greetings),? +[A-Z][\w'-]+(?: [A-Z][\w'-]*\.?)?[.!]?\s*$"
)
_SIGNED_BY = re.compile(r"\s*[A-Z][\w.'-]*(?: [A-Z][\w.'-]*){0,2}\s*$")
_ASCRIBED = re.compile(r".*\s[—–-]{1,2} ?[A-Z][\w.'-]+(?: [A-Z][\w.'-]+)*(?:, \d+)?\.?\s*$")
_BLANK = re.compile(r"_{3,}|\.{6,}")
_TIMES = r"(?:week|month|year|morning|afternoon|evening|weekend|summer|winter|spring|autumn|fall|time|\w+day)"
_THIS = re.compile(rf"\b(?:this|these)\b(?! {_TIMES}\b)", _I)
_STATES = re.compile(r"(?:I|We|My|Our|i|we|my|our)\b")
_HANDED = re.compile(rf"\b(?:{TEXTS}|{_TELLS}|(?:the )?following|below|so far)\b", _I)
_OWN_COLON = re.compile(
    r"^(?:for|about|re|regarding|on|as for|in|when|with) |\b(?:I|i|me|my|myself|we|our|us)\b|\b(?:plan|"
    r"update|context|background|situation|know|remember|anyway|"
    r"facts?|note|resolution|goal|news|reason|btw|fyi|ps|edit|tl;?dr|correction|confession|truth|thing|"
    r"things|problem|issue|reminder|preferences?|allerg\w+|short|also|important|info|deal|budget|first|"
    r"second|honest\w*|clarify|clear|record|story|disclaimer|character)\s*$",
    _I,
)
_THEN_FIRST = re.compile(
    r"(?::|(?<=\w) [-–—])\s+(?=[\"“']?(?:I|i|[Mm]y|[Ww]e|[Oo]ur|[Ii]'(?:m|ve|d|ll)|[Ww]e're)\b)"
)
_TREATS = re.compile(
    r"\b(?:shorten|expand|simplify|improve|rate|judge|critique|grade|score|format|turn|make|rewrite|check|"
    r"proof-?read|proof|spell-?check|polish|edit|fix|correct|translate|rephrase|paraphrase|summari[sz]e|"
    r"review|"
    r"tighten|condense|reword|translated?|read|punctuate|format|tidy)\b[^.?!:]{0,24}\b(?:this|these|the "
    r"following|below)\b",
    _I,
)
_ENDS_THERE = re.compile(
    rf"(?: (?:\w+ )?{TEXTS}| (?:sound|into|more|a bit|better|shorter|nicer|for (?:me|typos|"
    rf"tone))\b[^.?!:]{{0,30}})?[?.!:] ",
    _I,
)
_POINTERS = ("his", "hese", "HIS", "following", "below")
_DASHES = (" -", "—", "–")
_BULLET = re.compile(r"\s*(?:[-*•]|\d{1,2}[.)])\s+")
_SPACES = re.compile(r"[^\S\n]+")


def is_mail(text: str) -> bool:
    """Whether a turn is a mail that was passed on, or ends as one: "Cheers, Bob"."""
    if _FORWARDED.match(text):
        return True
    ends = _SIGNED_OFF.search(text[-80:]) is not None
    return ends or (_ANSWERED.match(text) is not None and "\n" in text.strip())


def own_words(text: str) -> str:
    """The lines of a turn that its speaker typed."""
    if is_mail(text):
        return ""
    if "```" in text:
        text = "".join(text.split("```")[::2])
    lines = text.split("\n")
    if len(lines) > 1:
        lines = _without_letters(lines)
    talked = _is_dialogue(lines)
    last = max((at for at, line in enumerate(lines) if line), default=-1)
    kept: list[str] = []
    for at, line in enumerate(lines):
        if PASTED.match(line) or _HEADING.match(line) or _greets(line, at + 1 < len(lines)):
            break
        if _LINE_OF_CODE.match(line) or _is_not_said(line):
            continue
        if talked and prefix(line):
            continue
        bullet = _BULLET.match(line)
        one = _SPACES.sub(" ", line[bullet.end() :] if bullet else line).strip()
        head, ends = _before_pasted(one, at < last, "\n" in text)
        kept.append(head)
        if ends:
            break
    return "\n".join(kept)


def _greets(line: str, more: bool) -> bool:
    """Whether a letter begins with it."""
    return more and line.rstrip().endswith(",") and _GREETS_ANOTHER.match(line) is not None


def _is_not_said(line: str) -> bool:
    """Words of somebody whose name stands behind them, or with gaps to fill."""
    if any(dash in line for dash in _DASHES) and _ASCRIBED.match(line):
        return True
    return ("___" in line or "......" in line) and _BLANK.search(line) is not None


def _before_pasted(line: str, more: bool, several: bool) -> tuple[str, bool]:
    """What of a line comes before pasted text, and whether such text is all that follows."""
    if ": " in line or " - " in line or "—" in line or "–" in line:
        for found in _THEN_FIRST.finditer(line):
            head = line[: found.start()].rsplit(". ", 1)[-1]
            dash = ":" not in found.group()
            handed = (_TREATS if dash else _HANDED).search(head) or _THIS.search(head)
            if dash and not handed:
                handed = re.fullmatch(TEXTS, head.strip(), _I)
            if handed:
                return line[: found.start()], True
            if not dash and not _OWN_COLON.search(head):
                return line[: found.start()], False
    if (several or ":" in line) and (asks := WORKED_ON.search(line)):
        colon = line.find(":", asks.start())
        if colon >= 0 or several:
            return (line if colon < 0 else line[:colon]), True
    if not any(word in line for word in _POINTERS):
        return line, more and _hands_over(line)
    if (found := _TREATS.search(line)) and (stop := _ENDS_THERE.match(line, found.end())):
        return line[: stop.end()], True
    return line, more and _hands_over(line)


def _hands_over(line: str) -> bool:
    """Whether a line that others follow points at them: "I found this on Reddit", "Job ad"."""
    if not line or len(line) > 160:
        return False
    if line.endswith(":"):
        return (
            _HANDED.search(line) is not None or _THIS.search(line) is not None or not _OWN_COLON.search(line)
        )
    if line.count(" ") < 4 and line[-1].isalnum() and not _STATES.match(line):
        return re.search(rf"\b{TEXTS}\b", line, _I) is not None
    if _THIS.search(line) is None:
        return False
    ended = line.endswith((".", "!"))
    return (not ended) if _STATES.match(line) else (not ended or _HANDED.search(line) is not None)


def _without_letters(lines: list[str]) -> list[str]:
    """Without what ends in somebody's signature; a first paragraph that asks something is kept."""
    for at in range(1, len(lines)):
        if not _SIGNS.match(lines[at]):
            continue
        named = at + 1 < len(lines) and _SIGNED_BY.match(lines[at + 1]) is not None
        if not named and "sent from" not in lines[at].lower():
            continue
        asked = lines[:1] if lines[0].rstrip().endswith(("?", ":")) else []
        return asked + lines[at + 2 :]
    return lines


def _is_dialogue(lines: list[str]) -> bool:
    return sum(1 for line in lines if ":" in line and prefix(line)) > 1
