"""Figures of speech, each under a word without which it is not one: nobody who says them means them."""

import re

_IDIOMS = r"""
horse: eat a horse|like a horse|horses? in midstream
log: sle(?:ep|pt) like a (?:log|baby|rock)
baby: sle(?:ep|pt) like a baby
rock: under a rock|rock bottom|sle(?:ep|pt) like a rock
feet: (?:two|both) left feet|feet on the ground|cold feet|swept off my feet
drowning: drowning in
swimming: swimming in (?:debt|money|work|cash)
buried: buried (?:in|under)
fish: (?:bigger|other) fish to fry|fish out of water
fried: (?:brain|head)(?:'s| is) fried
mush: (?:brain|head|legs?)(?:'s| is| are) mush
brain: brain (?:is|has) (?:dead|gone|melt\w*|stopped|on vacation|off|mush|fried)
explode: (?:about|going|gonna) to explode|might explode
exploding: (?:head|brain)(?:'s| is) exploding
explodes: my (?:head|brain) explodes
dead: (?:i'm|i am|we're) (?:so |basically |literally |half )?dead\b(?! set)
dying: (?:i'm|i am|we're) (?:so |literally |just )?dying\b
die: (?:could|would|'d|to) die (?:for|of)|died? of (?:boredom|embarrassment|laughter|shame)
died: died (?:of|laughing|inside)
cloud: cloud nine|head in the clouds
moon: over the moon|cry(?:ing)? for the moon
bone: bone to pick|to the bone
bones: feel it in my bones
arm: arm and a leg
goldfish: (?:memory|attention span|brain) of a goldfish
elephant: memory (?:of|like) an elephant|elephant in the room
eyes: eyes in the back|eyes (?:are )?bigger than|only have eyes|all eyes
ears: all ears|up to my ears|music to my ears
neck: up to my neck|pain in the neck
eggshells: on eggshells
ice: on thin ice
boat: in the same boat
shoes: in (?:my|your|his|her|their) shoes
hat: eat my hat|wear many hats|take my hat off
hands: hands (?:are|were) (?:tied|full)|on my hands
hand: (?:back of|like the back of) my hand
thumb: green thumb|under (?:his|her|the) thumb
thumbs: all thumbs
butterflies: butterflies in
stomach: can't stomach
mind: a mind of (?:its|their) own|out of my mind|losing my mind|lost my mind|blew my mind|blown my mind
heart: heart (?:is|was) (?:broken|in my mouth|on my sleeve|racing)|heart (?:sank|skipped|stopped)
tongue: cat got my tongue|tip of my tongue
frog: frog in (?:my|the) throat
cat: let the cat out
dog: sick as a dog|dog ate
bee: busy as a bee
bat: blind as a bat
mouse: poor as a church mouse
zombie: (?:like|i'm|am) a zombie|zombie mode
robot: (?:like|i'm|am) a robot
circus: in a circus
zoo: (?:like|in|is) a zoo
office: live (?:in|at) (?:the|my|our) office
nutshell: in a nutshell
fence: on the fence
page: on the same page
edge: on (?:the )?edge
rope: end of my rope
straw: last straw
tether: end of my tether
wits: wits'? end
wall: back (?:is|was) (?:against|to) the wall|up the wall|wall to wall
yesterday: born yesterday
midas: midas touch
tick: makes me tick
glass: made of glass
money: made of money|money grows on|printing money|money tree
steel: (?:nerves|made) of steel
stone: set in stone|heart of stone
bucks: million bucks
bullet: bit(?:e|ten)? the bullet
lottery: (?:won|win|hit) the lottery|lottery of
jackpot: hit the jackpot
rocket: (?:a |no )rocket scientist
einstein: (?:an?|no|mr) einstein
superman: superman|superwoman
king: (?:i'm|i am|like) (?:the|a) king
queen: (?:i'm|i am|like) (?:the|a) queen
genius: (?:i'm|i am) (?:such )?a (?:real |true )?genius
saint: patience of a saint|(?:i'm|i am) (?:no |a |not a )saint
hates: my (?:\w+ )?(?:phone|laptop|computer|printer|car|router|oven|bank|body|hair|app|code|skin) hates
pieces: in pieces|to pieces
hell: (?:living|from|through|in) hell
heaven: in (?:seventh )?heaven
dream: living the dream
crazy: driv(?:es|ing|e) me (?:\w+ )?crazy
nuts: driv(?:es|ing|e) me nuts
insane: driv(?:es|ing|e) me insane
bananas: (?:going|drives? me) bananas
wagon: on the wagon|off the wagon
rails: off the rails
weather: under the weather
water: in hot water|keep my head above water|fish out of water
worms: can of worms
hole: in a hole|rabbit hole
roof: through the roof|hit the roof
forever: (?:taking|takes|took|waiting|waited) forever
dinosaurs: since the dinosaurs
ages: for ages
toast: (?:i'm|i am|we're) toast
potato: couch potato
pickle: in a pickle
jam: in a jam
apple: apple of my eye
cake: piece of cake
pie: pie in the sky
reader: mind reader
psychic: (?:a|be) psychic|psychic powers
crystal: crystal ball
wizard: (?:a|be) wizard
magician: (?:a|be) magician
wand: magic wand
machine: time machine
superpower: superpower
superpowers: superpowers
kidney: (?:sell|sold|selling) (?:a|my) kidney
clone: clone myself
air: live (?:on|off) air|walking on air|castles in the air
belt: black belt in (?!judo|karate|taekwondo|aikido|ju|bjj|brazilian|tae|kung|krav|hap|shoto)
allergic: allergic to (?:mondays?|mornings?|work(?:ing)?|exercise|stupidity|people|drama|meetings?)
fluent: fluent in (?:sarcasm|silence|nonsense|emoji|bullshit|movie|body)
phd: phd in (?:procrastinat\w+|overthinking|being|napping|avoiding|sarcasm|making|ruining|burning|losing)
overthinker: professional overthinker
procrastinator: professional procrastinator
napper: professional napper
cardio: my cardio is
wallet: my (?:wallet|bank account) (?:is )?(?:cry\w+|thanks|loves|hurts|bleed\w+|dead|empty)
joy: beside myself|contain my|jump(?:ed|ing)? for joy|bundle of joy
excitement: contain my excitement
cup: cup runneth|cup of tea
married: married to (?:my|the) (?:job|work|phone|laptop|desk|sofa|sea)
slave: (?:a )?slave (?:to|of)
spite: and spite
fumes: on fumes
caffeine: runs? on caffeine
coffee: runs? on (?:coffee|caffeine)|live on coffee
patience: patience of (?:a saint|job)
angels: (?:little|perfect) angels
hate: love-hate
oyster: world is my oyster
"""
FIGURES: dict[str, re.Pattern[str]] = {
    word: re.compile(rf"\b(?:{figure})\b" if not figure.startswith("(?:i'm") else figure)
    for word, _, figure in (line.partition(": ") for line in _IDIOMS.strip().split("\n"))
}
