"""Who is who: names said, entities known; two taken for one, and one for two."""

from datetime import UTC, datetime
from itertools import count, groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import Invalid, Memory, NotFound, ScopedMemory
from recollect.mine.bonds import Tying, plan_relations
from recollect.mine.entities import ALIAS, ALIASES, APART, EXACT, FIRST_NAME, Cast, cast, keys_of, match
from recollect.mine.extracted import Bond, Mention, MentionType
from recollect.model.records import MINED, Entity, Relation
from recollect.text.names import folded, name_key
from tests.unit.mining import facts, say

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def person(name: str, *aliases: str, **fields: object) -> Entity:
    values = {"type": "person", "first_seen": NOW, "aliases": aliases, **fields}
    return Entity(id=f"e-{folded(name)}", name=name, **values)


def mention(name: str, *aliases: str, type: MentionType = "person", turn: str = "t") -> Mention:
    return Mention(name=name, type=type, turns=(turn,), aliases=aliases)


def met(*mentions: Mention, known: tuple[Entity, ...] = (), names: tuple[str, ...] = ()) -> Cast:
    def new(name: str) -> Entity:
        return Entity(id=f"e-{folded(name)}", name=name, first_seen=NOW)

    return cast(mentions, names, known, new, folded, 0.75)


@pytest.mark.parametrize(
    ("said", "known", "score"),
    [
        (mention("Anna"), person("Anna"), EXACT),
        (mention("the anna"), person("Anna"), EXACT),
        (mention("Ánna"), person("Anna"), EXACT),
        (mention("Annie"), person("Anna", "Annie"), ALIAS),
        (mention("Anna Keller", "Anna"), person("Anna"), ALIAS),
        (mention("Anna Keller"), person("Anna"), FIRST_NAME),
        (mention("Anna"), person("Anna Keller"), FIRST_NAME),
        (mention("Ann"), person("Anna"), 0.0),
        (mention("Paris", type="place"), person("Paris Hilton"), 0.0),
        (mention("Annie"), person("Anna", metadata={APART: ["annie"]}), 0.0),
    ],
)
def test_how_sure_it_is_that_a_name_is_somebodys(said: Mention, known: Entity, score: float) -> None:
    assert match(said, known) == score


def test_a_name_that_is_known_adds_to_who_is_known() -> None:
    found = met(mention("Anna Keller", turn="t2"), known=(person("Anna", sources=("t1",)),))
    (anna,) = found.entities.values()
    assert (anna.name, anna.aliases, anna.sources) == ("Anna", ("Anna Keller",), ("t1", "t2"))
    assert anna.metadata[ALIASES] == {"Anna Keller": FIRST_NAME}
    assert found.id_of("anna keller") == anna.id
    assert {*keys_of(anna, folded)} == {"anna", "anna keller"}


def test_of_two_with_that_first_name_it_is_neither() -> None:
    found = met(mention("Anna"), known=(person("Anna Keller"), person("Anna Schmidt")))
    assert len(found.entities) == 3


def test_a_name_that_is_merely_used_is_somebody_too() -> None:
    found = met(mention("Anna"), names=("Anna", "user", "Porto"))
    assert sorted(e.name for e in found.entities.values()) == ["Anna", "Porto", "user"]
    assert found.entities[found.id_of("Anna")].type == "person"


def test_keys_differ_from_user_to_user_and_not_by_how_a_name_is_written() -> None:
    assert name_key(b"a", "Anna") == name_key(b"a", "  ANNA ") != name_key(b"b", "Anna")


# Relations


def tied(*bonds: tuple[Bond, str, str], known: tuple[Relation, ...] = ()) -> list[Relation]:
    days = {str(n): datetime(2026, 1, n, tzinfo=UTC) for n in range(1, 29)}
    made: list[Relation] = []

    def new(bond: Bond, source: str, target: str) -> Relation:
        said = days[bond.turns[-1]]
        made.append(
            Relation(
                id=f"r{len(known) + len(made)}",
                source=source,
                type=bond.type,
                target=target,
                valid_from=said,
                recorded_at=NOW,
                sources=bond.turns,
                metadata={MINED: {"said": said.isoformat()}},
            )
        )
        return made[-1]

    numbers = count(100 + len(known))
    tying = Tying(
        said=lambda bond: days[bond.turns[-1]], new=new, new_id=lambda: f"r{next(numbers)}", times=days
    )
    changed = plan_relations(bonds, known, tying)
    return list(({r.id: r for r in known} | {r.id: r for r in changed}).values())


def related(*bonds: tuple[Bond, str, str], known: tuple[Relation, ...] = ()) -> dict[str, Relation]:
    return {r.target: r for r in tied(*bonds, known=known)}


def lives(place: str, turn: str, *, ended: bool = False) -> tuple[Bond, str, str]:
    bond = Bond(source="user", type="LOCATED_IN", target=place, turns=(turn,), single=True, ended=ended)
    return bond, "user", place


def test_a_change_closes_one_relation_and_opens_another() -> None:
    found = related(lives("Lyon", "1"), lives("Porto", "9"))
    assert found["Lyon"].valid_to == found["Porto"].valid_from
    assert found["Porto"].valid_to is None


def test_what_was_said_before_is_closed_by_what_holds() -> None:
    stored = tuple(related(lives("Porto", "9")).values())
    found = related(lives("Lyon", "1"), known=stored)
    assert (found["Lyon"].valid_to, found["Porto"].valid_to) == (found["Porto"].valid_from, None)


def test_a_relation_can_end_and_is_cited_once_by_each_turn() -> None:
    found = related(
        lives("Lyon", "1"), lives("Lyon", "2"), lives("Lyon", "2"), lives("Lyon", "5", ended=True)
    )
    assert found["Lyon"].sources == ("1", "2", "5")
    assert found["Lyon"].valid_to == datetime(2026, 1, 5, tzinfo=UTC)


def test_relations_planned_again_change_nothing() -> None:
    stored = tuple(related(lives("Lyon", "1"), lives("Porto", "9")).values())
    assert related(lives("Porto", "9"), known=stored) == {r.target: r for r in stored}


CITIES = st.sampled_from(["Lyon", "Porto", "Rome"])


@given(st.permutations(range(6)), st.lists(CITIES, min_size=6, max_size=6))
def test_relations_come_out_the_same_in_any_order(order: list[int], places: list[str]) -> None:
    known: list[Relation] = []
    for on in order:
        known = tied(lives(places[on], str(on + 1)), known=tuple(known))
    told = sorted(known, key=lambda relation: relation.valid_from)
    assert [relation.target for relation in told] == [next(run) for _, run in groupby(places)]
    assert [relation.valid_to for relation in told] == [*(r.valid_from for r in told[1:]), None]


# Put right by somebody who knows


def test_two_that_are_one_and_apart_again(derek: ScopedMemory) -> None:
    say(derek, "My sister Anna plays chess.", "My friend Annie works at Siemens.")
    derek.mine()
    anna = derek.merge("Annie", into="Anna")
    assert anna.aliases == ("Annie",)
    about = [event.content for event in derek.timeline("Annie")]
    assert any("chess" in content for content in about)
    assert any("Siemens" in content for content in about)
    assert len(derek.list("entity", name="Annie")) == 0

    annie = derek.split("anna", "Annie")
    assert annie.name == "Annie"
    assert not any("chess" in event.content for event in derek.timeline("Annie"))
    assert any("Siemens" in event.content for event in derek.timeline("Annie"))
    assert not any("Siemens" in event.content for event in derek.timeline("Anna"))
    say(derek, "Annie loves tea.")
    derek.mine()
    assert derek.list("entity", name="Anna")[0].aliases == ()  # type: ignore[attr-defined]


def test_apart_again_each_has_what_it_had(derek: ScopedMemory) -> None:
    say(derek, "My sister Anna plays chess. My friend Annie lives in Oslo.")
    derek.mine()

    def known() -> set[tuple[str, str]]:
        return {(name, event.content) for name in ("Anna", "Annie") for event in derek.timeline(name)}

    before = known()
    derek.merge("Annie", into="Anna")
    assert known() != before
    derek.split("Anna", "Annie")
    assert known() == before


def test_a_full_name_is_the_same_person(derek: ScopedMemory) -> None:
    say(derek, "My sister Anna plays chess.")
    say(derek, "My sister Anna Keller lives in Berlin.", conversation="b")
    derek.mine()
    assert len([e for e in derek.list("entity") if "Anna" in e.name]) == 1  # type: ignore[attr-defined]
    assert len(facts(derek)) >= 2


def test_who_is_known_is_found(derek: ScopedMemory, memory: Memory) -> None:
    say(derek, "My sister Anna plays chess.")
    derek.mine()
    (anna,) = derek.recall("Who is my sister?", kinds=["entity"]).hits
    assert anna.content.startswith("Anna")
    assert memory.store.stats()["rows"]["chunks_waiting_for_a_vector"] == 0


def test_who_tells_their_name_is_found_by_it_and_no_namesake_is(derek: ScopedMemory) -> None:
    say(derek, "My name is Marta.", "I live in Lyon.", "My friend Marta plays chess.")
    derek.mine()
    assert any("Lyon" in event.content for event in derek.timeline("user"))
    named = [e for e in derek.list("entity") if "Marta" in (e.name, *e.aliases)]  # type: ignore[attr-defined]
    assert {e.name for e in named} == {"user", "Marta"}  # type: ignore[attr-defined]


def test_what_cannot_be_merged_or_split(derek: ScopedMemory) -> None:
    say(derek, "My sister Anna plays chess.")
    derek.mine()
    with pytest.raises(Invalid, match="the same already"):
        derek.merge("Anna", into="anna")
    with pytest.raises(Invalid, match="no alias"):
        derek.split("Anna", "Bob")
    with pytest.raises(NotFound):
        derek.merge("Nobody", into="Anna")
