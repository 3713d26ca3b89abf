"""In which words answers are praised, blamed and wished for, and how that is told.

`{what}` stands for what was said, `{user}` for who said it. What is only said of one answer, and bare
commands, count after an answer; what says "next time" or "I'd rather you" counts anywhere.
"""

import re
from typing import NamedTuple

_I = re.IGNORECASE


WORD = re.compile(r"[a-z']+")


class Verdict(NamedTuple):
    words: frozenset[str]
    """Of which one must be there."""
    pattern: re.Pattern[str]
    told: str
    after: bool
    """Only after an answer."""


def _verdict(hints: str, pattern: str, told: str, *, after: bool = True) -> Verdict:
    words = frozenset(max(WORD.findall(hint), key=len) for hint in hints.split("|"))
    return Verdict(words, re.compile(pattern, _I), told, after)


_LEAD = (
    r"(?:(?:please|pls|ok|okay|and|but|so|also|hm+|well|oh|no|yes|yeah|thanks|thank you|sorry|nice|great|"
    r"good|cool|btw|by "
    r"the way|hey|ugh|fyi|just|maybe|perhaps|honestly|actually|one thing|small thing|a note|"
    r"feedback)[,!.:]* )*"
)
_MANNER = (
    r"(?:long(?:-winded)?|short|brief|terse|formal|informal|casual|chatty|technical|vague|generic|wordy|"
    r"verbose|complicated|"
    r"complex|simplistic|simple|basic|detailed|stiff|general|harsh|blunt|salesy|enthusiastic|cheerful|dry|"
    r"cold|robotic|"
    r"condescending|patroni[sz]ing|preachy|repetitive|confusing|superficial|shallow|dense|rambling|cheesy|"
    r"pushy|academic|"
    r"flowery|bland|boring|corporate|polite|apologetic|cautious|over the top|hard to (?:read|follow)|"
    r"unclear|abstract|fluffy|"
    r"impersonal|sloppy|messy|cluttered|theoretical|advanced|scattered|one-sided|optimistic|cutesy|sugary|"
    r"stilted)"
)
_ANSWER = (
    r"(?:answers?|repl(?:y|ies)|responses?|explanations?|summar(?:y|ies)|messages?|lists?|write-?ups?|"
    r"overviews?|breakdowns?|"
    r"recommendations?|suggestions?|tone|style|wording|formatting|output)"
)
_DO = (
    r"(?:use|give|show|cite|include|answer|check|ask|add|write|tell|start|reply|call|put|explain|keep|"
    r"skip|avoid|mention|"
    r"link|quote|list|lead|stick|format|summari[sz]e|provide|translate|respond|be|begin|end|limit|leave|"
    r"drop|focus|point|"
    r"warn|remind|suggest|compare|name|make|go|talk|speak|address|say|send|stop|try|assume|wrap|highlight|"
    r"bold|number|split|"
    r"break|walk|offer|double-check|verify|state|spell|round|convert|present|structure|draft|spare|just|"
    r"only|first|always|"
    r"never|don't|do not|no|not)"
)
_TO_COME = r"(?:next time|from now on|in (?:the )?future|going forward|from here on|henceforth|in general)"

VERDICTS = (
    _verdict(
        "always|never",
        rf"^{_LEAD}(?:can|could|would|will) you (?:please )?(?P<what>(?:always|never) {_DO}\b[^?]{{3,140}})",
        "{user} wants the assistant to {what}.",
        after=False,
    ),
    _verdict(
        "your |answers|explanations|replies|responses",
        rf"^{_LEAD}i (?:really |usually |generally |always )*(?:prefer|like|want|need|love|would like|'d "
        rf"like) (?P<what>[^?.!]{{3,60}}? (?:in|"
        rf"from|for) your {_ANSWER}|(?:my|your) (?:{_ANSWER}|code|examples) [^?.!]{{3,60}})",
        "{user} prefers {what}.",
        after=False,
    ),
    _verdict(
        "be more|be less|be a bit|be a little|more |less ",
        rf"^{_LEAD}(?:can you |could you |would you |you (?:can|could|should|may) |try to )*(?P<what>be "
        rf"(?:a (?:bit|little|tad) |way |much )?"
        rf"(?:more|less) (?:{_MANNER}|direct|honest|critical|specific|precise|friendly|concrete|careful|"
        rf"creative|personal|relaxed|"
        rf"straightforward|practical|encouraging|serious|positive|negative|sarcastic|"
        rf"dramatic)\b[^?]{{0,60}})",
        "{user} wants the assistant to {what}.",
    ),
    _verdict(
        "rather|prefer|like it|appreciate|happier|love it",
        r"\bi(?:'d| would)? (?:much |really |strongly |generally |usually )*(?:rather|prefer(?: it)?(?: "
        r"if| that)?|appreciate "
        r"it if|like it (?:if|better if|more if)|love it if|be happier if) you(?:'d| would)? (?:just "
        r")?(?P<what>(?:didn't|"
        r"don't|not|never|\w+)\b[^?]{3,140})",
        "{user} would rather the assistant {what}.",
        after=False,
    ),
    _verdict(
        "next time|from now on|future|going forward|here on|henceforth|in general",
        rf"^{_LEAD}{_TO_COME}[,:]? (?:please |could you |can you |would you |i'd like you to |i want you "
        rf"to |i'd like |i want |try "
        rf"to |remember to |make sure to |you should |you can )*(?P<what>{_DO}\b[^?]{{3,160}})",
        "{user} wants the assistant to {what} from now on.",
        after=False,
    ),
    _verdict(
        "next time|from now on|future|going forward|here on|henceforth",
        rf"^{_LEAD}(?:could you |can you |would you |i'd like you to |i want you to |try to "
        rf")*(?P<what>{_DO}\b[^?]{{3,140}}?),? "
        rf"(?:{_TO_COME})\b",
        "{user} wants the assistant to {what} from now on.",
        after=False,
    ),
    _verdict(
        "when you|whenever you|every time you|if you",
        rf"^{_LEAD}(?:when(?:ever)?|every time|if|each time) you (?P<when>(?:answer|explain|write|give|"
        rf"summari[sz]e|recommend|"
        rf"suggest|reply|respond|show|list|quote|send|draft|code|translate|compare|mention|use|present|"
        rf"make|propose|correct|"
        rf"cite|tell)\b[^,?]{{0,60}}), (?:please |always |just |could you |can you |i'd like you to "
        rf")*(?P<what>{_DO}\b"
        rf"[^?]{{3,140}})",
        "When the assistant {when}, {user} wants it to {what}.",
        after=False,
    ),
    _verdict(
        "like it when|love it when|hate it when|like when|love when|hate when|stand it when|annoys me|"
        "bothers me|bugs me",
        r"\bi (?:really |just |also |actually )?(?P<no>hate|don't like|dislike|can't stand|like|love|"
        r"appreciate|prefer)(?: it)? "
        r"when you (?P<what>(?!said|say\b|are\b|were\b)[a-z]+ [^?]{3,120})",
        "{user} {likes} it when the assistant {what}.",
        after=False,
    ),
    _verdict(
        "annoys|bothers|bugs|irritates|puts",
        r"\b(?:it|what) (?:annoys|bothers|bugs|irritates|puts) me (?:off )?(?:when|that|is (?:when|that)) "
        r"you (?P<what>[^?]{3,120})",
        "{user} does not like it when the assistant {what}.",
        after=False,
    ),
    _verdict(
        "kind of|sort of|type of|how i like|the way i like",
        rf"\b(?:that|this|these)(?:'s| is| are| was)? (?:exactly |precisely |just )?(?:the|my) (?:kind|"
        rf"sort|type|favou?rite kind) of "
        rf"(?P<what>{_ANSWER}[^?.!]{{0,80}})|\b(?:that|this)(?:'s| is) (?:exactly |just )?(?P<also>(?:how|"
        rf"the way) i (?:like|want|"
        rf"prefer|need)[^?.!]{{0,60}})",
        "{user} said that this is the kind of answer they like: {what}.",
    ),
    _verdict(
        "answers like|replies like|keep doing|keep th|keep writing|keep answering|keep explaining|keep "
        "it up|keep using|keep giving",
        r"\b(?P<what>(?:more (?:answers|replies|explanations) like (?:this|that|these|those)|keep "
        r"(?:doing|using|giving|"
        r"writing|answering|explaining|including|adding|it (?:like this|up|this way)|(?:this|that) "
        r"(?:format|style|tone|length|level))\b)[^?.!]{0,100})",
        "{user} liked the answer and wants it so again: {what}.",
    ),
    _verdict(
        "works for me|works well|works best|easier to|easy to|clear|helpful|helped|great|perfect|love|"
        "like|spot on|ideal|nice|good|"
        "brilliant|excellent|useful|appreciate",
        r"\b(?:the|that|this|your|those|these) (?P<what>(?:[\w-]+ )?(?:tables?|lists?|summar(?:y|ies)|"
        r"breakdown|format|diagrams?|"
        r"examples?|steps|step-by-step|analog(?:y|ies)|comparisons?|outline|explanation|charts?|structure|"
        r"short version|bullets|"
        r"bullet points|headings|links|sources|code snippets?|snippets?|tone|length|pace|level of detail|"
        r"metaphors?|layout|tl;?dr)"
        r"(?: \w+ing| with [\w ]+?| at the (?:end|top|start))? (?:really |just |actually )?(?:helped|"
        r"helps|was|were|is|are|made|"
        r"makes|worked|works|hit)\b(?! (?:not|wrong|too|missing|incorrect|broken|confusing|unclear|"
        r"n't))[^?.!]{0,80})",
        "{user} liked about the answer: the {what}.",
    ),
    _verdict(
        "love|like|appreciate|great|enjoy",
        r"(?:\bi |^)(?:really |just |also |especially )?(?:love|loved|like|liked|appreciate|appreciated|"
        r"enjoy|enjoyed) (?P<what>(?:how|"
        r"that|the way|when) you[^?.!]{3,120}|(?:the|your) (?:[\w-]+ ){0,2}?(?:tables?|answers?|"
        r"repl(?:y|ies)|explanations?|summar(?:y|ies)|tone|style|wording|format\w*|bullets|bullet points|"
        r"headings|examples?|analog\w+|"
        r"structure|brevity|humou?r|directness|honesty|level of detail)\b(?! (?:in|at|from|of) (?:my|"
        r"our))[^?.!]{0,80})",
        "{user} liked about the answer: {what}.",
    ),
    _verdict(
        "too |bit |way |sound|so |very |kind of|sounds|sounded|felt|feels|reads|came across|comes across|"
        "really |pretty |rather |overly",
        rf"(?:^{_LEAD}|\b(?:but|and|,) )(?:(?:that|this|it|you|your (?:last |previous )?{_ANSWER}|the "
        rf"(?:last |previous )?{_ANSWER})"
        rf"(?: one)?(?:'s| is| was| were|'re being| are being|'re| are| felt| feels| sounded| sounds?| "
        rf"reads?| seems?| seemed| came across as| comes across "
        rf"as| got| gets?)|(?:felt|sounds|reads|still|way|a bit|far|much))? ?(?P<what>(?:(?:way|far|much|a "
        rf"bit|a little|a tad|kind of|"
        rf"sort of|so|very|really|pretty|rather|overly|still|just|quite|super|incredibly) )*(?:too "
        rf")?(?:{_MANNER}|like an? (?:robot|lawyer|textbook|salesman|brochure|machine|manual|"
        rf"commercial|teacher|politician|essay|press release|horoscope))(?=$|[,.!;:…)]| (?:for|and|but|"
        rf"though|tbh|imo|again|there|"
        rf"to (?:read|follow|understand|digest|use))\b)(?: for (?:me|my taste|a beginner|this)\b)?)",
        "{user} found the answer {what}.",
    ),
    _verdict(
        "wall of|lost me|over my head|too many|too much|my question|the point|off topic|didn't help|"
        "useless|not helpful|unhelpful|"
        "not useful|fluff|filler|waffle|didn't ask|never asked|not what",
        r"\b(?P<what>(?:a |such a |huge )*wall of text|(?:you|that|this)(?: totally| completely)? lost me|"
        r"(?:way )?over my head|(?:way |"
        r"far )?too (?:many|much) (?:\w+ )?(?:details?|info\w*|text|jargon|words|options|emojis?|bullets?|"
        r"caveats|disclaimers?|"
        r"questions|at once|fluff|theory|steps|links|examples|choices|numbers|math|history|background|to "
        r"read|to take in)\b"
        r"[^?.!]{0,40}|(?:didn't|doesn't|did not|never) (?:really |actually "
        r")?answer(?:ed)? (?:my|the) question|beside the point|off[- ]topic|miss(?:ed|es|ing) the point|"
        r"(?:wasn't|was not|isn't|is "
        r"not|not) (?:very |really |that )?(?:helpful|useful)|(?:so much|all (?:that|the|this)|lots of) "
        r"(?:fluff|filler|waffle)|"
        r"(?:i )?(?:didn't|never) ask(?:ed)? (?:you )?for [^?.!]{3,60}|not what i (?:asked|wanted|meant|"
        r"needed)\b[^?.!]{0,60})",
        "{user} said of the answer: {what}.",
    ),
    _verdict(
        "need to|have to|no need|needn't|necessary|spare me|skip|drop the|cut the|get to the|leave out|"
        "lose the|enough with|no more|"
        "without|less|fewer|more ",
        rf"^{_LEAD}(?P<what>(?:(?:there's |there is )?no need (?:to|for)|you (?:don't|do not) (?:need|"
        rf"have) to|you needn't|spare me|skip|"
        rf"drop|cut|lose|leave out|enough with|no more|lay off|ditch|ease up on|go easy on) (?!worry|it\b|"
        rf"this|that\b|them)[^?]{{3,100}}|get "
        rf"(?:straight |right )?to the point[^?]{{0,60}}|(?:less|fewer|more) (?:{_ANSWER}|talk|theory|"
        rf"fluff|detail|details|examples?|"
        rf"code|emojis?|bullets?|bullet points|lists?|tables?|jargon|context|facts|numbers|sources|links|"
        rf"small talk|adjectives|"
        rf"exclamation marks|humou?r|disclaimers?|warnings?|caveats|questions|words|text|steps|depth|"
        rf"structure)\b[^?]{{0,80}})",
        "{user} wants of the answers: {what}.",
    ),
    _verdict(
        "just the|just give|only the|straight|first|stick to|lead with|start with|in a table|as a table|"
        "as bullet|in bullet|in metric|"
        "units|plain|one sentence|one line|short sentences|step by step|tl;dr|in order",
        rf"^{_LEAD}(?:can you |could you |i (?:just )?(?:want|need) |i'd like )?(?P<what>(?:just|only) "
        rf"(?:give me )?(?:the )?(?:code|answer|"
        rf"answers|facts|result|results|numbers?|command|short version|essentials|key "
        rf"points)\b[^?]{{0,80}}|(?:code|answer|conclusion|"
        rf"result|summary|the short version) first\b[^?]{{0,80}}|(?:stick to|lead with|start with) (?:the "
        rf")?(?:code|answer|facts|point|"
        rf"conclusion|summary|result|short|metric|one|two|three|plain|simple|bullet)[^?]{{0,80}})",
        "{user} wants of the answers: {what}.",
    ),
    _verdict(
        "don't|do not|never|stop|quit|avoid|refrain",
        rf"^{_LEAD}(?:can you |could you |would you |will you |next time,? |in future,? "
        rf")*(?P<what>(?:please )*(?:don't|do not|never|(?:stop|quit)(?= \w+ing\b)|"
        rf"avoid|refrain from) (?!worry|get me wrong|mind|think so|know|forget|hesitate|need|have|want|be "
        rf"(?:shy|sorry|afraid)|understand|"
        rf"see|bother|like|you\b|me\b|it\b|tell (?:my|him|her|them))[^?]{{3,140}})",
        "{user} wants of the assistant: {what}.",
    ),
    _verdict(
        "i asked|i told|as i said|i said|i already",
        r"\bi (?:already |just |specifically |explicitly )?(?:asked|told) you (?P<what>(?:not )?to "
        r"[^.!?]{3,160})",
        "{user} had asked the assistant {what}.",
    ),
    _verdict(
        "wrong|not right|incorrect|outdated|not true|false|nonsense|broken|dead|doesn't|didn't|don't|out "
        "of date|not correct|error",
        r"\b(?P<what>(?:that|this|your (?:answer|code|solution|number|date|link|source|info\w*))(?:'s| is|"
        r" was|'re| are)? (?:just |"
        r"simply |plain |completely |totally |all |still )*(?:wrong|not right|incorrect|outdated|not true|"
        r"false|nonsense|broken|out of "
        r"date|not correct|made up|a guess)\b[^?.!]{0,100}|(?:the|your|that|those|these) (?:[\w-]+ "
        r")?(?:links?|code|sources?|numbers?|"
        r"figures?|dates?|commands?|citations?|references?|quotes?) (?:you (?:gave|sent|posted|used|"
        r"cited)(?: me)? )?(?:is|are|was|were|"
        r"doesn't|don't|didn't|does not|do not|did not) (?:dead|wrong|broken|work|exist|compile|outdated|"
        r"made up|incorrect|open|run|add up|"
        r"match|fake|off)\b[^?.!]{0,60})",
        "{user} said of the answer: {what}.",
    ),
    _verdict(
        "you forgot|you ignored|you missed|you skipped|you left|you overlooked|you mixed|you confused|"
        "you invented|you hallucinated|you "
        "made|you misread|you repeat|you repeated|you contradict|you contradicted|you assumed|you "
        "promised|you didn't|you never|you "
        "always|you keep|you should have|"
        "you could have|you've |misunderstood|you just",
        r"\b(?P<what>you(?:'ve| have)? (?:again |once again |still |just |completely |totally |also "
        r")?(?:forgot(?:ten)?|ignored|missed|"
        r"skipped|left (?:out|off)|overlooked|mixed|confused|invented|hallucinated|made (?:up|it up|that "
        r"up|this up)|misread|"
        r"misunderstood|repeated?|contradicted?|assumed|promised|rewrote|changed|deleted|replaced|added|"
        r"should have|could have|didn't|"
        r"did not|never|always|keep)\b (?!mind|know|say\b|said)[^?.!]{3,120})",
        "{user} said of the answer: {what}.",
    ),
    _verdict(
        "why did you|why do you|why are you|why would you",
        r"\bwhy (?:did|do|are|would) you (?:always |keep |even |just |still |suddenly "
        r")*(?P<what>(?:change|add|remove|delete|use|using|answer|"
        r"apologi[sz]\w+|repeat\w*|rewrite|rewrote|ask\w*|tell\w*|giv\w+|suggest\w*|recommend\w*|ignor\w+|"
        r"mak\w+|switch\w*|assum\w+|"
        r"explain\w*|writ\w+|speak\w*|talk\w*|includ\w+|leave|leaving|lectur\w+|translate)\b[^?]{3,100})",
        "{user} complained that the assistant does this: {what}.",
    ),
    _verdict(
        "i said|i only|i just|i wanted|i needed|i was asking|i meant|not the|not a |, not",
        r"\bi (?:only |just |clearly |already |specifically )*(?P<what>(?:said|asked for|wanted|needed|"
        r"was asking (?:for|about)|meant) "
        r"[^?.!]{2,80}?(?:,| and| but)? (?:not|no|without|instead of|nothing|only)\b[^?.!]{2,80}|said "
        r"(?:no|not|without|only|max|in|three|two|"
        r"one)\b[^?.!]{2,80})",
        "{user} had {what}.",
    ),
    _verdict(
        "shorter|simpler|slower|plain|simple words|eli5|longer|briefer|less |clearer|enough|plenty|would "
        "do|suffic|at a time",
        rf"^{_LEAD}(?:(?:can|could) you |try |again,? |once more,? |a (?:bit|little) |much |but |say it |"
        rf"explain it |say that |in )*(?P<what>"
        rf"(?:shorter|simpler|slower|longer|briefer|clearer|plainer|(?:in )?(?:plain|simple|normal|"
        rf"everyday) (?:english|words|language|"
        rf"terms)|eli5)\b(?! (?:route|flight|trip|way|drive|walk))[^?]{{0,60}}|(?:one|two|three|four|five|"
        rf"\d|a few|a single|half|a third)[\w "
        rf"-]{{0,40}} (?:is|are|would be|will be|'s|would) (?:plenty|enough|sufficient|fine|do|all i "
        rf"need)\b[^?]{{0,60}}|one "
        rf"(?:\w+ )?(?:at a time|per \w+)[^?]{{0,60}})",
        "{user} prefers of the answers: {what}.",
    ),
    _verdict(
        "have liked|have preferred|have loved|have wanted|have appreciated|have expected|would have|like "
        "i'm|as if i",
        r"\b(?:i'd|i would) have (?:liked|preferred|loved|wanted|appreciated|expected) "
        r"(?P<what>[^?.!]{3,100})|\b(?P<also>(?:an?|some|more|"
        r"fewer|less) [\w -]{2,40} would have (?:been|helped|made|done)\b[^?.!]{0,60}|explain (?:it|this|"
        r"that|things) (?:to me )?(?:like|as "
        r"if) i'm[^?.!]{2,60})",
        "{user} would have preferred of the answer: {what}.",
    ),
    _verdict(
        "loosen|calm down|chill|tone it|tone down|relax|lighten|cheer up|slow down|ask me|ask first|"
        "check with|wait for|before you|"
        "dial it|simmer|speak|talk|be yourself|be honest|be direct|be blunt",
        rf"^{_LEAD}(?:you can |could you |can you )?(?P<what>(?:loosen up|calm down|chill|tone (?:it|that|"
        rf"things) down|tone down|relax|lighten up|"
        rf"slow down|dial (?:it|that) (?:down|back|up)|(?:speak|talk) normal\w*|be (?:honest|direct|blunt|"
        rf"brief|kind|real|specific))\b"
        rf"[^?]{{0,60}}|(?:ask me|ask|check with me|wait for (?:me|my \w+)|show me|tell me) (?:first|"
        rf"before)\b[^?]{{0,80}})",
        "{user} wants the assistant to {what}.",
    ),
    _verdict(
        "clear|spot on|nailed|well explained|explained|explanation|makes sense|made sense|click|to the "
        "point|understood|understand|get it|"
        "better|follow|lost|readable|finally|first time|exactly|concise|short and|just right|on point",
        r"\b(?P<what>(?:crystal|super|very|so|really|nice and|perfectly) clear\b[^?.!]{0,60}|spot on(?=$|"
        r"[,.!]| with| as| again)[^?.!]{0,60}|(?:you )?nailed it\b"
        r"[^?.!]{0,60}|(?:well|nicely|beautifully|perfectly|clearly) (?:explained|put|structured|written|"
        r"done)\b[^?.!]{0,60}|(?:best|"
        r"great|good|clear|perfect|excellent|brilliant|wonderful|lovely|nice|helpful|useful) "
        r"(?:explanation|summary|breakdown|overview|"
        r"comparison|analogy|format|structure|table|list|level of detail|length|tone|"
        r"write-?up)\b[^?.!]{0,60}|[^?.!,]{2,60} (?:made (?:it|things|"
        r"that|everything) (?:click|clear|so much easier|easy)|finally clicked)\b[^?.!]{0,40}|(?:short|"
        r"clear|brief|concise|simple|honest|"
        r"direct)(?:,| and) (?:\w+ )?(?:to the point|clear|sweet|simple|direct|useful|honest|"
        r"short)\b[^?.!]{0,60}|(?:finally|first time),? "
        r"(?:i (?:understood|understand|get)|someone|somebody|an? (?:\w+ )?(?:answer|"
        r"explanation))\b[^?.!]{3,80}|(?:i )?(?:can't|couldn't|could not|cannot|don't|didn't) (?:really |"
        r"quite )?"
        r"(?:follow|understand) (?:you|this|that|it|a word|any|half|your|the)\b[^?.!]{0,60}|(?:much|so "
        r"much|far|way) better (?:now|than|with|"
        r"like)\b[^?.!]{0,80}|just right\b[^?.!]{0,60}|on point\b[^?.!]{0,40}|exactly (?:right|what i "
        r"(?:needed|wanted|was looking for|"
        r"hoped for|meant))\b[^?.!]{0,100})",
        "{user} said of the answer: {what}.",
    ),
)
OF_A_TEXT = re.compile(
    r"\b(?:make|change|turn|rewrite|fix|put|move|edit|translate) (?:it|this|them|that|these)\b|"
    r"\b(?:paragraph|sentence|e-?mail|poem|story|"
    r"letter|title|headline|line \d|recipe|hotel|flight|restaurant|dish|song|movie|film|book|game|shirt|"
    r"dress|house|flat|trip|walk|"
    r"drive|meeting|interview|commute|class|course|exam)\b",
    _I,
)
"""What is worked on or talked of, rather than how it is answered."""
LASTING = frozenset(word for verdict in VERDICTS if not verdict.after for word in verdict.words)
"""Of what counts without an answer before it."""
