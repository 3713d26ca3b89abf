"""A question as the beginning of its answer: "What's my budget?" was answered by "My budget is …".

What is stored are statements, most of them in the first person, so a question turned into one lies nearer
to them, by words and by meaning. Rules for English; what they do not know stays a question.
"""

import re

LONGEST = 300

_BE = r"is|are|was|were|am"
_DO = r"do|does|did"
_HAVE = r"have|has|had"
_MODAL = r"can|could|will|would|should|must|might"
_AUX = rf"{_BE}|{_DO}|{_HAVE}|{_MODAL}"

_LEAD_IN = re.compile(
    r"(?:(?:please|hey|hi|hello|ok|okay|so|and|but|by the way|also|quick question|"
    r"(?:can|could|would|will) you (?:please )?(?:tell|remind) me|do you (?:still )?(?:remember|know|recall)|"
    r"remind me|tell me|i (?:was wondering|wonder|forgot|can't remember|don't remember)|any idea|(?:what|"
    r"how) about)[\s,:]{1,3})+",
    re.IGNORECASE,
)
_WH = re.compile(
    rf"(?P<wh>what|which|who|whom|where|when|why|how)(?P<about>(?: [\w-]+){{0,4}}?)"
    rf"(?:(?P<short>'s|'re)| (?P<aux>{_AUX})) (?P<rest>.+)",
    re.IGNORECASE,
)
_YES_NO = re.compile(rf"(?P<aux>{_AUX}) (?P<rest>.+)", re.IGNORECASE)
_BARE_WH = re.compile(
    r"(?:what|which|who|where|when|why|how)(?: (?:much|many|long|often))? (?P<rest>.+)", re.IGNORECASE
)
_TOPIC = re.compile(r"\b(?:about|regarding|concerning) (?P<topic>.+)", re.IGNORECASE)
_ADVERBS = re.compile(r"^(?:(?:already|ever|also|just|really|actually|usually|still|again) )+", re.IGNORECASE)
_MEASURE = re.compile(r"^(?:much|many|long|often|far|kind of|sort of|type of)\b ?", re.IGNORECASE)

_PRONOUNS = frozenset(re.findall(r"\w+", "i we you he she it they there this that who"))
_DETERMINERS = frozenset(
    re.findall(r"\w+", "my our your his her their the a an any some this that these those")
)
_ADJECTIVES = frozenset(
    re.findall(
        r"\w+",
        "new old first second last next best favorite favourite current previous little big older younger",
    )
)
_SAYING = frozenset(
    re.findall(r"\w+", "say tell mention ask discuss talk decide agree plan suggest recommend")
)
_MOVING = frozenset(re.findall(r"\w+", "go travel move fly drive walk head"))
_PARTICIPLE = re.compile(
    r"(?:\w+(?:ing|ed)|born|due|made|kept|bought|built|held|called|written|from)$", re.IGNORECASE
)

IRREGULAR: dict[str, str] = dict(
    re.findall(
        r"(\w+):(\w+)",
        "be:was become:became begin:began break:broke bring:brought build:built buy:bought catch:caught "
        "choose:chose come:came cost:cost cut:cut do:did draw:drew drink:drank drive:drove eat:ate fall:fell "
        "feel:felt find:found fly:flew forget:forgot get:got give:gave go:went grow:grew have:had hear:heard "
        "hold:held hurt:hurt keep:kept know:knew leave:left lend:lent let:let lose:lost make:made mean:meant "
        "meet:met pay:paid put:put read:read ride:rode ring:rang run:ran say:said see:saw sell:sold "
        "send:sent "
        "set:set show:showed shut:shut sing:sang sit:sat sleep:slept speak:spoke spend:spent stand:stood "
        "start:started steal:stole swim:swam take:took teach:taught tell:told think:thought throw:threw "
        "understand:understood wake:woke wear:wore win:won write:wrote",
    )
)


def statement(question: str) -> str | None:
    """The question as a statement with its answer missing, or None if it is not one that can be turned."""
    text = " ".join(question.replace("\u2019", "'").split()).rstrip(" ?.!")
    lead = _LEAD_IN.match(text)
    text = text[lead.end() :] if lead else text
    if not text or len(text) > LONGEST:
        return None
    if found := _WH.fullmatch(text):
        turned = _from_wh(found)
    elif found := _YES_NO.fullmatch(text):
        turned = _turned(found["aux"].lower(), found["rest"])
    elif found := _BARE_WH.fullmatch(text):
        turned = found["rest"]  # who gave me the book; (remind me) what my budget is
    else:
        return None
    turned = " ".join(turned.split())
    return turned if " " in turned else None


def _from_wh(found: re.Match[str]) -> str:
    wh, rest = found["wh"].lower(), found["rest"]
    about = _MEASURE.sub("", found["about"].strip())
    aux = (found["aux"] or ("are" if found["short"] == "'re" else "is")).lower()
    if wh == "who" and found["about"]:  # who gave me what is in the box
        return f"{found['about']} {aux} {rest}"
    if aux in _BE.split("|"):
        return _being(wh, about, aux, rest)
    verb = _verb(rest)
    topic = _TOPIC.search(rest)
    if verb in _SAYING and topic:
        return topic["topic"]
    placed = re.search(r" (?:to|in|at|from)\b", rest) is not None  # where did I go to school
    where = "to" if verb in _MOVING else "in"
    tail = {"where": "" if placed else where, "when": "on", "why": "because"}.get(wh, "")
    return f"{_turned(aux, rest)} {about} {tail}"


def _being(wh: str, about: str, aux: str, rest: str) -> str:
    """What is X: X is. Where is X: X is in."""
    subject, said = _split(rest)
    tail = {"where": "in", "when": "on", "why": "because"}.get(wh, "")
    if said and _PARTICIPLE.match(said.split()[0]):
        return f"{subject} {aux} {said} {about} {tail}"
    if about and wh != "how":  # what colour is my car: my car colour is
        return f"{rest} {about} {aux} {tail}"
    return f"{rest} {aux} {about} {tail}"


def _turned(aux: str, rest: str) -> str:
    """Subject first: did I buy it, I bought it; have I paid, I have paid."""
    subject, said = _split(rest)
    said = _ADVERBS.sub("", said)
    if aux not in _DO.split("|"):
        return f"{subject} {aux} {said}"
    verb, _, other = said.partition(" ")
    if aux == "did":
        verb = past(verb)
    elif aux == "does" and verb:
        verb = f"{verb}es" if verb.endswith(("s", "sh", "ch", "x", "o")) else f"{verb}s"
    return f"{subject} {verb} {other}"


def _verb(rest: str) -> str:
    return _split(rest)[1].partition(" ")[0].lower()


def _split(rest: str) -> tuple[str, str]:
    """The subject and what is said of it, as far as the first words show it."""
    words = rest.split(" ")
    count = 1
    first = words[0].lower()
    if first in _DETERMINERS and (first not in _PRONOUNS or len(words) > 2):
        count = 2
        while count < len(words) and (
            words[count - 1].lower() in _ADJECTIVES or words[count - 1].endswith(("'s", "s'"))
        ):
            count += 1
    elif first not in _PRONOUNS:
        while count < len(words) and (words[count][:1].isupper() or words[count - 1].endswith("'s")):
            count += 1
    return " ".join(words[:count]), " ".join(words[count:])


def past(verb: str) -> str:
    """The past tense of a verb."""
    lowered = verb.lower()
    if lowered in IRREGULAR:
        return IRREGULAR[lowered]
    if not verb or lowered.endswith("ed"):
        return verb
    if lowered.endswith("e"):
        return f"{verb}d"
    if re.fullmatch(r"\w*[^aeiou]y", lowered):
        return f"{verb[:-1]}ied"
    if re.fullmatch(r"[^aeiou]{1,3}[aeiou][^aeiouwxy]", lowered):
        return f"{verb}{verb[-1]}ed"
    return f"{verb}ed"
