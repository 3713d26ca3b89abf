"""A write under a key is done once, whatever happens between it and its answer."""

import pytest

from recollect import Invalid, Memory, QuotaExceeded, ScopedMemory
from recollect.model.records import MEMORY_KINDS
from recollect.record.once import Made, sent
from recollect.scoped.once import once
from tests.unit.support import OpenMemory

REQUEST = sent("key", b"POST", b"/facts", b"body")


class Died(Exception):
    """The process, right after it wrote."""


def remembered(memory: ScopedMemory) -> str:
    return memory.remember("Lives in Porto").id


def again(memory: ScopedMemory, made: Made) -> str:
    ((kind, id),) = made
    assert memory.get(id).kind == kind
    return id


def test_what_was_written_before_dying_is_not_written_again(memory: Memory, derek: ScopedMemory) -> None:
    written: list[str] = []

    def dying(scope: ScopedMemory) -> str:
        written.append(remembered(scope))
        raise Died

    with pytest.raises(Died):
        once(derek, REQUEST, dying, again, MEMORY_KINDS)
    found = once(memory.scope("derek"), REQUEST, remembered, again, MEMORY_KINDS)
    assert (written, derek.counts()["fact"]) == ([found], 1)


def test_what_died_before_it_wrote_is_written(derek: ScopedMemory) -> None:
    def dying(_: ScopedMemory) -> str:
        raise Died

    with pytest.raises(Died):
        once(derek, REQUEST, dying, again, MEMORY_KINDS)
    once(derek, REQUEST, remembered, again, MEMORY_KINDS)
    assert derek.counts()["fact"] == 1


def test_making_room_is_not_the_write(open_memory: OpenMemory) -> None:
    derek = open_memory(retention="memory_quota=1").scope("derek")
    derek.record("user", "I live in Porto.", conversation="c")
    derek.mine("c")
    assert derek.counts()["fact"] == 1
    id = once(derek, REQUEST, remembered, again, MEMORY_KINDS)
    assert id == once(derek, REQUEST, remembered, again, MEMORY_KINDS)
    with pytest.raises(QuotaExceeded):
        once(derek, sent("other", b""), remembered, again, MEMORY_KINDS)


def test_what_is_refused_keeps_no_key(derek: ScopedMemory) -> None:
    for _ in range(2):
        with pytest.raises(Invalid, match="nothing to remember"):
            once(derek, REQUEST, lambda memory: memory.remember(" ").id, again, MEMORY_KINDS)


def test_the_parts_of_a_request_are_told_apart() -> None:
    digests = {
        sent("key", *parts).digest for parts in ((b"ab", b"c"), (b"a", b"bc"), (b"abc",), (b"abc", b""))
    }
    assert len(digests) == 4
    assert sent("key", b"abc") == sent("key", b"abc")
    assert sent("other", b"abc").digest != sent("key", b"abc").digest
    assert "key" not in repr(sent("key", b"abc")).replace("key=", "")


@pytest.mark.parametrize("key", ["", " ", "k" * 256])
def test_a_key_has_something_in_it(key: str) -> None:
    with pytest.raises(Invalid):
        sent(key)
