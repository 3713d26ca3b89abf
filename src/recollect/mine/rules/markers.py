"""The words that show what a sentence is: asked, supposed, quoted, played, pasted, commanded, or meant."""

import re
from collections.abc import Callable

from recollect.mine.rules.wordlist import listed

_I = re.IGNORECASE


def _marker(hints: str, pattern: str) -> Callable[[str], bool]:
    """Whether a text has the pattern. A search costs far more than a look for letters it must have."""
    letters, compiled = tuple(hints.split("|")), re.compile(pattern, _I)

    def has(text: str) -> bool:
        low = text.lower()
        for hint in letters:  # a loop, for any() takes twice as long
            if hint in low:
                return compiled.search(text) is not None
        return False

    return has


injects = _marker(
    "access|rights|privileg|ignore|disregard|forget|overrid|note to|memory|a fact|<|system|you are now",
    r"\b(?:ignore|disregard|forget|override)\b.{0,30}\b(?:instructions?|prompts?|rules|guidelines)\b"
    r"|\bnote to (?:the )?(?:assistant|ai|model)\b|\b(?:store|save) (?:this |that |it )?(?:in|to|as) "
    r"(?:your |a |the )?"
    r"(?:memory|fact)\b|</?(?:system|instructions?)>|\bsystem prompt\b|\byou are now\b|\bforget "
    r"everything\b|\b(?:full|root|admin\w*|superuser) (?:access|rights|privileges)\b|\bsystem override\b",
)
plays = _marker(
    "be my |answer as|respond as|talk like|speak like|d&d|my character|role|pretend|practi|interview|i "
    "play|play |act |in character|s play|you are|you're|you will be|be my|"
    "play my|i'll be|i will be|"
    "i'll play",
    r"\bbe my (?:\w+ ){1,2}?(?:teacher|tutor|coach|therapist|boss|doctor|interviewer|girlfriend|boyfriend|"
    r"guide)\b|"
    r"\b(?:answer|respond|reply|talk|speak) (?:as|like) [A-Z][a-z]|\bd&d\b|\bmy character(?:'s)? \w+|"
    r"\brole-?\s?play(?:ing)?\b|\bpretend\b|\bact (?:as|like) (?:a|an|if|though|my)\b|\bin character\b"
    r"|\blet's play\b|\b(?:let me|i want to|help me) practi[sc]e\b|\bmock interview\b|\bi(?:'ll| will)? "
    r"play (?:somebody|someone|the (?:role|part|customer)|a character)\b"
    r"|\byou(?:'re| are| will be) (?:the|an?|my) [\w -]{2,30}(?:[.,;!]| and)+ i(?:'m| am|'ll be| will be) "
    r"(?!\w+ing\b)"
    r"|\bi(?:'ll| will) (?:be|play) (?:a|an|the) .{0,40}\bcharacter\b|\b(?:be|play) my (?!own)\w+ (?:and|"
    r"in a)\b",
)
plays_on = _marker(
    "d&d|my character|role|pretend|practi|interview|play|act |in character|you are|you're|you will be|"
    "i'll be|i will be|i'm |i am ",
    r"\bd&d\b|\bmy character(?:'s)? \w+|\brole-?\s?play(?:ing)?\b(?! games?)|\blet's (?:pretend|play)\b|"
    r"(?:^|[.!?,:] |please |now |so |and |just |you |we )pretend(?: that| like)? (?:i|we|my|our)\b|"
    r"\bin character\b|\bmock interview\b|"
    r"\b(?:let me|i want to|help me) practi[sc]e\b|\bi(?:'ll| will)? "
    r"play (?:somebody|someone|the (?:role|part|customer)|a character)\b"
    r"|\byou(?:'re| are| will be|'ll be) (?:the|an?|my) [\w -]{2,30}(?:[.,;!]| and)+ "
    r"i(?:'m| am|'ll be| will be) (?!\w+ing\b)"
    r"|\b(?:act|pretend|answer|respond|talk|speak)\b[^.!?]{2,60}(?:[.,;!]| and) "
    r"i(?:(?:'m| am) (?:the|your)|(?:'ll| will) (?:be|play) (?:the|your|an?))\b"
    r"|\bi(?:'ll| will) (?:be|play) (?:a|an|the) .{0,40}\bcharacter\b",
)
"""The speaker plays somebody, so what they say next is played as well."""
ends_play = _marker(
    "character|stop|end |reality|by the way|btw|anyway|note|topic|question|back to|unrelated|for real|"
    "in real|seriously|serious now|move on|was fun|for playing|something else",
    r"\b(?:by the way|btw)\b|^(?:ok(?:ay)?|so|well|right)?[,. ]*anyways?\b|"
    r"\bon (?:another|a (?:different|serious|real)) note\b|"
    r"^(?:ok(?:ay)?[,. ]+)?(?:now )?(?:new|another|different|change of|quick) (?:topic|subject|question)\b|"
    r"\bchang(?:e|ing) the (?:topic|subject)\b|"
    r"^(?:ok(?:ay)?[,. ]+)?(?:now )?back to (?:my|the|our|work|real)\b|\bunrelated\b|\bfor real(?: now)?\b|"
    r"\bin (?:real|actual) (?:life|fact)\b|^(?:ok(?:ay)?[,. ]+)?(?:but )?seriously\b|\bserious now\b|"
    r"\blet's move on\b|\bsomething else\b|"
    r"\bthat was fun\b|\b(?:thanks|thank you) for (?:playing|the (?:role|game|practi[sc]e))|"
    r"\b(?:out of character|stop (?:the )?(?:role-?\s?play|pretending)|end (?:of )?(?:the )?"
    r"(?:scene|role-?\s?play)|back to reality)\b",
)

_TALE = (
    r"(?:stor(?:y|ies)|poem|song|lyrics|rap|haiku|screenplay|script|dialogue|monologue|scene|novel|"
    r"chapter|essay|"
    r"speech|toast|eulogy|fanfic\w*|fiction|persona|backstory|character|sketch|joke|limerick)"
)
_WRITING = (
    r"(?:e-?mail|letter|message|text|reply|response|note|bio|biography|profile|resume|cv|tweet|post|"
    r"caption|review|"
    r"blog|article|ad|advert|description|statement|diary|journal entry|paragraph|testimonial|prompt|"
    r"complaint|"
    r"invitation|proposal|memo|vows?)"
)
writes = _marker(
    "lyrics|write|draft|compose|create|generate|make up|invent|come up|tell me|give me|help me|craft|word|"
    "style "
    "of|voice of|"
    "first|story|novel|sitcom|screenplay|game|play|campaign|need |continue|finish|prepare",
    rf"\b(?:write|draft|compose|craft|word)\b(?! down)[^.?!]{{0,60}}\b(?:{_TALE}|{_WRITING})s?\b"
    rf"|\b(?:create|generate|make up|invent|come up with|tell me|give me|help me|prepare|continue|"
    rf"finish)\b[^.?!]{{0,40}}"
    rf"\b{_TALE}s?\b"
    rf"|\blyrics\b[^.?!]{{0,20}}\bfor\b|\bneed (?:an? |some |the |me )?(?:\w+ )?{_TALE}\b"
    rf"|\bin the (?:style|voice) of\b|\bfirst[- ]person\b"
    rf"|\b(?:for|in) (?:a|my|the) (?:story|novel|sitcom|screenplay|game|play|character|campaign)\b",
)
hands_over = _marker(
    "improve|polish|edit|fix|following|wrong with|review|rewrite|translate|proof|phrase|reword|summari|"
    "transcribe|correct my|check my|grammar",
    r"\b(?:improve|polish|edit|fix|check|review|correct|rewrite) (?:this|the following|my) (?:\w+ "
    r")?(?:bio|text|sentence|"
    r"essay|paragraph|e-?mail|letter|message|story|draft|writing|grammar|cv|resume|profile)\b|"
    r"\bwrong with (?:this|my) (?:sentence|text|paragraph)\b|\bthe following text\b|\b(?:translate|"
    r"proof-?read|paraphrase|rephrase|reword|summari[sz]e|transcribe|correct my|check my "
    r"(?:grammar|"
    r"english|spelling|writing))\b",
)
WORKED_ON = re.compile(
    r"\b(?:translate|translation|summari[sz]e|proof-?read|rewrite|rephrase|paraphrase|reword|correct|"
    r"grammar|improve|edit|"
    r"polish|review|analy[sz]e|check|shorten|simplify|reply to|respond to|classify|extract|explain|fix|"
    r"tone|debug|"
    r"this (?:e-?mail|text|file|article|code|log|message|paragraph|page|letter|passage|error|snippet|"
    r"document|fail\w*)|"
    r"(?:the )?following|below|here(?:'s| is| are) (?:the|my|an?|what))\b",
    _I,
)
PASTED = re.compile(
    r"^\s*(?:-{3,}|={3,}|\*{3,}|_{3,}|#{3,}|<\w+>|begin\b|(?:hi|hello) [\w ]{1,30},\s*$|dear "
    r"[\w .]{1,30},|(?:lyrics|quote|example|sample|input|output|text|caption|subject|title|prompt|user "
    r"story|poem|tweet|e-?mail|letter|message|dialogue|q|a)\b[^:\n]{0,20}:)",
    _I,
)
ASKS = re.compile(
    r"(?:(?:ok|okay|so|and|but|also|well|hey|hi|hello|then|hmm?|um|please|quick question|"
    r"question)[,:]?\s+){0,3}"
    r"(?:(?:do|does|did|am|is|are|was|were|can|could|would|will|should|shall|may|might|have|has|had|isn't|"
    r"aren't|don't|"
    r"doesn't|didn't|can't|couldn't|wouldn't|shouldn't|won't) (?:i|you|he|she|it|we|they|there|the|my|"
    r"this|that|these|"
    r"those|any|anyone|anybody|someone|people|our|your|a|an)\b|(?:what|who|whom|whose|which|why|"
    r"how)\b(?!ever)|"
    r"where(?:'s| is| are| do| does| did| can| should| would| to)\b|when (?:is|are|do|does|did|can|should|"
    r"would|will|was)\b|"
    r"any (?:idea|ideas|advice|tips|suggestions|thoughts|recommendations|chance|good|other)\b)",
    _I,
)
ASKS_INSIDE = re.compile(
    r"(?:,|\s-|\s—|\band|\bbut|\bso|;)\s+(?:(?:do|does|did|can|could|would|will|should|is|are|am|was|were|"
    r"have|has) "
    r"(?:i|you|it|we|they|there|the|this|that|he|she|my|anyone|any)\b|(?:what|which|why|how|who)(?:'s)?\b|"
    r"where(?:'s| is| do| can)\b|any (?:idea|ideas|advice|tips|suggestions|thoughts|recommendations|good)\b)",
    _I,
)
TAG = re.compile(
    r"(?:,|\bor)\s*(?:right|correct|no|eh|huh|yes|isn't it|don't i|aren't i|am i|do i|not)\s*\?+$", _I
)

SUPPOSES = re.compile(
    r"(?:(?:and|but|so|ok|okay|well|now|or|also|then|even)[, ]+)?(?:if|unless|suppose|supposing|imagine|"
    r"assume|assuming|"
    r"let's (?:say|assume|imagine|pretend)|say i|what if|were i|had i|in case|provided|hypothetically|in "
    r"theory|picture this|visuali[sz]e|for "
    r"the sake of argument|"
    r"would be|"
    r"wouldn't it|i wish|i'd wish|wish i|if only|in an ideal world|in a dream|in my dream)\b",
    _I,
)
SUPPOSES_ALL = re.compile(
    r"(?:(?:and|but|so|ok|okay|well|now)[, ]+)?(?:suppose|supposing|imagine|assume|let's (?:say|assume|"
    r"imagine|"
    r"pretend)|hypothetically|picture this|visuali[sz]e|for the sake of argument|hypothetical)\b",
    _I,
)
"""With which the rest of a turn is supposed as well, unless the sentence ends the thought."""
CONCLUDES = re.compile(r"\b(?:would|i'd|we'd|you'd)\b|\?", _I)
WITH_IF = re.compile(r"\b(?:if|whether|unless|as though|in case|as long as|provided)\b", _I)
REPORTS = re.compile(
    r"\b(?:said|say|saying|put it|reads|says|told|tells|asked|asks|wrote|writes|replied|thinks|claims|"
    r"claimed|believes|insists|"
    r"texted|goes|"
    r"shouted|screamed|announced|quipped|was like|is like|according to|argues|suggested|suggests)\b",
    _I,
)
SAID_BY = re.compile(
    r",\s*(?:(?:said|says|told me|claims|claimed|wrote|thinks|insists|goes|announced|texted) "
    r"(?:(?:my|our|his|her|their|the|an?) \w+|(?-i:[A-Z])\w+)(?: \w+){0,2}|"
    r"(?:(?:my|our|his|her|the) [\w-]+(?: (?-i:[A-Z])\w+)?|(?-i:[A-Z])\w+|he|she|they) "
    r"(?:said|says|tells? me|told (?:me|us)|claims|claimed|wrote|thinks|insists|texted(?: me)?))[.!…\s]*$",
    _I,
)
"""Words of somebody who is named behind them."""
TAKES_BACK = re.compile(
    r"(?:(?:ha(?:ha)+|hehe|lol|nah|no|ok|okay|but|sorry|wait|psych)[,.! ]+)*(?:(?:i'm|i am|i was|we're) )?"
    r"(?:(?:just|only|totally|obviously) )*(?:kidding|joking|jk|j/k|messing with you|pulling your leg|"
    r"teasing)\b",
    _I,
)
"""What comes before it was not meant."""
NOT_BUT = re.compile(
    r"(?P<what>(?:my|our) [\w' -]{2,40}?) (?:isn't|is not|aren't|are not) (?P<old>[^,;.]{1,40}?)[,;]? "
    r"(?:it's|it is|they're|they are|but(?: rather| it's|(?= an? | (?-i:[A-Z\d€$£])))) (?P<new>"
    r"(?!(?:not|i|we|my|she|he|the)\b)"
    r"[\w'€$£](?:[^,;!?]|,(?=\d)){0,40}?)(?=[.!]*$)",
    _I,
)
"""My name isn't Bob, it's Rob."""
COMMANDS = listed(
    "please make give tell show help write find explain list let use add remove create remind recommend "
    "suggest keep be stop don't do try compare describe provide generate include send set put look "
    "check open run thank thanks thx ok okay yes no sure great cool nice hi hello hey bye perfect sorry "
    "wow hmm good awesome interesting lol haha name define calculate convert translate summarise "
    "summarize rewrite draft compose review fix debug book order call play schedule cancel change sort "
    "rank walk teach consider assume note ignore forget leave"
)

LEAD = re.compile(
    r"(?:(?:oh|ok|okay|so|well|and|but|also|hi|hey|hello|hi there|yes|yeah|yep|no(?=[,.!-])|nope|hmm?|um|"
    r"uh|ugh|wow|"
    r"haha|lol|btw|"
    r"by the way|fyi|for the record|for context|for what it's worth|just so you know|please (?:remember|"
    r"note)|remember|"
    r"note|keep in mind|just to (?:clarify|add)|anyway|anyways|honestly|frankly|to be honest|tbh|in fact|"
    r"as you know|"
    r"as i said|you know|you see|look,|listen,|basically|quick one|thanks|thank you|great|cool|nice|sure|"
    r"speaking of (?:which|that)|oh and|plus|then|now|because|since|although|though|even though|"
    r"unfortunately|"
    r"luckily|fortunately|sadly|interestingly|funny enough|first of all|to be fair|i mean|the thing is|"
    r"also|additionally|however|otherwise|instead|as(?! an? | someone)|while|the reason is|i told you|i "
    r"(?:already )?mentioned|"
    r"i should mention|i forgot to (?:say|mention)|i have to (?:say|admit)|i must (?:say|admit)|i admit|"
    r"it turns out|turns out|the truth is|truth is|i know|i'm (?:pretty )?sure|i know for sure|obviously|"
    r"clearly|"
    r"of course|good (?:morning|evening|afternoon)|hopefully|"
    r"on another note|on a (?:different|side|related) note|for instance|for example|in my case|personally|"
    r"alright|right|"
    r"to be precise|lastly|finally,|secondly|firstly|dear \w+)"
    r"(?:,| -|:|!|\.\.\.)?(?:\s+that(?=\s+(?:i|my|we|our)\b))?\s+)+",
    _I,
)
CORRECTS = re.compile(
    r"(?:(?:oh|wait|ah|ok|hmm|oops|um)[,! ]+)*(?:(?:actually|no(?=[,!.])|nope(?=[,!.])|wait,? no|wait|sorry|"
    r"correction|"
    r"scratch that|my mistake|my bad|oops|to be precise|rather|in fact|i mean,?|i meant|not quite|that's "
    r"wrong|"
    r"that's not right|i misspoke|let me correct (?:that|myself)|make that|on second "
    r"thou?ght|make it (?=[\d$€£])|i should have said)\b[,:.!]?\s*(?:-\s*)?){1,3}",
    _I,
)
HEDGES = re.compile(
    r"(?:i (?:think|guess|believe|suppose|suspect|reckon|assume)|i'm (?:not (?:entirely |totally |"
    r"completely )?sure,? but|"
    r"guessing|assuming)|maybe|perhaps|probably|possibly|as far as i (?:know|remember)|if i remember "
    r"(?:right|correctly),?|"
    r"i feel like|it seems(?: like)?|apparently|supposedly|it might be that)(?:,| that(?= (?:i|my|we|"
    r"our)\b))?\s+"
    r"(?=(?:i|my|we|our|i'm|i've)\b)",
    _I,
)
HEDGED_INSIDE = re.compile(r"\b(?:probably|maybe|perhaps|possibly|i think|i guess|i suppose|not sure)\b", _I)
