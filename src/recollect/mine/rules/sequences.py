"""Steps as people tell them: as a list, as "first…, then…", as what they do whenever they do something."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from recollect.mine.rules.verbs import BASE, S_FORM, is_ing, is_past
from recollect.mine.rules.wordlist import listed

_I = re.IGNORECASE
_STEP_LENGTH = 160
_LINES = 40
IMPERATIVES = BASE | listed(
    "rinse scrub dry oil bump tag stop run open click press select enter install remove insert mix heat "
    "boil stir pour preheat turn set copy paste commit push pull merge restart reload update configure "
    "navigate log sign type save delete make put file name proof tighten loosen unplug plug rub wipe "
    "soak drain chop slice season fold whisk attach detach export import ensure gather measure cut sand "
    "apply download build test deploy start scroll tap choose go rebase squash lint sync archive zip unzip "
    "backup flush reset warm cool chill knead roll spread sprinkle serve simmer roast grill fry marinate "
    "weigh grind bloom steep press filter label stack sort scan upload share notify ping email double-check "
    "verify confirm approve reject assign close reopen post rename move drag edit format clear empty refill "
    "top descale prime coat screw unscrew drill hammer glue clamp level mark feed water prune repot mow rake "
    "stretch warm breathe lock unlock grab toss add draft send print staple sign book invoice bill pick fetch"
)
_NOT_STEPS = listed("i we it the there this that he she they my our you what how is are was who why")
_NO_ACTS = listed(
    "be have get want need think know feel like love hate thank hope wish guess mean not no yes and or "
    "but in on at from "
    "with of for by as if when so all each some any more most one two three a an your its his her their "
    "please here now "
    "go-to both only also still really very too just about over under out up down off"
)
_TO_ASSISTANT = re.compile(r"\bme\b|^(?:answer|explain|tell|reply|ask)\b", _I)
_REQUESTS = listed(
    "suggest find recommend plan give tell list help show explain book write make create order pick do"
)
_FOR = re.compile(r"(?:for|to)\b", _I)
_WITH_OBJECT = re.compile(
    r"[a-z-]+ (?:it|them|the|an?|my|our|your|all|each|every|up|down|out|off|in|into|from|to|with|on|back|"
    r"over|two|three|"
    r"four|\d+|until|for|twice|once)\b|[a-z]+$",
    _I,
)
_STEP_LINE = re.compile(
    r"^\s{0,6}(?:(?:step |schritt )?\d{1,2}\s?[.):-]|step \w+\s?[:.-]|[-*•–])\s+(?P<step>.+)$",
    _I | re.MULTILINE,
)
_MARKS = re.compile(r"[*_`#]+")
_INTRO = re.compile(
    r"(?P<when>(?:to|for|when(?:ever)?|before|after|if|how (?:i|we|to)|(?:(?:this|that|here)(?:'s| is) "
    r")?how (?:i|we|"
    r"to)|(?:my|our|the) (?:\w+ ){0,3}?(?:routine|process|procedure|workflow|recipe|method|checklist|"
    r"steps?|ritual|"
    r"protocol|way|approach|playbook|runbook|order)(?: (?:for|to|of|when|before|"
    r"after))?)\b[^.:?!\n]{0,80}):\s*(?:\n|$)",
    _I | re.MULTILINE,
)
_TITLE = re.compile(
    r"(?:this|that|here)(?:'s| is) (?=how\b)|^(?:my|our|the) (?:\w+ ){0,3}?(?:routine|process|procedure|"
    r"workflow|recipe|"
    r"method|checklist|steps?|ritual|protocol|way|approach|playbook|runbook|order) (?=(?:for|to|of|when|"
    r"before|after)\b)",
    _I,
)
_LEAD = re.compile(
    r"(?:(?:great|ok|okay|so|nice|and|right|note to self|remember|reminder|fyi|btw|by the way|also|well|"
    r"usually|"
    r"normally|basically|just so you know|for the record|please remember|tip|rule|good to know|for next "
    r"time)[,:]? "
    r"(?:that )?)*",
    _I,
)
_WHEN_DO = re.compile(
    r"(?P<when>(?:for|to|when(?:ever)?|if|before|after|every time|each time|any ?time|once)\b[^,:.?!]{2,80}?)"
    r"(?P<cut>[:,] |(?: |, )(?=(?:i|we|you) (?:\w+ly |always |just |first |need to |have to |must |should "
    r")*[a-z]+ ))"
    r"(?P<steps>[^?]{8,400})",
    _I,
)
_THE_WAY = re.compile(
    r"(?:the way (?:i|we) (?P<do>[^,:.?!]{2,60}?) is(?: to| that (?:i|we)| by)?:?|(?:here|this|that)(?:'s|"
    r" is) how (?:i|"
    r"we|to|you) (?P<how>[^,:.?!]{2,60}?):|how (?:i|we) (?P<also>[^,:.?!]{2,60}?):|(?:my|our|the) (?:\w+ "
    r"){0,2}?(?:routine|"
    r"process|procedure|workflow|recipe|method|checklist|ritual|protocol|trick|playbook|runbook) (?:for|"
    r"to|when) (?P<for>"
    r"[^,:.?!]{2,60}?)(?: is(?: to)?:?|:)) (?P<steps>[^?]{8,400})",
    _I,
)
_PERSON = re.compile(
    r"^(?:(?:and|but|then|so|also|now|next|finally|lastly|afterwards?|always|please|just|usually|"
    r"first(?:ly)?|second(?:ly)"
    r"?|third(?:ly)?|after that|you|i|we|you'll|need to|have to|must|should|"
    r"i've got to|it's|make sure to|be sure to|start by|begin by)\b[, ]*)+",
    _I,
)
_BETWEEN = re.compile(
    r"(?:[.;,]? +(?:and |& )?(?:then|next|after that|afterwards|finally|lastly|last but not least|"
    r"followed by|second(?:ly)?|"
    r"third(?:ly)?)\b(?! (?:day|week|month|year|morning|evening|time|to|coat|layer|one|again)\b),? *|; *| "
    r"?-> ?| ?→ ?|\. +(?=[A-Za-z])|,? but (?=\w)|, (?:and )?| and (?=(?:i |we |you )?[a-z']+(?: |$|[.!])))",
    _I,
)
_NEGATION = re.compile(r"(?:never|don't|do not|avoid|(?P<bare>not)(?: to)?)\s+", _I)
_GOES_ON = re.compile(r"[,\s]*(?:and)?[,\s]*")
_ANEW = re.compile(
    r"(?:please |also |just )*(?:always|never|don't|do not|not|then|make sure|be sure|i|we|you)\b", _I
)
_ORDERED = re.compile(
    r"\b(?:first|firstly|start by|begin by)\b.{3,300}?\b(?:then|next|after that|afterwards|finally|"
    r"second\w*|lastly|"
    r"before)\b|\bthen\b|->|→|\bafter that\b|\bfinally\b|\bbefore (?:you|i|we|\w+ing)\b",
    _I | re.DOTALL,
)
_BARE_FIRST = re.compile(r"(?:first(?:ly)?|step (?:1|one)|start by|begin by)\b[,:]? ", _I)
_GOAL = re.compile(
    r"\b(?:to|for|when(?:ever)?|how (?:i|we)) (?P<what>[a-z][^,:.?!\n]{2,60}?)[,:.]? *(?:\.|:|$)", _I
)
_ALWAYS = re.compile(
    r"(?:always|never|make sure to|be sure to|don't forget to|you (?:have|need) to|you must) "
    r"(?P<what>[a-z][^,.?!]{2,80}?) (?P<how>before|after|without) (?P<when>(?:you |i |we "
    r")?[a-z][^,.?!]{2,80})",
    _I,
)
_NEEDS = re.compile(
    r"(?P<what>\w+ing [\w' -]{0,40}?|(?:the|a|an) [\w -]{2,30}) (?:needs|requires|has to|only works) "
    r"(?P<how>[^.?!]{4,120}?),? "
    r"(?:otherwise|or else)\b(?P<or>[^.?!]{3,100})",
    _I,
)
_CHAT = re.compile(
    r"\b(?:for (?:example|instance|context|now)|if i (?:was|were|had|could)|to be|for me|to me|to you)\b", _I
)
_PAST = re.compile(r"\b(?:when i was|yesterday|last (?:week|month|year|night)|ago|if i were|would)\b", _I)


class Sequence(NamedTuple):
    context: str
    steps: tuple[str, ...]


def first_word(step: str) -> str:
    return re.sub(r"[^\w-].*", "", step.lower().strip(), flags=re.DOTALL)


def listed_steps(text: str, *, plain: bool = False) -> Sequence | None:
    """Lines with numbers or bullets under what they are for; `plain` ones need not be steps."""
    if "\n" not in text:
        return None
    lines = list(_STEP_LINE.finditer(text))[:_LINES]
    numbered = [line for line in lines if line.group().strip()[0] not in "-*•–"]
    chosen = numbered if len(numbered) > 1 else lines
    steps = [_MARKS.sub("", line["step"]).strip(" .:") for line in chosen][:12]
    intro = _INTRO.search(text[: chosen[0].start()]) if chosen else None
    if len(steps) < 2 or intro is None or not all(2 < len(step) <= _STEP_LENGTH for step in steps):
        return None
    acts = sum(1 for step in steps if _is_act(_PERSON.sub("", step)))
    if not plain and acts * 2 < len(steps):
        return None
    return Sequence(_context(intro["when"]), tuple(steps))


def inline_steps(text: str) -> Sequence | None:
    """Steps within a line: "whenever I deploy I run the tests, tag and push"."""
    for line in text.split("\n")[:8]:
        if len(line) < 16 or line.rstrip().endswith("?"):
            continue
        lead = _LEAD.match(line)
        line = line[lead.end() :] if lead else line
        found = _told(line) or _in_sentences(line)
        if found:
            return found
    return None


def _in_sentences(line: str) -> Sequence | None:
    """The same in a later sentence, after talk of something else."""
    for stop in list(re.finditer(r"[.!:] +", line))[:6]:
        rest = line[stop.end() :]
        lead = _LEAD.match(rest)
        if found := _told(rest[lead.end() :] if lead else rest):
            return found
    return None


def _told(line: str) -> Sequence | None:
    if _PAST.search(line[:120]):
        return None
    if way := _THE_WAY.match(line):
        goal = way["do"] or way["how"] or way["also"] or way["for"]
        context = f"for {goal}" if way["for"] and first_word(goal) not in BASE else f"to {goal}"
        steps = _steps(way["steps"])
        return Sequence(context, steps) if _is_steps(steps, 2) else None
    if found := _WHEN_DO.match(line):
        steps = _steps(found["steps"])
        told = found["cut"].strip() == "" or re.match(r"(?:i|we|you)\b", found["steps"], _I) is not None
        ordered = _ORDERED.search(found["steps"]) is not None
        loose = not ordered and (told or found["when"].lower().startswith("for "))
        asks = not told and steps and first_word(steps[0]) in _REQUESTS and _FOR.match(found["when"])
        if not asks and not _CHAT.match(found["when"]) and _is_steps(steps, 3 if loose else 2):
            return Sequence(_context(found["when"]), steps)
    if found := _ALWAYS.match(line):
        return _rule(found)
    if found := _NEEDS.match(line):
        return Sequence(
            f"for {found['what'][0].lower()}{found['what'][1:]}",
            (f"{found['how']} (otherwise{found['or']})",),
        )
    if _BARE_FIRST.match(line) and _ORDERED.search(line):
        steps = _steps(line)
        if _is_steps(steps, 3):
            return Sequence(_bare_context(steps), steps)
    return None


def _rule(found: re.Match[str]) -> Sequence | None:
    """Always back up before you migrate."""
    what, how, when = found["what"], found["how"], found["when"]
    bare = re.sub(r"^(?:you|i|we) ", "", when, flags=_I)
    if (
        not _is_act(what)
        or _TO_ASSISTANT.search(what)
        or not (bare != when or is_ing(first_word(when)) or _is_act(when))
    ):
        return None
    often = "never" if found.group().lower().startswith("never") else "always"
    return Sequence(f"to {what}" if how == "without" else f"{how} {when}", (f"{often} {what} {how} {when}",))


def _steps(text: str) -> tuple[str, ...]:
    text = re.split(
        r"\. (?=(?:that|this|it|in that order|thanks|otherwise|so|i|we|my|can|could|what|is|do)\b)",
        text,
        maxsplit=1,
        flags=_I,
    )[0]
    joined: list[str] = []
    for between, told in _parts(text):
        part = (
            _NEGATION.sub(_spelled, _PERSON.sub("", told), count=1)
            if _forbids(told)
            else _PERSON.sub("", told)
        )
        part = part.strip(" ,.!")
        if not part:
            continue
        if joined and _NEGATION.match(joined[-1]) and _GOES_ON.fullmatch(between) and not _ANEW.match(told):
            joined[-1] = (
                f"{joined[-1]}{between}{told}"  # what is forbidden may go on: "never push or tag, and merge"
            )
        elif joined and not _is_act(part):
            joined[-1] = f"{joined[-1]}, {part}"  # what is listed within a step
        else:
            joined.append(part)
    return tuple(step for step in joined if len(step) > 2)[:12]


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Each part with what stands before it."""
    between, start = "", 0
    for found in _BETWEEN.finditer(text):
        yield between, text[start : found.start()].strip(" ,.!")
        between, start = found.group(), found.end()
    yield between, text[start:].strip(" ,.!")


def _forbids(told: str) -> bool:
    return _NEGATION.match(_PERSON.sub("", told)) is not None


def _spelled(found: re.Match[str]) -> str:
    return "do not " if found["bare"] else found.group()


def _done(step: str) -> str:
    """A step without the negation that forbids it."""
    return _NEGATION.sub("", step, count=1) if _NEGATION.match(step) else step


def _is_act(step: str) -> bool:
    """Whether a step begins with what is to be done: a verb that is known, or a word with an object."""
    step = _done(step)
    word = first_word(step)
    if word in _NOT_STEPS or word in _NO_ACTS:
        return False
    return word in IMPERATIVES or is_ing(word) or _WITH_OBJECT.match(step) is not None


def all_acts(steps: Iterable[str]) -> bool:
    return all(_is_act(step) for step in steps)


def _is_steps(steps: tuple[str, ...], least: int) -> bool:
    if len(steps) < least or any(len(step) > _STEP_LENGTH for step in steps) or not _is_act(steps[0]):
        return False
    words = [first_word(_done(step)) for step in steps]
    return not any(word in S_FORM or (is_past(word) and word not in IMPERATIVES) for word in words)


def _context(when: str) -> str:
    when = _TITLE.sub("", when.strip(" ,"))
    when = (
        re.sub(r"^(?:my|our|the) (?=[\w -]+$)", "for the ", when, flags=_I)
        if not re.match(r"(?:to|for|when|before|after|if|how|every|each|any|once)", when, _I)
        else when
    )
    return re.sub(r"^of ", "for ", when)


def _bare_context(steps: tuple[str, ...]) -> str:
    return f"to {next((step for step in reversed(steps) if _done(step) == step), steps[-1])}"
