"""The contract of a working store, as a test class for any adapter to inherit.

    class TestMyWorkingStore(WorkingContract):
        @pytest.fixture
        def working(self): ...   # with a time to live of TTL seconds, and nothing in it

        @pytest.fixture
        def pass_time(self): ... # a function that has so many seconds pass for what is stored

Nothing here sleeps.
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import count, product
from typing import Any

import pytest

from recollect.model.working import Desk, ItemType, WorkingItem
from recollect.ports.working import WorkingStore
from recollect.testing.store_samples import HARD_TEXTS

TTL = 3600
AT = datetime(2026, 3, 15, 9, 30, 0, 123456, tzinfo=UTC)
DESK = Desk("alice", "work", "c")
HOSTILE = (
    "a",
    "a:b",
    "b",
    ":",
    "*",
    "?",
    "[a-z]",
    "\\",
    "a%3Ab",
    "%2A",
    "_global",
    "items",
    "a b",
    "ä",
    "a\u0308",
    "🙂",
    "A",
)
"""Names that try to be, or to reach into, another's key."""
PassTime = Callable[[float], None]

_numbers = count()


def item(content: str = "tea", type: ItemType = ItemType.THOUGHT, **given: Any) -> WorkingItem:
    fields: dict[str, Any] = {"id": f"item-{next(_numbers)}", "at": AT, "tokens": 1, **given}
    return WorkingItem(type=type, content=content, **fields)


def contents(working: WorkingStore, desk: Desk = DESK) -> list[str]:
    return [held.content for held in working.items(desk)]


def fill(working: WorkingStore, desk: Desk, text: str) -> None:
    working.append(desk, item(text))
    working.put(desk, "key", text, 10)
    working.set_goal(desk, text)


def everything(working: WorkingStore, desk: Desk) -> tuple[list[str], dict[str, Any], str | None]:
    return contents(working, desk), dict(working.values(desk)), working.goal(desk)


def holding(text: str) -> tuple[list[str], dict[str, Any], str | None]:
    return [text], {"key": text}, text


NOTHING: tuple[list[str], dict[str, Any], str | None] = ([], {}, None)


USES: dict[str, Callable[[WorkingStore], object]] = {
    "items": lambda working: working.items(DESK),
    "value": lambda working: working.value(DESK, "none"),
    "values": lambda working: working.values(DESK),
    "goal": lambda working: working.goal(DESK),
    "append": lambda working: working.append(DESK, item()),
    "replace": lambda working: working.replace(DESK, working.items(DESK), [item("s")]),
    "put": lambda working: working.put(DESK, "other", 1, 10),
    "take out": lambda working: working.put(DESK, "other", None, 10),
    "set_goal": lambda working: working.set_goal(DESK, "other"),
}


class WorkingContract:
    # Keeping

    def test_items_come_back_in_order_with_every_field(self, working: WorkingStore) -> None:
        given = [
            item(
                "look", ItemType.ACTION, agent="scout", tokens=7, metadata={"tool": "search", "n": [1, None]}
            ),
            item("found", ItemType.OBSERVATION, agent=None),
            *(item(kind.value, kind) for kind in ItemType),
        ]
        for one in given:
            working.append(DESK, one)
        assert working.items(DESK) == given

    @pytest.mark.parametrize("name", HARD_TEXTS)
    def test_hard_text_comes_back_as_it_was(self, working: WorkingStore, name: str) -> None:
        text = HARD_TEXTS[name] + "\ud83d" + "\ude42"  # two halves that are not one character
        one = item(text, metadata={"text": text, text: 1}, agent=text)
        working.append(DESK, one)
        working.put(DESK, text, {text: [text]}, 10)
        working.set_goal(DESK, text)
        assert working.items(DESK) == [one]
        assert working.values(DESK) == {text: {text: [text]}}
        assert working.value(DESK, text) == {text: [text]}
        assert working.goal(DESK) == text
        assert working.replace(DESK, [one], [item("short")])

    def test_something_huge_is_kept(self, working: WorkingStore) -> None:
        huge = "x" * 10_000_000
        fill(working, DESK, huge)
        assert everything(working, DESK) == holding(huge)

    def test_what_is_not_there_is_nothing(self, working: WorkingStore) -> None:
        assert everything(working, DESK) == NOTHING
        working.put(DESK, "key", None, 10)
        working.set_goal(DESK, None)
        working.erase("alice")
        assert not working.replace(DESK, [item()], [item()])
        assert everything(working, DESK) == NOTHING

    def test_values_are_set_changed_and_taken_out(self, working: WorkingStore) -> None:
        value: dict[str, Any] = {"n": 1.5, "list": [True, None, "x"]}
        working.put(DESK, "a", value, 10)
        value["n"] = 2  # what was given is no longer the caller's to change
        working.put(DESK, "b", False, 10)
        assert working.values(DESK) == {"a": {"n": 1.5, "list": [True, None, "x"]}, "b": False}
        working.put(DESK, "b", 0, 10)
        working.put(DESK, "a", None, 10)
        assert working.values(DESK) == {"b": 0}
        assert (working.value(DESK, "b"), working.value(DESK, "a")) == (0, None)

    def test_the_goal_is_set_and_taken_away(self, working: WorkingStore) -> None:
        working.set_goal(DESK, "tea")
        working.set_goal(DESK, "coffee")
        assert working.goal(DESK) == "coffee"
        working.set_goal(DESK, None)
        assert working.goal(DESK) is None

    # Limits

    def test_so_many_keys_and_no_more(self, working: WorkingStore) -> None:
        assert [working.put(DESK, f"k{i}", i, 3) for i in range(5)] == [True] * 3 + [False] * 2
        assert working.put(DESK, "k0", "changed", 3)
        working.put(DESK, "k1", None, 3)
        assert working.put(DESK, "new", 1, 3)
        assert working.values(DESK) == {"k0": "changed", "k2": 2, "new": 1}

    def test_so_many_keys_and_no_more_at_once(self, working: WorkingStore) -> None:
        with ThreadPoolExecutor(8) as pool:
            taken = [pool.submit(working.put, DESK, f"k{i}", i, 10) for i in range(80)]
        assert sum(one.result() for one in taken) == len(working.values(DESK)) == 10

    # Replacing

    def test_what_was_appended_meanwhile_stays(self, working: WorkingStore) -> None:
        old = [item("a"), item("b")]
        for one in old:
            working.append(DESK, one)
        working.append(DESK, item("late"))
        assert working.replace(DESK, old, [item("s1"), item("s2")])
        assert contents(working) == ["s1", "s2", "late"]

    def test_the_slower_of_two_is_refused(self, working: WorkingStore) -> None:
        old = [item("a"), item("b"), item("c")]
        for one in old:
            working.append(DESK, one)
        assert working.replace(DESK, old[:2], [item("s")])
        assert not working.replace(DESK, old, [item("t")])
        assert not working.replace(DESK, old[:2], [])
        assert contents(working) == ["s", "c"]
        assert working.replace(DESK, working.items(DESK), [])
        assert contents(working) == []

    def test_what_came_after_an_erasure_is_not_replaced(self, working: WorkingStore) -> None:
        old = [item("a"), item("b")]
        for one in old:
            working.append(DESK, one)
        working.erase("alice")
        for text in ("a", "b"):
            working.append(DESK, item(text))  # the same words, other items
        assert not working.replace(DESK, old, [item("s")])
        assert contents(working) == ["a", "b"]

    def test_nothing_is_lost_while_others_compress(self, working: WorkingStore) -> None:
        """Each summary names what it stands for: in the end every item is told once, in order."""
        writers, each = 4, 40
        done = threading.Event()

        def write(writer: int) -> None:
            for n in range(each):
                working.append(DESK, item(f"{writer}.{n}"))

        def compress() -> None:
            while not done.is_set():
                held = working.items(DESK)
                if len(held) > 5:
                    told = " ".join(one.content for one in held[:-2])
                    working.replace(DESK, held[:-2], [item(told, ItemType.SUMMARY)])

        with ThreadPoolExecutor(writers + 3) as pool:
            compressing = [pool.submit(compress) for _ in range(3)]
            list(pool.map(write, range(writers)))
            done.set()
            for one in compressing:
                one.result()
        told = " ".join(contents(working)).split()
        for writer in range(writers):
            mine = [one for one in told if one.startswith(f"{writer}.")]
            assert mine == [f"{writer}.{n}" for n in range(each)]

    # Whose

    def test_nobody_reads_anothers_whatever_the_names(self, working: WorkingStore) -> None:
        desks = [Desk(*names) for names in product(HOSTILE[:9], repeat=3)]
        desks += [Desk(name, name, name) for name in HOSTILE[9:]]
        for number, desk in enumerate(desks):
            fill(working, desk, str(number))
        wrong = [desk for n, desk in enumerate(desks) if everything(working, desk) != holding(str(n))]
        assert wrong == []

    @pytest.mark.parametrize("name", HOSTILE)
    def test_erasing_a_user_leaves_every_other(self, working: WorkingStore, name: str) -> None:
        desks = [Desk(user, channel, "c") for user in HOSTILE for channel in {"a", name}]
        for desk in desks:
            fill(working, desk, "tea")
        working.erase(name)
        for desk in desks:
            assert everything(working, desk) == (NOTHING if desk.user == name else holding("tea"))

    @pytest.mark.parametrize("name", HOSTILE)
    def test_erasing_a_channel_or_a_conversation(self, working: WorkingStore, name: str) -> None:
        desks = [Desk(*names) for names in product(("alice", name), HOSTILE[:6], (name, "c", "goal"))]
        for desk in desks:
            fill(working, desk, "tea")
        working.erase("alice", conversation=name)
        left = [desk for desk in desks if desk.user != "alice" or desk.conversation != name]
        assert [desk for desk in desks if everything(working, desk) != NOTHING] == left
        working.erase("alice", channel=name)
        left = [desk for desk in left if desk.user != "alice" or desk.channel != name]
        assert [desk for desk in desks if everything(working, desk) != NOTHING] == left
        working.erase("alice", channel="b", conversation="c")
        left = [desk for desk in left if desk != Desk("alice", "b", "c")]
        assert [desk for desk in desks if everything(working, desk) != NOTHING] == left

    # Expiring

    def test_all_of_a_conversation_expires_together(self, working: WorkingStore, pass_time: PassTime) -> None:
        fill(working, DESK, "tea")
        pass_time(TTL - 60)
        working.append(DESK, item("coffee"))  # renews the rest as well
        pass_time(TTL - 60)
        assert everything(working, DESK) == (["tea", "coffee"], {"key": "tea"}, "tea")
        pass_time(TTL + 1)
        assert everything(working, DESK) == NOTHING

    @pytest.mark.parametrize("use", USES)
    def test_any_use_renews_it(self, working: WorkingStore, pass_time: PassTime, use: str) -> None:
        fill(working, DESK, "tea")
        fill(working, DESK._replace(conversation="unused"), "tea")
        pass_time(TTL - 60)
        USES[use](working)
        pass_time(TTL - 60)
        assert working.items(DESK)
        assert working.values(DESK)["key"] == "tea"
        assert working.goal(DESK) is not None
        assert everything(working, DESK._replace(conversation="unused")) == NOTHING

    def test_what_expired_meanwhile_is_not_replaced(self, working: WorkingStore, pass_time: PassTime) -> None:
        old = [item("a")]
        working.append(DESK, old[0])
        pass_time(TTL + 1)
        working.append(DESK, item("a"))
        assert not working.replace(DESK, old, [item("s")])

    # Watching

    def test_its_state_can_be_watched(self, working: WorkingStore) -> None:
        before = working.state().used_bytes
        fill(working, DESK, "x" * 1_000_000)
        state = working.state()
        assert state.problem is None
        assert state.where
        assert before is not None
        assert state.used_bytes is not None
        assert state.used_bytes > before + 2_000_000
        assert state.evicted is not None
        assert state.policy
