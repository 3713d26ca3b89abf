"""English verbs as far as the rules need them: which form a word is, and the form after he or she."""

from recollect.mine.rules.wordlist import listed

_IRREGULAR = """
be was been|become became become|begin began begun|bite bit bitten|break broke broken
bring brought brought|build built built|buy bought bought|catch caught caught|choose chose chosen
come came come|cost cost cost|cut cut cut|deal dealt dealt|dig dug dug|do did done|draw drew drawn
drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed fed|feel felt felt
fight fought fought|find found found|fly flew flown|forget forgot forgotten|freeze froze frozen
get got gotten|give gave given|go went gone|grow grew grown|hang hung hung|have had had
hear heard heard|hide hid hidden|hit hit hit|hold held held|hurt hurt hurt|keep kept kept
know knew known|lead led led|leave left left|lend lent lent|let let let|lie lay lain|lose lost lost
make made made|mean meant meant|meet met met|pay paid paid|put put put|quit quit quit|read read read
ride rode ridden|ring rang rung|rise rose risen|run ran run|say said said|see saw seen|sell sold sold
send sent sent|set set set|shake shook shaken|shoot shot shot|shut shut shut|sing sang sung
sit sat sat|sleep slept slept|speak spoke spoken|spend spent spent|split split split
spread spread spread|stand stood stood|steal stole stolen|stick stuck stuck|swim swam swum
take took taken|teach taught taught|tear tore torn|tell told told|think thought thought
throw threw thrown|understand understood understood|wake woke woken|wear wore worn|win won won
write wrote written|rent rented rented|bet bet bet|bend bent bent|bleed bled bled|breed bred bred
lay laid laid|seek sought sought|shed shed shed|sew sewed sewn|swear swore sworn|sweep swept swept
weave wove woven|withdraw withdrew withdrawn
"""
_REGULAR = """
accept ache achieve add admire adopt adore agree aim allow analyse announce annoy apologise apply
appreciate argue arrange arrive ask assemble attend avoid babysit bake base battle believe belong
bike blog book borrow bother brew call calm camp cancel care carry cause celebrate change chat check
clean climb close coach code collect commute complete compose conduct consider consult contain
continue convert cook count crave create crochet cross cycle dance date decide decline decorate
deliver depend deploy design despise detest develop die dine direct discover discuss dislike donate
download dread dream drop drown dye earn edit email employ end engage enjoy enrol enroll enter
exercise expect experience expire explain explore fail fear finish fish fix focus follow freelance
fundraise gain garden graduate guess handle happen harvest hate head help hike hire homeschool hope
host hunt hurt identify illustrate imagine impress improve include inherit injure inspire install
intend intern interpret invest invite jog join jump kayak knit land last launch learn lift like limp
listen live look love maintain manage marry matter meditate mentor mind miss motivate move name need
negotiate notice offer open order organise organize oversee owe own pack paint park participate pass
perform photograph pick pitch plan plant play practice practise pray prefer prepare present produce
program promise promote propose publish pull purchase pursue raise reach realise realize receive
recommend record recover redeem reduce register relax release relocate remember remind renew
renovate rent repair replace rescue research resign retire return review row sail save scare
schedule score search serve share shop show sign sketch ski skip smoke snore snowboard solve sprain
start stay stop stream stress struggle study sublet submit subscribe suffer suggest supervise
support surf switch talk teach tend thank tour track trade train transfer translate travel treat try
turn type upgrade use view visit volunteer vote wait walk want wash watch weigh wish wonder work
worry wrap yearn settle emigrate scrap
"""


def _s(verb: str) -> str:
    if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        return verb + "es"
    if verb.endswith("y") and verb[-2:-1] not in ("a", "e", "i", "o", "u"):
        return verb[:-1] + "ies"
    return verb + "s"


_DOUBLED = listed(
    "babysit begin bet cut dig drop enrol forget get hit jog knit let plan prefer put quit refer rub "
    "run scrap set shed ship shop shut sit ski skip split stop swim ship tap trip win wrap chat"
)


def _stems(verb: str) -> tuple[str, str]:
    """With -ing and with -ed."""
    if verb in _DOUBLED and verb != "ski":
        return f"{verb}{verb[-1]}ing", f"{verb}{verb[-1]}ed"
    if verb.endswith("ie"):
        return f"{verb[:-2]}ying", f"{verb}d"
    if verb.endswith("e") and verb not in ("be", "see", "dye", "agree"):
        return f"{verb[:-1]}ing", f"{verb}d"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb}ing", f"{verb[:-1]}ied"
    return f"{verb}ing", f"{verb}d" if verb.endswith("e") else f"{verb}ed"


BASE: set[str] = set()
S_FORM: dict[str, str] = {"is": "be", "are": "be", "has": "have", "does": "do", "goes": "go"}
ING: dict[str, str] = {}
PAST: dict[str, str] = {"was": "be", "were": "be"}
PARTICIPLE: dict[str, str] = {"got": "get"}


def _fill() -> None:
    irregular = [entry.split() for line in _IRREGULAR.split("\n") for entry in line.split("|") if entry]
    for base, past, participle in irregular:
        BASE.add(base)
        PAST[past] = PARTICIPLE[participle] = base
    for base in _REGULAR.split():
        BASE.add(base)
        PAST[_stems(base)[1]] = PARTICIPLE[_stems(base)[1]] = base
    for base in BASE:
        S_FORM[_s(base)] = base
        ING[_stems(base)[0]] = base


_fill()
ALIKE = listed("read put set cut hit let quit cost hurt shut split spread bet shed")
"""Past and present look the same. Of these only "read" is more often said of a habit."""

_NO_ING = listed(
    "king thing nothing something anything everything interesting amazing exciting boring morning "
    "evening string spring ring wing sibling wedding bring sing during willing darling outgoing "
    "easygoing"
)
_NO_PAST = listed(
    "need feed speed bleed breed exceed succeed proceed embed indeed bed red shed weed seed deed "
    "hundred sacred excited interested bored tired worried concerned"
)


def third(verb: str) -> str:
    """As it is said of one person: love, loves."""
    return {"have": "has", "be": "is", "am": "is", "are": "is", "do": "does", "go": "goes"}.get(verb) or _s(
        verb
    )


def is_ing(word: str) -> bool:
    return word in ING or (word.endswith("ing") and len(word) > 5 and word not in _NO_ING)


def is_past(word: str) -> bool:
    return word in PAST or (word.endswith("ed") and len(word) > 3 and word not in _NO_PAST)


def is_participle(word: str) -> bool:
    return word in PARTICIPLE or is_past(word)


def lemma(word: str) -> str:
    """The dictionary form of a known verb, otherwise the word."""
    for forms in (ING, PAST, PARTICIPLE, S_FORM):
        if word in forms:
            return forms[word]
    return word


def is_finite(word: str) -> bool:
    """Whether a word can be the verb of somebody's sentence: lives, lived, is, will."""
    return word in S_FORM or word in _MODALS or is_past(word)


def is_verb(word: str) -> bool:
    """Whether a word is a form of a known verb that a sentence can be built on."""
    return word in S_FORM or word in PAST or word in BASE or word in _MODALS


_MODALS = listed(
    "is are was were has have had will won't can can't isn't aren't wasn't weren't hasn't haven't "
    "doesn't don't didn't does do did"
)
