"""Small lists of words: kin and other people, jobs, places, what is said of the talk itself."""

import re

from recollect.mine.rules.wordlist import listed

SHE = listed(
    "wife mother mom mum mommy mama sister daughter girlfriend aunt auntie niece grandmother grandma "
    "granny nana stepdaughter mother-in-law sister-in-law daughter-in-law stepmother stepmom stepsister "
    "fiancee fiancée granddaughter godmother ex-wife ex-girlfriend"
)
HE = listed(
    "husband father dad daddy papa brother son boyfriend uncle nephew grandfather grandpa granddad "
    "stepson father-in-law brother-in-law son-in-law stepfather stepdad stepbrother fiance fiancé "
    "grandson godfather ex-husband ex-boyfriend"
)
ANYONE = listed(
    "toddler newborn partner spouse friend colleague coworker co-worker boss manager supervisor mentor "
    "teacher "
    "professor advisor adviser neighbour neighbor roommate flatmate housemate classmate teammate cousin "
    "sibling child kid baby doctor dentist therapist vet physiotherapist neurologist dermatologist "
    "surgeon lawyer accountant agent realtor landlord landlady coach trainer tutor instructor client "
    "assistant intern bestie ex buddy pal parent grandchild godchild stylist hairdresser barber nurse"
)
PETS = listed(
    "dog cat puppy kitten horse pony rabbit hamster parrot bird fish tortoise turtle pet pup lizard "
    "snake gerbil ferret hen goat pig cow"
)
KIN = SHE | HE | ANYONE
PEOPLE = listed(
    "parents kids children friends sisters brothers sons daughters grandparents siblings colleagues "
    "neighbours neighbors cousins in-laws coworkers roommates twins family team"
)
ONE_AT_A_TIME = listed(
    "wife husband partner spouse girlfriend boyfriend fiance fiancé fiancee fiancée mother mom mum "
    "father dad boss manager landlord landlady vet dentist therapist"
)
PARTNERS = listed("girlfriend boyfriend partner")
"""From whom one parts by breaking up."""
RELATION = "|".join(sorted((re.escape(word) for word in KIN | PETS), key=len, reverse=True))

SINGLE = listed(
    "name nickname age birthday budget phone number email address job salary rent deadline height "
    "weight username goal wifi handle major school university employer hometown anniversary extension "
    "username title mortgage bedtime timezone nationality religion zodiac commute"
)
"""Nouns of which somebody has one value at a time."""

DIETS = listed(
    "vegan vegetarian pescatarian pescetarian kosher halal keto gluten-free dairy-free celiac coeliac "
    "lactose flexitarian paleo"
)
STATUSES = listed("married single divorced engaged widowed separated retired unemployed pregnant")
JOBS = listed(
    "nurse teacher doctor lawyer chef cook pilot paramedic plumber carpenter mechanic student engineer "
    "developer designer writer artist actor musician journalist librarian baker farmer driver "
    "firefighter accountant architect dentist vet pharmacist biologist physicist chemist programmer "
    "analyst consultant manager director founder freelancer contractor electrician photographer editor "
    "translator professor researcher scientist salesperson secretary barista waiter waitress bartender "
    "soldier therapist psychologist psychiatrist surgeon sailor tailor builder coach trainer "
    "hairdresser ceo cto cfo entrepreneur landlord recruiter administrator sysadmin data-scientist "
    "welder postdoc paralegal receptionist technician officer policeman intern apprentice tutor "
    "instructor economist linguist historian midwife gardener florist blogger streamer potter "
    "physiotherapist"
)

PLACES = listed(
    "afghanistan africa albania algeria america argentina armenia asia australia austria bali "
    "bangladesh belgium bolivia bosnia brazil britain bulgaria california cambodia cameroon canada "
    "chile china colombia croatia cuba cyprus czechia denmark ecuador egypt england estonia ethiopia "
    "europe finland florida france georgia germany ghana greece greenland hawaii hungary iceland india "
    "indonesia iran iraq ireland israel italy jamaica japan jordan kenya korea kuwait latvia lebanon "
    "lithuania luxembourg malaysia malta maui mexico mongolia morocco nepal netherlands nigeria norway "
    "oregon pakistan panama peru philippines poland portugal qatar romania russia scotland serbia "
    "singapore slovakia slovenia spain sweden switzerland syria taiwan tanzania texas thailand tibet "
    "tunisia turkey uganda ukraine uk usa us uruguay venezuela vietnam wales zambia zimbabwe alaska "
    "arizona colorado nevada utah amsterdam athens atlanta auckland austin bangkok barcelona beijing "
    "belgrade berlin bologna bordeaux boston brooklyn brussels bucharest budapest cairo calgary chicago "
    "cologne copenhagen dallas delhi denver detroit dubai dublin edinburgh florence frankfurt geneva "
    "glasgow hamburg hanoi helsinki houston istanbul jakarta jerusalem kyiv kyoto lagos lima lisbon "
    "london lyon madrid manchester manila marseille melbourne miami milan montreal moscow mumbai munich "
    "nairobi naples nashville osaka oslo ottawa oxford paris perth philadelphia phoenix porto portland "
    "prague rome rotterdam salzburg santiago seattle seoul seville shanghai sofia stockholm stuttgart "
    "sydney tallinn tokyo toronto turin vancouver venice vienna warsaw yosemite zurich"
)

NOT_NAMES = listed(
    "greek swiss czech thai polish danish swedish norwegian finnish irish scottish welsh turkish jewish "
    "muslim "
    "christian catholic hindu buddhist protestant i i'm i've i'd i'll my the a an and but or so if when "
    "where what who how why this that these those "
    "it its he she they we you your our his her their is are was were be do does did have has had not "
    "no yes ok okay please thanks hi hello hey monday tuesday wednesday thursday friday saturday sunday "
    "january february march april may june july august september october november december christmas "
    "easter halloween thanksgiving english french german spanish italian dutch chinese japanese korean "
    "russian portuguese arabic american british canadian indian mexican european african asian tv pc ai "
    "diy usb gps dvd id ceo hr it pdf wow omg lol god sir madam mom dad mum grandma grandpa uncle aunt "
    "doctor internet wifi actually also anyway honestly just now then there here well today tomorrow "
    "yesterday tonight any some all most"
)

EMPTY_TALK = re.compile(
    r"\b(?:you|your|yours|yourself)\b"
    r"|\b(?:the|some|more|any|other|these|those|all) (?:\w+ )?(?:tips?|suggestions?|recommendations?|"
    r"advice|information|"
    r"info|ideas?|explanations?|clarification|insights?|examples?|answers?|questions?|help|guidance)\b"
    r"|\b(?:this|these|those)\b(?! (?:morning|afternoon|evening|week|weekend|month|year|summer|winter|"
    r"spring|autumn|fall|"
    r"monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|"
    r"august|"
    r"september|october|november|december|coming|past|dry|days|bad|terrible|time))",
    re.IGNORECASE,
)
