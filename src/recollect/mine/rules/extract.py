"""What rules find in a window of turns."""

from recollect.mine.extracted import Extraction, Window
from recollect.mine.rules.episodes import episode
from recollect.mine.rules.feedback import feedback
from recollect.mine.rules.found import Found
from recollect.mine.rules.grammar import Person
from recollect.mine.rules.hearing import hear
from recollect.mine.rules.howto import WORKED, answered_steps, own_steps
from recollect.mine.rules.pasted import is_mail
from recollect.mine.rules.people import Circle
from recollect.mine.rules.statements import plays, plays_on, read, statements, stops_playing
from recollect.mine.rules.telling import Teller
from recollect.mine.rules.topics import topics
from recollect.mine.rules.when import zone_of
from recollect.mine.speakers import speakers, spoken
from recollect.model.records import Role, Turn

_PLAYED = 4
"""How many turns of the user's a play lasts, with the one that begins it, if nothing is said of its end."""


def extract(window: Window) -> Extraction:
    """Claims, bonds, mentions and topics of a window; the same window always gives the same."""
    listener = _Listener(speakers((*window.before, *window.turns)))
    for turn in window.before:
        listener.hear(turn)
    listener.forget()
    for turn in window.turns:
        listener.hear(turn)
    found = listener.found
    _add_tasks(window, found)
    mentions = tuple(found.mentions.values())
    return Extraction(
        claims=tuple(found.claims.values()),
        bonds=tuple(found.bonds.values()),
        mentions=mentions,
        topics=topics(window.turns, mentions),
    )


class _Listener:
    """Hears users out, each speaker as one who may come back to what they said."""

    def __init__(self, known: frozenset[str]) -> None:
        self.found = Found()
        self._known = known
        self._tellers: dict[str, Teller] = {}
        self._playing = 0
        self._last: Turn | None = None

    def hear(self, turn: Turn) -> None:
        before, self._last = self._last, turn
        if turn.role is not Role.USER:
            return
        name, text = spoken(turn, self._known)
        if self._is_played(text):
            return
        teller = self._tellers.get(name)
        if teller is None:
            who = Person(name)
            teller = self._tellers[name] = Teller(who, self.found, Circle(who))
        teller.begin(turn.id, turn.at, zone_of(turn.zone))
        answered = before is not None and before.role is Role.ASSISTANT
        told = read(text)
        for claim in feedback(told, turn.id, teller.who.subject, answered):
            self.found.claim(claim)
        if not is_mail(text) and (steps := own_steps(text, turn.id, teller.who.inside)):
            self.found.claim(steps)
        for sentence in statements(told):
            for clause in sentence.clauses:
                hear(teller, clause, sentence)

    def _is_played(self, text: str) -> bool:
        """Whether a turn belongs to a play. One that tells the assistant whom to play is one turn; one in
        which the user plays somebody goes on for some, unless they speak of something else."""
        if stops_playing(text):
            self._playing = 0
        if plays_on(text):
            self._playing = _PLAYED
            return True
        self._playing = max(0, self._playing - 1)
        return self._playing > 0 or plays(text)

    def forget(self) -> None:
        """What was found so far explains what follows, and is not to be found again."""
        self.found = Found()
        for teller in self._tellers.values():
            teller.found = self.found


def _add_tasks(window: Window, found: Found) -> None:
    """What was asked and answered: how to do something, and how it went."""
    turns = window.turns
    for at in range(len(turns) - 1):
        question, answer = turns[at], turns[at + 1]
        if question.role is Role.USER and answer.role is Role.ASSISTANT:
            after = (
                turns[at + 2].content[:2_000]
                if at + 2 < len(turns) and turns[at + 2].role is Role.USER
                else ""
            )
            worked = WORKED.search(after) is not None
            steps = answered_steps(
                question.content, answer.content, (question.id, answer.id), "the user", worked
            )
            if steps:
                found.claim(steps)
    if done := episode(turns):
        found.claim(done)
