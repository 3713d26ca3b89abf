"""Values as JSON: every field that whoever reads them may ask for is there."""

from dataclasses import fields
from typing import Any

import pytest

from recollect import Conversation, Fact, Forgotten, Recollection, Retention
from recollect.model.recollection import Hit, Used
from recollect.record.transfer import Imported
from recollect.testing.store_samples import START
from recollect.wire import from_wire, to_wire

EMPTY: list[Any] = [
    Recollection(query=""),
    Hit(id="", kind="", content="", excerpt="", score=0.0, at=START, channel=""),
    Retention(),
    Forgotten(),
    Imported(),
    Fact(id="", content="", recorded_at=START, valid_from=START),
    Conversation(id="", started_at=START, last_at=START),
]


@pytest.mark.parametrize("value", EMPTY, ids=lambda value: type(value).__name__)
def test_empty_fields_are_sent_and_what_is_none_is_not(value: Any) -> None:
    wired = to_wire(value)
    wanted = {field.name for field in fields(value) if getattr(value, field.name) is not None}
    assert wired.keys() - {"kind"} == wanted - {"kind"}
    assert from_wire(type(value), wired) == value


def test_an_answer_without_memories_has_its_lists() -> None:
    wired = to_wire(Recollection(query="tea", used=(Used("gate", 0.0),)))
    assert (wired["hits"], wired["context"], wired["problems"]) == ([], "", [])
    assert wired["used"] == [{"name": "gate", "ms": 0.0, "found": 0, "note": ""}]
