"""People who do not exist, and what each says and does on a day: the same for the same seed.

A day follows from its number alone, so nothing is carried from one to the next: where somebody lives on day
400 is which of their towns has its turn by then. What is told of a person changes as lives do: friends come
and go, tastes change, jobs end, and much of what is said is worth nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any

WORK = "work"
"""The channel that some of it is said in."""


def _words(text: str) -> list[str]:
    return text.split()


_FIRST = _words(
    "Ada Bruno Carla Dario Elena Farid Greta Hugo Ines Jonas Katya Liam Mona Nils Olga Pavel Quinn Rosa Sven "
    "Tara Umar Vera Wim Xenia Yusuf Zoe"
)
_LAST = _words(
    "Abara Brandt Conti Dekker Ekman Falk Greco Holm Ito Jansen Kaya Lund Moreau Novak Okoro Petit"
)
_TOWNS = _words(
    "Lisbon Ghent Turin Leeds Porto Bergen Krakow Nantes Malmo Graz Cork Basel Utrecht Bilbao Riga Trieste"
)
_FIRMS = _words("Northwind Bluebird Kestrel Halcyon Meridian Oakline Tidewater Larkspur Corvus Solstice")
_JOBS = ("baker", "nurse", "teacher", "plumber", "data analyst", "gardener", "translator", "pilot")
_TASTES = {
    "tea": ("oolong", "peppermint", "assam", "rooibos", "sencha"),
    "colour": ("green", "orange", "navy", "violet", "grey"),
    "sport": ("rowing", "tennis", "climbing", "fencing", "swimming"),
    "composer": ("Satie", "Brahms", "Dvorak", "Ravel", "Purcell"),
    "dish": ("lasagne", "ramen", "paella", "pierogi", "dal"),
}
_PETS = ("a cat called Miso", "a dog called Biscuit", "a parrot called Kiwi", "a rabbit called Clover")
_THINGS = ("bicycle", "guitar", "camera", "kayak", "telescope", "sewing machine", "espresso machine")
_SMALL = (
    "Good morning! How are you?",
    "What is a nice word for happy?",
    "Could you shorten that a little?",
    "Thanks, that helps.",
    "Tell me a joke about penguins.",
    "How many grams are in an ounce?",
    "What would you cook with leeks and rice?",
    "Never mind, let us go on.",
)
_ANSWERS = (
    "Noted.",
    "That sounds good, tell me more when you like.",
    "Of course. Here is a shorter version of it.",
    "I would begin with the simplest part and see how far that takes you.",
    "Sure, anything else?",
)
_TASKS = {
    "search_trains": "Find me a train to {town} for tomorrow, please.",
    "send_mail": "Please write to {friend} that I will be late.",
    "add_event": "Put dinner with {friend} into my calendar.",
    "run_report": "Run the weekly report for {firm}, please.",
}
_TOOL_FAILS = 0.2
_TOWN_DAYS, _FIRM_DAYS, _TASTE_DAYS, _FRIEND_DAYS = 420, 300, 90, 120
_FRIENDS = 4
_NOTE_DAYS, _PIN_DAYS, _CODE_DAYS, _GOAL_DAYS = 7, 45, 20, 40


@dataclass(frozen=True, slots=True)
class Call:
    """A tool that was called, and whether that went well."""

    tool: str
    input: dict[str, Any]
    output: str
    success: bool


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation of a day."""

    channel: str | None
    turns: tuple[tuple[str, str], ...]
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """What somebody has remembered outright."""

    content: str
    pinned: bool = False
    lasts: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Day:
    talks: tuple[Talk, ...]
    notes: tuple[Note, ...]
    goal: str | None
    """A goal that is new."""
    reached: bool
    """The goal before is reached."""
    questions: tuple[str, ...]


class Person:
    """Somebody, by number."""

    def __init__(self, seed: int, number: int) -> None:
        self._seed = f"{seed}:{number}"
        random = Random(self._seed)
        names = [f"{first} {last}" for first in _FIRST for last in _LAST]
        self._friends = random.sample(names, 60)
        self._towns = random.sample(_TOWNS, len(_TOWNS))
        self._firms = random.sample(_FIRMS, len(_FIRMS))
        self._jobs = random.sample(_JOBS, len(_JOBS))
        self._tastes = {thing: random.sample(values, len(values)) for thing, values in _TASTES.items()}
        self._shift = random.randrange(30)

    def day(self, number: int, turns: int) -> Day:
        """What happens on a day, with so many turns."""
        random = Random(f"{self._seed}:{number}")
        n = number + self._shift  # not everybody's life changes on the same day
        talks = self._talks(random, n, turns)
        return Day(
            talks,
            self._notes(random, n),
            f"Learn to play the {random.choice(_THINGS)}, part {n}" if n % _GOAL_DAYS == 0 else None,
            n % _GOAL_DAYS == _GOAL_DAYS // 2,
            self._questions(random, n),
        )

    def _talks(self, random: Random, n: int, turns: int) -> tuple[Talk, ...]:
        """A conversation at home; or one at work, with a tool in it; once a week both."""
        at_work = (0, 0, turns // 2, turns, turns, 0, 0)[n % 7]
        home = Talk(None, self._said(random, n, turns - at_work))
        if not at_work:
            return (home,)
        tool, ask = random.choice(list(_TASKS.items()))
        success = random.random() > _TOOL_FAILS
        output = f"{tool}: {'done' if success else 'timed out'}"
        asked = ask.format(**self._now(random, n))
        said = (("user", asked), ("tool", output), *self._said(random, n, at_work - 2))
        return (
            *([home] if home.turns else []),
            Talk(WORK, said, (Call(tool, {"request": asked}, output, success),)),
        )

    def _said(self, random: Random, n: int, turns: int) -> tuple[tuple[str, str], ...]:
        said: list[tuple[str, str]] = []
        while len(said) < turns:
            said += [("user", self._line(random, n)), ("assistant", random.choice(_ANSWERS))]
        return tuple(said[:turns])

    def _line(self, random: Random, n: int) -> str:
        """Half of what is said tells something, and much of that again."""
        if random.random() < 0.5:
            return random.choice(_SMALL)
        now = self._now(random, n)
        lines = (
            "I live in {town} now.",
            "I work as a {job} at {firm}.",
            "My favourite {thing} is {taste}.",
            "{friend} is a friend of mine, she lives in {other}.",
            "I met {friend} in {other} on Saturday.",
            "I have {pet}.",
            "I bought a {bought} last week.",
            "I do not like {dislike} any more.",
            "{friend} works at {firm}.",
            "I am going to {other} with {friend} next month.",
        )
        return random.choice(lines).format(**now)

    def _now(self, random: Random, n: int) -> dict[str, str]:
        """What holds for them on a day."""
        thing = random.choice(list(_TASTES))
        known = _turn(self._friends, n, _FRIEND_DAYS, _FRIENDS)
        return {
            "town": _turn(self._towns, n, _TOWN_DAYS)[0],
            "job": _turn(self._jobs, n, _FIRM_DAYS)[0],
            "firm": _turn(self._firms, n, _FIRM_DAYS)[0],
            "thing": thing,
            "taste": _turn(self._tastes[thing], n, _TASTE_DAYS)[0],
            "dislike": _turn(self._tastes[thing], n, _TASTE_DAYS, 2)[1],
            "friend": random.choice(known),
            "other": random.choice(_TOWNS),
            "pet": _turn(_PETS, n, _TOWN_DAYS)[0],
            "bought": random.choice(_THINGS),
        }

    def _notes(self, random: Random, n: int) -> tuple[Note, ...]:
        notes: list[Note] = []
        if n % _NOTE_DAYS == 0:
            notes.append(Note(f"The {random.choice(_THINGS)} was serviced in week {n // _NOTE_DAYS}."))
        if n % _PIN_DAYS == 0:
            notes.append(
                Note(f"My spare key number {n} is with {random.choice(self._friends)}.", pinned=True)
            )
        if n % _CODE_DAYS == 0:
            code = random.randrange(1000, 10_000)
            notes.append(Note(f"The code of the parking is {code}.", lasts=timedelta(days=_CODE_DAYS)))
        return tuple(notes)

    def _questions(self, random: Random, n: int) -> tuple[str, ...]:
        """Some that are asked often, and some that are not."""
        now = self._now(random, n)
        return (
            random.choice(("Where do I live?", "What is my job?", "What is the code of the parking?")),
            "What is my favourite {thing}?".format(**now),
            "What do you know about {friend}?".format(**now),
            f"Where is my spare key number {n - n % _PIN_DAYS}?",
            "When did I buy a {bought}?".format(**now),
        )


def _turn(values: Sequence[str], n: int, days: int, count: int = 1) -> list[str]:
    """Those whose turn it is: each has so many days, then the next one comes."""
    first = n // days
    return [values[(first + place) % len(values)] for place in range(count)]
