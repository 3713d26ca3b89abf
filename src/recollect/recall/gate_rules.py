"""What the gate knows by heart: English patterns, each for one sentence in lower case.

They name what needs no memory, so whatever they do not match is searched. "the" gives most of it away:
"what is a deadline" can be looked up anywhere, "what is the deadline" only in memory.
"""

import re

NICETY_LIMIT = 20

_NICETIES = (
    r"hi+|hello+|hey+|hiya|heya|howdy|yo|greetings|good (?:morning|afternoon|evening|night|day|bye)|morning|"
    r"goodbye|bye(?: bye)?|see (?:you|ya)|later|take care|cheers|thanks|thank you|thx|ty|many thanks|"
    r"you're welcome|no (?:problem|worries|thanks|thank you)|never ?mind|my pleasure|"
    r"ok(?:ay)?|k+|sure(?: thing)?|yes|yep|yeah|yup|no|nope|nah|right|alright|all right|fine|great|good|"
    r"cool|nice|perfect|awesome|excellent|amazing|wow|lol|ha(?:ha)+|sorry|please|done|agreed|exactly|"
    r"of course|absolutely|got it|i see|understood|makes sense|sounds (?:good|great)|well done|"
    r"how are you|how's it going|how is it going|what's up|sup"
)
_FILLERS = (
    r"there|so much|very much|a lot|a bunch|all|everyone|then|again|later|soon|tomorrow|mate|friend|you"
)
NICETY = re.compile(rf"\W*(?:{_NICETIES})(?:\W+(?:{_NICETIES}|{_FILLERS}))*\W*")

FIRST_PERSON = re.compile(
    r"\b(?:i|me|my|mine|myself|i'm|i've|i'll|i'd|we|us|our|ours|ourselves|we're|we've|we'll|we'd)\b"
)

_SAY = (
    r"say|tell|mention|discuss|talk|speak|decide|agree|choose|pick|plan|suggest|recommend|promise|ask|settle|"
    r"describe|explain|show|give|send|share|stop|leave off|write|note|conclude|invite|consider"
)
_SAID = (
    r"said|told|mentioned|discussed|talk(?:ed|ing)|sp(?:oke|eaking)|decided|agreed|chose|picked|planned|"
    r"suggested|recommended|promised|asked|settled|described|explained|showed|gave|given|sent|shared|stopped|"
    r"left off|wrote|noted|concluded|invited|considered"
)
# Something that was said before: always worth a search.
PAST = re.compile(
    rf"\b(?:i|we|you) (?:have |had |already |just |once |also |both |'ve |previously ){{0,2}}(?:{_SAID})\b"
    rf"|\b(?:did|had|have|were|was) (?:i|we|you) (?:\w+ ){{0,2}}(?:{_SAY}|{_SAID})\b"
    r"|\bremember\b|\bremind me (?:what|who|when|where|which|how|why|of|about|if|whether|again)\b"
    r"|\blast time\b|\b(?:the )?other day\b|\bpreviously\b|\bearlier\b|\bleft off\b|\bwe had\b"
    r"|\b(?:as|like|than) (?:before|usual|always|last)\b|\bthe usual\b"
    r"|\b(?:previous|last|past|prior|our|recent) (?:\w+ )?(?:conversation|discussion|chat|session|talk|"
    r"call)s?\b"
    r"|\byour (?:advice|suggestion|recommendation|answer|proposal|tip|last|previous)\b"
    r"|\b(?:my|your|our) (?:memory|memories|notes|history)\b"
)

# What may stand in front of a request and says nothing.
LEAD_IN = re.compile(
    r"(?:(?:please|kindly|hey|hi|hello|ok|okay|so|well|now|and|also|then|just|thanks|great|"
    r"(?:can|could|would|will) you(?: please)?(?: just)?|i (?:want|need) you to|i'd like you to|go ahead and|"
    r"(?:do you|can you tell me|tell me) know|quick question)[\s,:!.-]+)+"
)

_THING = (
    r"browser|terminal|console|window|tab|app|application|settings|file|folder|editor|camera|chrome|firefox|"
    r"safari|spotify|youtube|stopwatch|timer|server|website|page|url|link|door|garage|blinds|curtains|"
    r"program|process|service|container|vs code|slack|excel|gmail|inbox|music|video|recording|download"
)
_DEVICE = r"(?:the|my|all|a|an|this|that|its|your)"
TOOL = re.compile(
    r"(?:send|resend|forward)\b"
    r"|(?:e-?mail|text|dm|message|ping|phone) (?!address|is\b|was\b|from\b|says\b|about\b|number)\w+ \w+"
    r"|(?:call|phone|ring) (?!me\b|it\b|her\b|him\b|them\b|us\b|this\b|that\b)(?:(?:my|the) )?\w+"
    r"(?: (?:now|back|again|(?:at|on|for|and)\b.*))?$"
    rf"|(?:open|close|launch|start|stop|quit|restart|kill|minimi[sz]e|show) (?:up )?(?:{_DEVICE} )?(?:new )?"
    rf"(?:\w+ )?(?:{_THING})s?\b"
    r"|(?:re)?-?(?:run|execute) (?:(?:the|all|my|these|those|a|this|that) )?(?:\w+[ -])?"
    r"(?:tests?|test suite|suite|build|script|command|linter|migrations?|pipeline|program|server|query|code|"
    r"job|benchmarks?|it)\b"
    r"|(?:deploy|install|uninstall|download|upload|compile|unzip|refresh|reload|reboot) (?:\w+)"
    r"|build (?:the|my) (?:project|app|image|container|docs)\b"
    r"|(?:commit|push|pull|merge|rebase|revert) (?:(?:the|my|all|these|this) )?(?:\w+ )?"
    r"(?:changes?|branch|commits?|code|pr|pull request)\b"
    r"|(?:git|npm|pip|docker|kubectl|curl|ssh|make) [a-z-]+"
    r"|(?:search|browse|check|look|go) (?:(?:on|in|through) )?(?:the )?(?:web|internet|google|online|net)\b"
    r"|google \w+|(?:look|search|find|check) .{1,200}\b(?:online|on (?:the )?(?:web|internet|google|"
    r"wikipedia))\b"
    r"|(?:what's|what is|what will|how's|how is|check|show|tell me) the (?:weather|forecast|temperature)"
    r"(?: (?:be|going to be))?(?: like)?(?: (?:outside|now|right now|today|tonight|tomorrow|"
    r"(?:in|at|for|on|this|next)\b.*))?[?.!]*$"
    r"|(?:will it|is it going to|is it|does it look like) (?:be |gonna )?(?:rain|snow|storm|hot|cold|sunny)"
    r"|(?:what's|what is) (?:the (?:current )?(?:time|date)|today's date)(?: (?:now|today|right now|"
    r"in\b.*))?[?.!]*$"
    r"|what (?:time|day|date) is (?:it|today)\b"
    r"|set (?:up )?(?:an? |the |my )?(?:[\w-]+ ){0,2}(?:timer|alarm|reminder|volume|brightness|thermostat)\b"
    r"|wake me\b|remind me (?:to\b|in \d|at \d|every\b|tomorrow\b|tonight\b|on \w+day to\b)"
    r"|(?:turn|switch) (?:on|off|up|down)\b|(?:turn|switch) .{1,60}\b(?:on|off|up|down)[.!]*$"
    r"|volume (?:up|down)|(?:check|what's|what is) the (?:stock|share) price\b|(?:dim|mute|unmute)\b|"
    r"(?:pause|resume|skip|play|repeat|stop) (?:[\w']+ ){0,4}"
    r"(?:jazz|music|songs?|playlist|album|track|video|podcast|radio|rock|pop|classical|movie|film|episode)\b"
    r"|take (?:a |another )?(?:screenshot|photo|picture|selfie|snapshot)\b"
    r"|(?:create|add|schedule|make|put|set up|book) .{0,80}\b(?:events?|calendar|meeting|reminder|alarm)\b"
    r"|(?:add|put) .{1,80}\b(?:to-?do|shopping|grocery) list\b"
    r"|(?:click|scroll|navigate|print|zip|rename) (?!all about)\w+"
    rf"|(?:delete|copy|move|create|save|read|edit|list) (?:{_DEVICE} )?(?:\w+ ){{0,2}}"
    r"(?:files?|folders?|directory|branch|lines?|tabs?)\b"
)

LANGUAGE = (
    r"(?:english|german|french|spanish|italian|portuguese|dutch|swedish|norwegian|danish|finnish|polish|"
    r"czech|"
    r"russian|ukrainian|greek|turkish|arabic|hebrew|hindi|urdu|bengali|chinese|mandarin|cantonese|japanese|"
    r"korean|vietnamese|thai|indonesian|latin|swahili|irish|welsh|hungarian|romanian|catalan|persian)"
)
_CODE = (
    r"(?:python|java|javascript|typescript|rust|go|golang|c|c\+\+|c#|ruby|php|swift|kotlin|scala|haskell|sql|"
    r"bash|css|html|react|vue|django|numpy|pandas|git|linux|excel|latex|markdown|docker|kubernetes|regex|r)"
)
_UNIT = (
    r"(?:miles?|kilomet(?:er|re)s?|km|met(?:er|re)s?|m|centimet(?:er|re)s?|cm|millimet(?:er|re)s?|mm|"
    r"inch(?:es)?|"
    r"f(?:oo|ee)t|ft|yards?|grams?|g|kilograms?|kilos?|kg|pounds?|lbs?|ounces?|oz|tons?|lit(?:er|re)s?|l|ml|"
    r"gallons?|pints?|cups?|tablespoons?|teaspoons?|celsius|fahrenheit|kelvin|degrees? \w+|seconds?|minutes?|"
    r"hours?|days|weeks|years|usd|eur|gbp|jpy|chf|dollars?|euros?|pounds sterling|yen|francs?|rupees?|"
    r"bytes?|kb|mb|gb|tb|acres?|hectares?|mph|km/h|joules?|calories|watts?|horsepower)"
)
_NUMBER = r"\$?€?£?\d[\d,.]*"
_WHAT = r"(?:what's|what is|what are|what was|what were|how much is|how much are|how much does)"
_OPERATOR = (
    r"(?:[-+*/×÷^x]|\*\*|plus|minus|times|divided by|multiplied by|over|mod|modulo|to the power of|"
    r"%\s*of|percent of)"
)
MATHS = re.compile(
    rf"(?:{_WHAT}|calculate|compute|evaluate) "
    rf"[(]?{_NUMBER}[)]?(?:\s*{_OPERATOR}\s*[(]?{_NUMBER}[)]?)+[\s=?.]*$"
    rf"|[(]?{_NUMBER}[)]?(?:\s*(?:[+*×÷^x]|%\s*of|percent of|plus|minus|times|divided "
    rf"by)\s*{_NUMBER})+[\s=?.]*$"
    r"|(?:solve|simplify|factor(?:ise|ize)?|evaluate|integrate|differentiate) .{0,80}(?:[=^+]|\bx\b)"
    r"|(?:calculate|compute|find|what's|what is) (?:the )?(?:area|volume|perimeter|circumference|sum|mean|"
    r"median|factorial|square root|cube root|derivative|integral|log|logarithm|sine|cosine|probability|"
    r"greatest common divisor|hypotenuse) of (?!the\b|this\b|that\b|these\b)"
)
CONVERSION = re.compile(
    rf"(?:(?:{_WHAT}|convert) )?{_NUMBER} ?(?:{_UNIT}|stone) (?:in|to|into|as) {_UNIT}[?.!]*$"
    rf"|how many {_UNIT} (?:(?:are|is) )?(?:there )?(?:in|make|to|per) (?:an?|one|{_NUMBER}) {_UNIT}[?.!]*$"
)
TRANSLATION = re.compile(
    rf"translate (?!the\b|this\b|that\b|these\b|it\b|his\b|her\b).{{1,300}}\b(?:to|into|in) {LANGUAGE}\b"
    rf"|(?:how (?:do|would|does) (?:you|one|people) say|how to say)\b.{{1,200}}\bin {LANGUAGE}\b"
    rf"|{_WHAT} (?:the )?{LANGUAGE} (?:word|term|translation|expression|for)\b"
    rf"|{_WHAT} .{{1,80}} in {LANGUAGE}[?.!]*$|[\"“][^\"”]{{1,200}}[\"”] in {LANGUAGE}[?.!]*$"
)
_MAKE = r"(?:write|implement|create|generate|code|give|show|make)"
CODING = re.compile(
    rf"{_MAKE} (?:an? |some |the )?(?:[\w+#-]+ ){{0,3}}?(?:function|method|class|script|regex|regexp|program|"
    r"query|unit tests?|loop|macro|decorator|component|interface|struct|dockerfile|makefile|algorithm|"
    r"snippet|one-liner|regular expression)\b"
    rf"|{_CODE} (?:one-liner|function|script|regex|code|snippet|program|class) (?:to|that|for|which) "
    rf"|(?:implement|code) .{{1,80}} in {_CODE}(?:$|\W)"
    rf"|(?:how to|how can one|how does one|how do you|how does|how do) .{{1,100}} (?:in|with|using) "
    rf"{_CODE}[?.!]*$"
)
CREATIVE = re.compile(
    r"(?:write|compose|make up|invent) (?:an? |another )?(?:\w+ ){0,2}(?:poem|haiku|limerick|story|joke|"
    r"riddle|"
    r"song|sonnet|essay|rhyme|fairy tale|fable)\b"
    r"|(?:list|name) (?:\d+|two|three|four|five|six|seven|eight|nine|ten|twelve|some|a few) "
    r"(?!(?:things|reasons|points|risks|tasks|people) )"
    r"|tell a (?:joke|story|riddle)"
)

# A noun phrase that stands for a kind of thing: nothing in it points at something in particular.
_POINTS = (
    r"the|this|that|these|those|it|its|he|his|she|her|they|their|them|you|your|there|here|next|new|other|"
    r"another|left|missing|due|wrong|happening|going|for|on|up|to|in|at|with|from|about|one|ones|else|same|"
    r"dinner|lunch|breakfast|today|tonight|tomorrow|yesterday|not|still|so|now|better|best|worse|cheaper|"
    r"available|open|closed|planned|scheduled|and|or|what|who|when|where|people|someone|everyone|all|"
    r"both|late|early|again|ready|finished|supposed|allowed|coming|like|status|progress|plans|"
    r"mum|mom|mummy|mommy|mother|dad|daddy|father|grandma|grandpa|granny|grandmother|grandfather|auntie?|"
    r"uncle|"
    r"brother|sister|son|daughter|kids|wife|husband|boss|landlord|staging|production|project|team|"
    r"payments?|invoices?|deploys?|checkout|billing|rent"
)
# Says how something in particular is faring.
_FARING = (
    r"(?:late|down|broken|failing|failed|slow|slower|upset|angry|sad|cancel+ed|delayed|stuck|missing|blocked|"
    r"unhappy|higher|lower|away|off|gone|empty|closed|here|there|again|today|yet|ill|sick|pending|overdue)"
)
_KIND = rf"(?:an? )?(?!(?:{_POINTS})\b)[a-z-]+(?: (?!(?:{_POINTS})\b)[a-z-]+){{0,2}}"
_A_KIND = rf"an? (?!(?:{_POINTS})\b)[a-z-]+(?: (?!(?:{_POINTS})\b)[a-z-]+){{0,2}}"
# A single word without an article may be anybody's project; an abstract noun is not.
_ABSTRACT = (
    rf"(?:(?!(?:{_POINTS})\b)[a-z-]+ ){{0,2}}(?!(?:{_POINTS})\b)[a-z-]+"
    r"(?:tion|sion|sis|ity|ism|logy|ment|ance|ence|ics|phy|nomy|ing|ness|ture|acy|ency|ancy|ysis|gen|ium|"
    r"ide|chain)"
)
_NO_POINTER = (
    r"(?!the (?!united|world|earth|sun|moon|us\b|uk\b|eu\b|human|netherlands|universe)|this|that|it\b|our)"
)
_ATTRIBUTE = (
    r"capital(?: city)?|population|currency|(?:boiling|melting|freezing) point|(?:chemical )?(?:formula|"
    r"symbol)|"
    r"atomic (?:number|weight|mass)|square root|cube root|derivative|integral|meaning|definition|plural|"
    r"past tense|past participle|opposite|etymology|diameter|circumference|density|half-life|speed|"
    r"president|prime minister|king|queen|gdp|national anthem|flag|official language|time complexity|"
    r"origin|inventor|scientific name|life expectancy|mass|theory|concept|principle|laws?|process"
)
_WORLD = (
    r"world|earth|universe|solar system|history|all time|galaxy|milky way|human body|animal kingdom|"
    r"periodic table|ocean|africa|europe|asia|south america|north america|australia|antarctica"
)
_KNOWN_THINGS = (
    r"world war|berlin wall|titanic|roman empire|cold war|french revolution|renaissance|middle ages|big bang|"
    r"solar system|human body|moon landing|dinosaurs|moon|mars|jupiter|saturn|earth|mount \w+|everest|"
    r"eiffel tower|great wall|mariana trench|amazon|nile|sahara|bible|olympics|black death|milky way|"
    r"great pyramid|statue of liberty|soviet union|ice age|industrial revolution"
)
DEFINITION = re.compile(
    rf"(?:what's|what is|what was) (?:{_A_KIND}|{_ABSTRACT})[?.!\s]*$"
    rf"|what are {_KIND}[?.!\s]*$|(?:the )?meaning of (?:the word )?[\w\"“”-]+[?.!\s]*$"
    r"|what (?:does|do) .{1,60} (?:mean|stand for)[?.!\s]*$"
    rf"|(?:define|give (?:a|the) definition of) {_KIND}[?.!\s]*$"
    r"|(?:what's |what is )?(?:an?|another|the) (?:synonym|antonym|other word|word|rhyme|opposite) (?:for|"
    r"of|with) "
    r"|how (?:do you|to|does one|is) (?:spell|pronounce) |how is .{1,40} (?:spelled|spelt|pronounced)"
)
FACT = re.compile(
    rf"(?:what's|what is|what was|who is|who was|who's) the (?:{_ATTRIBUTE}) (?:of|for|in) {_NO_POINTER}"
    rf"|(?:(?:what's|what is|what are|explain|describe) )?(?:the )?differences? between "
    rf"{_NO_POINTER}.{{1,80}} (?:and|vs) "
    r"(?!the\b|this|that)|differences? between [a-z]+ [a-z]+s[?.!\s]*$"
    rf"|(?:what|which|who)(?:'s| is| are| was| were| has)? (?:\w+ )?(?:is |was |has )?the (?:\w+est|most "
    rf"\w+|first|"
    rf"least \w+)\b.{{0,80}}\b(?:in|on|of|to|from) (?:the )?(?:{_WORLD}|sun|moon)\b"
    rf"|(?:how|when|why|where|what|which|who|in (?:which|what) year|did|does|do|is|are|was|were)\b.{{0,60}}"
    rf"\b(?:{_KNOWN_THINGS})\b"
    r"|who (?:invented|discovered|painted|composed|sculpted) (?!this|that|it\b|the new)"
    rf"|(?:how|why) (?:do|does|did) {_KIND}(?: [a-z-]+){{0,4}}[?.!\s]*$"
    rf"|why (?:is|are|was|were) (?:the (?:sky|sea|ocean|sun|moon|grass|earth|sunset)|{_KIND}) "
    rf"(?!(?:[a-z]+ )?{_FARING}\b)[a-z -]{{1,40}}[?.!\s]*$"
    rf"|what (?:causes|makes|caused) {_KIND}[?.!\s]*$"
    r"|how (?:do|does) (?:you|one) (?:make|cook|bake|calculate|convert|prove|solve|tie|boil|peel) [a-z "
    r"]{1,60}[?.!\s]*$"
    r"|how many [a-z]+ (?:are there |are |does |do |is )?(?:in |have )?(?:an? )[a-z ]{1,40}(?: "
    r"have)?[?.!\s]*$"
    rf"|(?:explain|describe|summari[sz]e) (?:how |why |what )?{_KIND}(?: [a-z-]+){{0,6}}[?.!\s]*$"
    rf"|(?:explain|describe|summari[sz]e) the (?:{_ATTRIBUTE}|basics|rules|history|water cycle|carbon "
    rf"cycle) of "
    rf"{_NO_POINTER}|(?:explain|describe) the (?:water|carbon|nitrogen|krebs) cycle"
    rf"|what(?:'s| is) the speed of (?:light|sound)"
)
# These name works and people by their capitals, so they are matched as they were written.
AUTHORSHIP = re.compile(
    r"[Ww]ho (?:wrote|directed|founded|won|starred in|sang) "
    r"(?:[Tt]he )?(?:[A-Z][\w']+|\"|“)"
)
# So are laws and places.
NAMED = re.compile(
    r"(?:what's|what is|what are|explain|state) \w+(?:'s|s') (?:\w+ )?(?:laws?|theorem|principle|paradox|"
    r"equations?|constant|conjecture|razor|disease|syndrome|lemma)[?.!\s]*$"
    r"|(?:what's|what is|who is|who was|what was) the (?:capital(?: city)?|population|currency|president|"
    r"prime minister|king|queen|gdp|national anthem|flag|official language|author|composer|director) of "
    r"(?!the (?!united|netherlands|philippines|czech|uk\b|us\b|world)|this|that|our|it\b)"
    r"|(?:what|which) languages? (?:is|are) spoken in "
)
# What points at something the asker has in mind, in a request that would otherwise be anybody's.
POINTER = re.compile(
    rf"\b(?:the|those|these) (?!(?:{_ATTRIBUTE}|differences?|most|least|first|basics|rules|history|word|"
    rf"{_WORLD}|{_KNOWN_THINGS}|sky|sea|ocean|sun|moon|grass|sunset|united|netherlands|human|steam|"
    r"\w+est|(?:water|carbon|nitrogen|krebs) cycle|opposite|plural|synonym|rain|wind|night|forest|stars)\b)"
)
GENERAL = (CODING, CREATIVE, DEFINITION, FACT)
NAMES_ALLOWED = (MATHS, CONVERSION, TRANSLATION, NAMED)
"""In these a capital is no sign of somebody the user knows."""

KNOWN_NAMES = frozenset(
    re.findall(
        r"\S+",
        "python java javascript typescript rust go golang ruby php swift kotlin scala haskell sql bash "
        "css html "
        "react vue django docker kubernetes linux windows mac git github excel latex markdown c c++ c# r "
        "english german french spanish italian portuguese dutch swedish norwegian danish finnish polish "
        "czech "
        "russian ukrainian greek turkish arabic hebrew hindi chinese mandarin japanese korean latin "
        "africa europe asia america australia antarctica earth moon sun mars jupiter saturn venus mercury "
        "neptune uranus pluto world war i ii titanic berlin wall roman empire mount everest kilimanjaro "
        "eiffel tower mariana trench amazon nile sahara bible olympics north south east west atlantic "
        "pacific "
        "indian arctic ocean milky way big bang cold french revolution renaissance monday tuesday wednesday "
        "thursday friday saturday sunday great soviet union black death united states kingdom statue liberty "
        "pythagoras newton einstein darwin shakespeare",
    )
)
