"""The store's contract: which records have most of the words of a text, asked of many texts at once."""

from collections.abc import Mapping, Sequence

import pytest

from recollect.model.changes import Remove
from recollect.model.records import Fact, Procedure
from recollect.model.scope import GLOBAL
from recollect.model.search import Words
from recollect.ports.store import Store, UserStore
from recollect.testing.store_samples import fact, memory, put, said
from recollect.testing.store_suite import StoreSuite
from recollect.text.analyse import terms

SHARE = 0.6
ALL = 10_000


def words(text: str, *, kind: str = Fact.kind, channel: str = GLOBAL) -> Words:
    return Words(kind=kind, channel=channel, terms=tuple(terms(text)))


def like(user: UserStore, *texts: str, share: float = SHARE, limit: int = ALL) -> list[set[str]]:
    """The records found for each of the texts."""
    return [{*found} for found in user.sharing([words(text) for text in texts], share, limit)]


def having(texts: Mapping[str, str], asked: str, share: float) -> set[str]:
    """Those that have this share of the words, found by looking at all of them."""
    wanted = {*terms(asked)}
    return {id for id, text in texts.items() if len(wanted & {*terms(text)}) >= share * len(wanted)}


def varied(count: int) -> dict[str, str]:
    """Texts in which some words are rare, some common, and some in all of them; each seventh word is said
    twice."""
    return {
        f"f-{n:04}": " ".join(
            [
                "tea",
                f"c{n % 3}",
                f"m{n % 40}",
                f"r{n // 4}",
                f"s{n // 6}",
                f"c{n % 3}" if n % 7 == 0 else "so",
            ]
        )
        for n in range(count)
    }


class SharingContract(StoreSuite):
    """Nothing that has enough of the words is missed, however common they are."""

    @pytest.mark.parametrize("share", [SHARE, 0.8, 1.0])
    def test_what_has_most_of_the_words_is_found(self, alice: UserStore, share: float) -> None:
        texts = varied(1500)
        alice.apply([put(fact(id, text)) for id, text in texts.items()])
        asked = [*texts.values()][::200]
        asked += ["tea c1", "tea", "m7 r1 s1", "c0 c1 c2 so", "tea m3 nowhere", "r0 nowhere neither other"]
        for text, found in zip(asked, like(alice, *asked, share=share), strict=True):
            enough = having(texts, text, share)
            assert enough <= found, text
            assert len(found) <= len(enough) + 100, "others that may have enough are few"

    def test_together_or_alone(self, alice: UserStore) -> None:
        texts = varied(300)
        alice.apply([put(fact(id, text)) for id, text in texts.items()])
        asked = [*texts.values()][::30]
        for text, found in zip(asked, like(alice, *asked), strict=True):
            enough = having(texts, text, SHARE)
            assert enough <= found & like(alice, text)[0]

    def test_the_likeliest_come_first(self, alice: UserStore) -> None:
        alice.apply([put(fact(f"some-{n}", f"green tea at seven with {n}")) for n in range(20)])
        alice.apply([put(fact("same", "Green tea at seven with lemon"))])
        (found,) = alice.sharing([words("green tea at seven with lemon")], SHARE, 3)
        assert (found[0], len(found)) == ("same", 3)
        assert alice.sharing([words("green tea")], SHARE, 0) == [[]]

    def test_kinds_channels_and_users_stay_apart(self, alice: UserStore, bob: UserStore) -> None:
        text = "Deploy with docker"
        alice.apply(
            [
                put(fact("here", text)),
                put(memory(Procedure, "how", text)),
                put(fact("work", text, channel="work")),
                put(fact("odd", text, channel="w\udc80rk\x00")),
                said(1),
            ]
        )
        bob.apply([put(fact("theirs", text))])
        asked = [
            words(text),
            words(text, kind=Procedure.kind),
            words(text, channel="work"),
            words(text, channel="w\udc80rk\x00"),
            words(text, channel="play"),
        ]
        assert alice.sharing(asked, SHARE, 9) == [["here"], ["how"], ["work"], ["odd"], []]
        assert bob.sharing(asked, SHARE, 9) == [["theirs"], [], [], [], []]

    def test_words_that_are_gone_are_not_found(self, alice: UserStore) -> None:
        alice.apply([put(fact(id, "Derek likes green tea")) for id in ("stays", "goes", "changes")])
        alice.apply([Remove("fact", ("goes",)), put(fact("changes", "Derek sells old cars"))])
        assert like(alice, "derek likes green tea", "derek sells old cars") == [{"stays"}, {"changes"}]

    def test_nothing_asked_and_nothing_there(self, store: Store, alice: UserStore) -> None:
        assert alice.sharing([], SHARE, 9) == []
        assert like(alice, "tea", "") == [set(), set()]
        alice.apply([put(fact("a", "tea"))])
        assert alice.sharing([], SHARE, 9) == []
        assert like(alice, "", "coffee", "tea") == [set(), set(), {"a"}]
        assert [*store.users()] == ["alice"]

    @pytest.mark.parametrize(
        "hostile",
        ["'", '"', "tea OR coffee", "NEAR(tea)", "tea*", "\\", "'; --", "a\x00b", "\udc80", "%s", "x" * 999],
    )
    def test_words_that_are_asked_for_are_never_operators(self, alice: UserStore, hostile: str) -> None:
        alice.apply([put(fact("a", "tea coffee"))])
        asked = Words(kind=Fact.kind, channel=GLOBAL, terms=(hostile, "tea"))
        assert alice.sharing([asked], 1.0, 9) == [[]]
        assert alice.sharing([asked], 0.5, 9) == [["a"]]

    def test_of_a_long_text_every_piece_may_be_it(self, alice: UserStore) -> None:
        long = " ".join(f"word{n}" for n in range(900))
        alice.apply([put(fact("long", long)), put(fact("short", "word1 word2"))])
        asked: Sequence[Words] = [words(long[:500]), words(long[-500:])]
        assert [found[:1] for found in alice.sharing(asked, SHARE, 9)] == [["long"], ["long"]]
