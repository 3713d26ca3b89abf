"""What is said with "I" or "we" and not of oneself: irony, exaggeration, figures of speech, sayings, what
holds of everybody, riddles and sums.

Irony is known by what does not go together: delight, and something that delights nobody.
"""

import re

from recollect.mine.rules.idioms import FIGURES
from recollect.mine.rules.wordlist import listed

_I = re.IGNORECASE
_WORD = re.compile(r"[a-z]+")
_DELIGHT = re.compile(
    r"\b(?:love|adore|enjoy|live for|thrilled|delighted|ecstatic|overjoyed|favou?rite|happier|can't wait|"
    r"dream "
    r"of|big fan of|huge fan of|appreciate|treat|fun|best|wonderful|fantastic|great|lovely|perfect|brilliant|"
    r"yay|hooray|woo-?hoo|lucky|dream|hobby|hobbies|talent|passion|ambition|life goal|bliss|heaven|"
    r"awesome|amazing|terrific|marvell?ous|congratulations|proud owner|cherish|pleasure)\b",
    _I,
)
_NUISANCE = re.compile(
    r"\b(?:(?:being|getting|be|get) (?:\w+ly )?(?:ignored|woken|yelled|shouted|screamed|stuck|charged|put on|"
    r"told off|billed|interrupted|lied|ghosted|spammed|blamed|fined|robbed|scammed|rejected|dumped|fired|"
    r"late|"
    r"insulted|harassed|overcharged|sick|called at|transferred|hung up|stood up|soaked|rained|bitten|cut "
    r"off)|"
    r"having to (?:wait|redo|explain|repeat|pay|call|restart|start over)|waiting (?:on|in|for)|waiting$|"
    r"wait in|"
    r"queue|queues|queuing|in line|on hold|traffic|tax(?:es)?|tax (?:forms?|returns?)|paperwork|parking "
    r"(?:tickets?|fines?)|delays?|delayed|cancell?ed|crash(?:es|ed|ing)?|bugs?|broken|breaks? (?:down|again)|"
    r"leaks?|leaking|spam|mess|root canals?|drills?|drilling|jackhammers?|paying (?:twice|double|extra)|"
    r"debts?|"
    r"mondays?|overtime|unpaid|hangovers?|jury duty|cleaning up after|other people's|lay-?overs?|captchas?|"
    r"error messages?|rejections?|power cuts?|power outages?|floods?|flooded|mosquitoes|food poisoning|flat "
    r"tyres?|flat tires?|hidden fees|small talk with|airports? at|at (?:three|four|five|[345]) ?(?:am|in the "
    r"morning)|filling (?:in|out)|forms|migraines?|deadlines?|again and again|for the (?:\w+th|third|tenth) "
    r"time|bills|inbox|spreadsheets all|working weekends|meetings that|pointless|useless|noise|awful|"
    r"terrible|"
    r"horrible|debugging|another (?:weekend|night|day|evening|hour|round|meeting|call|email|form|bill|"
    r"update|password)|"
    r"assembling|dishes|ironing|invoices|screaming|snoring|sleepless|no sleep|(?:three|two|four|five|six|"
    r"\d+) hours "
    r"(?:of|on|in|for|late)|all night (?:long )?(?:fixing|working|waiting)|commut(?:e|ing) (?:for|of)|"
    r"password "
    r"resets?|re-?installing|rebooting|surveys?|cold calls?|telemarketers?|robocalls?|scammers?|exposure|"
    r"suffering|pain|misery|failing|failure|losing|burn(?:ing|ed) (?:the|my|water|dinner)|unpaid|for "
    r"nothing|cold "
    r"(?:showers?|pizza|coffee|food)|laundromat|after (?:two|three|\w+) hours|hard drives? (?:fail|dying)|"
    r"dead (?:battery|phone)|worst|ruined|wasting|wasted|hair in)\b",
    _I,
)
_EXCLAIMS = re.compile(
    r"(?:oh|ah|wow|well|yay|hooray|hurray|great|wonderful|fantastic|brilliant|perfect|lovely|super|awesome|"
    r"terrific|marvell?ous|fabulous|splendid|excellent|lucky me|just great|how \w+|what (?:a )?\w+|bravo|"
    r"nice|"
    r"congrats|amazing)\b[,!.… ]",
    _I,
)
_ADDS = re.compile(
    r"\b(?:another|yet another|again|get to|just what|of course|of all|now i have|simply|just (?:love|adore)|"
    r"so (?:love|lucky|happy)|my life is)\b",
    _I,
)
_BEGINS = re.compile(
    r"(?:lol|(?:ha)+|hehe|pff+t?)[,!. ]+(?:(?:yeah|yes|yep|ok)[, ]+)?(?:sure|right|totally)[,!. ]|"
    r"(?:yeah|yes|sure|right|ok)[, ]+(?:(?:sure|right)[, ]+)?i(?:'m| am| \w+)? (?:so |just )?(?:totally|"
    r"definitely|absolutely)\b|me: |as an? [\w -]{2,30}, i (?:want|need|would like) (?:to|a|"
    r"an)\b.*\bso (?:that|i)\b|"
    r"(?:because|as if|like|since) i(?:'m|'ve)? (?:am |have )?(?:so |just |really )?(?:totally|clearly|"
    r"obviously|definitely|certainly|surely|of course|apparently|evidently|have nothing|have all the|"
    r"have so much|need another|needed another)\b|(?:oh |well |ah )?(?:yes|yeah|right|sure|of course|"
    r"fine|ok|okay)[,!]? (?:and |because |so |now )?(?:i'm|i am|i was) (?:the|an?|just|clearly|always) "
    r".*\b(?:now|again|here|then|after all)[.!]*$|(?:sure|ok|okay|fine|no problem|no worries|of course|"
    r"right)[,!.]? (?:so |then )?i'll just\b|oh,? (?:good|wonderful|lovely|perfect|goody|boy|fun|"
    r"fabulous|terrific|yes|marvell?ous|super|how|dear)\b|(?:yet )?another \w+|(?:yippee|woo-?hoo|"
    r"whoop\w*|hooray|yay)\b|(?:10|11|ten)/10\b|(?:five|5) stars\b",
    _I,
)
_MOCKS = re.compile(
    r"\bproud (?:parent|owner) of an? (?:dead|broken)\b|\bsuch (?:great|good) luck\b|\bof course i (?:love|"
    r"enjoy|adore)\b|"
    r"\b(?:i|my \w+|we)(?:'m|'ve|'re)?(?: am| is| are| have)? (?:clearly|obviously|evidently|"
    r"naturally)\b|\bclearly i\b|\bobviously i\b|,? (?:clearly|obviously|naturally|duh|hooray|yay|"
    r"whoopee|not|apparently)[.!]*$|\bsaid (?:no ?one|nobody)\b|\bno ?one ever said\b|\b(?:lucky|poor|"
    r"silly|good for) me\b|\bjust my luck\b|\bstory of my life\b|\bbest day (?:ever|of my life)\b|"
    r"\bnothing better to do\b|\bthanks for nothing\b|\bwhat could (?:possibly )?go wrong\b|\bas one "
    r"does\b|\b(?:what|such) a (?:joy|treat|delight|thrill)\b|\b(?:nothing|nobody|no one) (?:makes?|"
    r"beats?)\b|\bi'm the (?:bad guy|idiot|fool|problem|villain|one who)\b|\b(?:always|again) (?:i'm "
    r")?the (?:idiot|fool)\b|\beye ?roll\b|\bhow (?:lovely|wonderful|charming|thoughtful|convenient|fun|"
    r"exciting)\b[,!.]|\bmy life is (?:perfect|great|complete|over|a joke)\b|\b(?:live|living) for "
    r"(?:\w+ )?(?:mondays?|meetings?|deadlines?|emails?)\b|\bone word\b|\bi'd sell my\b|\bso \w+ "
    r"(?:that )?i could\b|\ball the time in the world\b|\bnow,? i guess\b|\bi (?:just )?forgot,? i'm\b|"
    r"\bnothing says\b|\bi do so (?:love|enjoy)\b|\b(?:as if|like) i need\b|\bapparently,? i'm (?:an? |"
    r"the )?\w+(?: \w+)? now\b|\bmust be nice\b|\bcouldn't be (?:happier|prouder|more)\b|\bluckiest\b|"
    r"\bthe best (?:week|day|month|year|night)\b|\bthanks? (?:a lot|so much) for (?:making|ruining|"
    r"breaking|deleting|nothing)\b|\bwho (?:needs|doesn't (?:love|like|want))\b",
    _I,
)
_RETORTS = re.compile(
    r"\b(?:yeah|sure|right|ok),? and i'm\b|\b(?:sure|great|yay|wonderful),? .{0,20}\bi (?:just |so )?love\b"
    r"|\byeah,? right\b|\bas if\b|\bsure,? (?:because|jan)\b|\boh,? (?:sure|great|yeah|joy|brilliant|"
    r"fantastic)\b,"
    r"|(?:^|\s)/s\b|\b(?:just |only )?kidding\b|\bjk\b|\bj/k\b|\bnot!\s*$|\bmade of (?:money|glass|gold|"
    r"steel)\b"
    r"|\bbecause i'm .{2,40}\bobviously\b|\bi'm the (?:queen|king|pope|emperor|president)\b|\bsarcas\w+"
    r"|\bbecause (?:clearly|obviously) i\b|\bjust what i needed\b"
)
_EXAGGERATES = re.compile(
    r"\b(?:(?:an?|about an?|like an?|half an?|several|a few) )?(?:million|billion|trillion|zillion|gazillion|"
    r"bazillion|thousand|hundred|[mb]illions of|thousands of|hundreds of) (?:\w+ )?(?:times|things|"
    r"reasons|hours|"
    r"e-?mails|tabs|questions|messages|meetings|errands|calls|forms|other things)\b"
    r"|\bfor (?:a|the) (?:hundred|thousand|million|hundredth|thousandth|millionth) (?:years?|times?)\b"
    r"|\bthe (?:hundredth|thousandth|millionth|umpteenth) time\b",
    _I,
)
_SAYING = re.compile(
    r"\b(?:(?:old|famous|wise|well-known|common|popular|ancient|chinese|german|latin) (?:saying|proverb|"
    r"quote|"
    r"line|motto|adage|joke|rhyme|maxim)|saying goes|proverb|as (?:they|people|the \w+) (?:say|says|put it)|"
    r"mnemonic|nursery rhyme|in the words of|to quote|goes the song|horoscope|knock knock|also me:|user "
    r"stor(?:y|ies)|word problem|riddle|tongue twister)\b",
    _I,
)
_MANKIND = re.compile(
    r"\bwe (?:all|humans?|people|as (?:a|humans|people)|mortals|each|the|mostly all)\b|\b(?:humans|humanity|"
    r"mankind|humankind|our (?:species|society|planet|ancestors|brains?|bodies|galaxy|sun|universe|solar|"
    r"civili[sz]ation|generation|century|atmosphere|oceans|moon|tides|genes|senses|economy|democracy|culture|"
    r"language|nature|world|age|times|era|earth|cells|dna))\b|\bwe (?:live|exist) in (?:an? )?(?:\w+ "
    r")?(?:society|"
    r"world|age|era|universe|time|times|culture|democracy|simulation|galaxy)\b|\bone (?:does|doesn't|"
    r"should|must|"
    r"can|cannot|can't) \b|\bwe (?:breathe|perceive|evolved|inherited|define|denote|call|say|write|assume|"
    r"observe|speak of|distinguish|obtain|derive)\b(?! (?:our (?:house|dog|cat|son|daughter)))|\bsince "
    r"(?:newton|einstein|darwin|the big bang)\b",
    _I,
)
_SYMBOL = re.compile(
    r"\b(?:I|my [A-Z]) (?:=|equals|is the (?:symbol|letter|current|roman))|\b[Ll]etter I\b|\bmy [A-Z] is\b"
)
_TRIES_OUT = re.compile(
    r"\b(?:when(?:ever)?|every time|each time|any ?time|once|as soon as|if) (?:i|you|we|one) (?:\w+ly "
    r")?(?:divide|"
    r"multiply|add|subtract|square|differentiate|integrate|run|execute|compile|click|press|type|call|import|"
    r"deploy|boot|restart|reload|refresh|log in|sign in|submit|query|heat|cool|drop|throw|mix|dissolve|"
    r"rotate|"
    r"plug|unplug|open the|open my|save|push|commit|build|install|print|upload|download|scroll|swipe|tap|"
    r"toggle|"
    r"enable|disable|set the|change the|hit|win the|get rich|'m rich|am rich|grow up)\b"
    r"|\b(?:once|when) i'm (?:rich|famous|king|president|dead|old)\b",
    _I,
)
_UNREAL = re.compile(
    r"\bin (?:a|my|another) (?:past|previous|former|next|other|parallel) (?:life|universe|world)\b|\bin "
    r"another "
    r"life\b|\b(?:in|had) (?:my|a|the) (?:\w+ )?(?:dream|nightmare)\b|\bi dream(?:t|ed)\b|\bin(?:-| the | "
    r"this | my )"
    r"game\b|\bit's not (?:like|that|as if) i\b|\bnot (?:that|saying) i\b|\bno way (?:i'm|i am|i)\b|\bwas "
    r"going to\b",
    _I,
)
_RIDDLE = re.compile(
    r"\b(?:what|who) am i\?|\bknock,? knock\b|\basking for a friend\b|\balso me:|^(?:write|solve) "
    r".{0,20}riddle",
    _I,
)
_RIDDLE_HINTS = ("am i?", "knock", "a friend", "so me:", "riddle")
_SUM = re.compile(
    r"\bhow (?:many|much|old|far|long|fast)\b[^?]{0,80}\b(?:left|remain\w*|in total|altogether|all together|"
    r"in all|each)\b[^?]{0,20}\?",
    _I,
)
_NUMBER = re.compile(r"\b(?:\d+|two|three|four|five|six|seven|eight|nine|ten|half|twice|dozen)\b", _I)
_SUM_LENGTH = 500
_DIVIDES = listed("i we our my me us")


def puzzles(text: str) -> bool:
    """Whether a turn is a riddle or a sum, in which nobody has the apples that are counted."""
    if len(text) > _SUM_LENGTH:
        return False
    if "?" in text and _SUM.search(text) is not None and len(_NUMBER.findall(text)) > 1:
        return True
    low = text.lower()
    return any(hint in low for hint in _RIDDLE_HINTS) and _RIDDLE.search(text) is not None


_KEYED = (
    (
        listed(
            "yeah sure right ok great yay wonderful if oh kidding jk made obviously clearly "
            "queen king pope "
            "emperor president sarcasm sarcastic sarcastically needed"
        ),
        _RETORTS,
    ),
    (
        listed(
            "clearly obviously evidently naturally duh hooray yay whoopee apparently nobody lucky "
            "poor silly luck "
            "story life best nothing wrong joy treat delight thrill idiot fool villain guy problem "
            "one eye how "
            "live living word sell could world guess forgot says enjoy need must thanks thank needs "
            "doesn couldn proud course "
            "luckiest"
        ),
        _MOCKS,
    ),
    (
        listed(
            "million billion trillion zillion gazillion bazillion thousand hundred millions billions "
            "thousands "
            "hundreds hundredth thousandth millionth umpteenth"
        ),
        _EXAGGERATES,
    ),
    (
        listed(
            "saying proverb quote line motto adage joke rhyme maxim say says put mnemonic words song "
            "horoscope knock "
            "friend story stories word riddle twister"
        ),
        _SAYING,
    ),
    (listed("we our humans humanity mankind humankind one since"), _MANKIND),
    (listed("when whenever every each any anytime once soon if"), _TRIES_OUT),
    (listed("life universe world dream nightmare dreamt dreamed game not way going"), _UNREAL),
)
"""Each with words without which it need not be looked for: a search costs far more than a look."""
_TAKEN_BACK = (" not", " not.", " not!", " /s", " j/k")
_FACES = re.compile("[🙃🙄😒😑🤡]")
_DELIGHTED = listed(
    "love adore enjoy live thrilled delighted ecstatic overjoyed favourite favorite happier wait dream fan "
    "appreciate treat fun best wonderful fantastic great lovely perfect brilliant yay hooray lucky "
    "awesome amazing "
    "terrific dream hobby hobbies talent passion ambition goal bliss heaven woohoo hoo marvellous "
    "marvelous congratulations owner cherish pleasure"
)
_ADDED = listed("another again get just course of now simply so life")


def is_unmeant(sentence: str) -> bool:
    """Whether a sentence does not say of its speaker what its words say."""
    low = sentence.lower()
    words = set(_WORD.findall(low))
    if words.isdisjoint(_DIVIDES):
        return False
    for keys, kind in _KEYED:
        if not keys.isdisjoint(words) and kind.search(low):
            return True
    return (
        _BEGINS.match(low) is not None
        or low.endswith(_TAKEN_BACK)
        or (
            not words.isdisjoint(_ADDED)
            and _EXCLAIMS.match(low) is not None
            and _ADDS.search(low) is not None
        )
        or _SYMBOL.search(sentence) is not None
        or (not sentence.isascii() and _FACES.search(sentence) is not None)
    )


def is_figure(clause: str) -> bool:
    """Whether a clause is a figure of speech, or delights in what delights nobody."""
    low = clause.lower()
    words = set(_WORD.findall(low))
    for word in words & FIGURES.keys():
        if FIGURES[word].search(low):
            return True
    return not words.isdisjoint(_DELIGHTED) and (
        _DELIGHT.search(low) is not None and _NUISANCE.search(low) is not None
    )
