"""What rules find in a window of turns."""

from recollect.mine.extracted import Extraction, Window
from recollect.mine.rules.grammar import Person
from recollect.mine.rules.people import Circle
from recollect.mine.rules.statements import plays, statements, stops_playing
from recollect.mine.rules.telling import Found, Teller
from recollect.mine.rules.when import zone_of
from recollect.mine.speakers import speakers, spoken
from recollect.model.records import Role


def extract(window: Window) -> Extraction:
    """Claims, bonds, mentions and topics of a window; the same window always gives the same."""
    found = Found()
    known = speakers((*window.before, *window.turns))
    tellers: dict[str, Teller] = {}
    playing = False
    for turn in window.turns:
        if turn.role is not Role.USER:
            continue
        name, text = spoken(turn, known)
        if stops_playing(text):
            playing = False
        playing = playing or plays(text)
        teller = tellers.get(name)
        if teller is None:
            who = Person(name)
            teller = tellers[name] = Teller(who, found, Circle(who))
        teller.begin(turn.id, turn.at, zone_of(turn.zone))
        if playing:
            continue
        for sentence in statements(text):
            for clause in sentence.clauses:
                teller.hear(clause, sentence)
    return Extraction(
        claims=tuple(found.claims.values()),
        bonds=tuple(found.bonds.values()),
        mentions=tuple(found.mentions.values()),
    )
