"""What an agent has in its head during one invocation: its steps, the older ones compressed (E2)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from typing import Any, Protocol

from recollect.model.working import ItemType, WorkingItem
from recollect.ports.acting import Message, Result, Said
from recollect.record.working_summary import content, fitted, lines, older, room
from recollect.settings import Settings
from recollect.text.chunk import estimate_tokens
from recollect.text.quoting import plain


class Keeping(Protocol):
    """Working memory that outlives the process; None of an item, or of all, where it fails."""

    def add(self, type: str, content: str, metadata: dict[str, Any]) -> WorkingItem | None: ...

    def items(self) -> list[WorkingItem] | None: ...


@dataclass(slots=True)
class Step:
    """A turn of the model with the calls it asked for, what came of them, and the items that tell of it."""

    said: Said
    results: list[Result] = field(default_factory=list[Result])
    items: set[str] = field(default_factory=set[str])


class Trace:
    """The steps so far. Those whose items are still there as they were are shown as they were; of the others
    the summary tells, which working memory makes, or, where there is none, the same rules do."""

    def __init__(
        self, settings: Settings, now: Callable[[], datetime], keeping: Keeping | None = None
    ) -> None:
        self._settings = settings
        self._now = now
        self._keeping = keeping
        self._own: list[WorkingItem] = []
        self._held: list[WorkingItem] | None = None
        self._ids = count(1)
        self.steps: list[Step] = []

    def said(self, said: Said) -> None:
        """A turn in which tools were called."""
        self.steps.append(Step(said))
        if thought := "\n".join(filter(None, (said.thought, said.text))).strip():
            self._add("thought", thought)
        for call in said.calls:
            self._add("action", f"{call.tool} {call.arguments}", tool=call.tool)

    def observed(self, result: Result) -> None:
        """What came of one of its calls."""
        self.steps[-1].results.append(result)
        self._add("observation", result.output, tool=result.tool)
        self._held = None if self._keeping is None else self._keeping.items()

    def _add(self, type: str, content: str, **metadata: Any) -> None:
        item = self._keeping.add(type, content, metadata) if self._keeping else None
        if item is None:
            id, tokens = f"step-{next(self._ids)}", estimate_tokens(content)
            item = WorkingItem(
                id=id, type=ItemType(type), content=content, at=self._now(), tokens=tokens, metadata=metadata
            )
        self.steps[-1].items.add(item.id)
        self._own = compressed([*self._own, item], self._settings)

    @property
    def held(self) -> list[WorkingItem]:
        """What is in its head: as working memory has it, unless it has lost something."""
        if self._held is None:
            return self._own
        known = {item.id for item in self._held}
        whole = all(step.items <= known for step in self.steps)
        told = any(item.type is ItemType.SUMMARY for item in self._held)
        return self._held if whole or told else self._own

    def shown(self) -> tuple[str, list[Message]]:
        """The older steps in short, a line for each thing, and the newest as they were."""
        held = self.held
        known = {item.id for item in held}
        # The last one always: the model has not seen it yet, whatever others have made room for meanwhile.
        whole = [step for step in self.steps if step.items <= known or step is self.steps[-1]]
        shown = {id for step in whole for id in step.items}
        rest = [line for item in held if item.id not in shown for line in lines(item)]
        messages: list[Message] = []
        for step in whole:
            messages += [step.said, *step.results]
        return "\n".join(f"- [{line.kind}] {plain(line.text)}" for line in rest), messages


def compressed(items: Sequence[WorkingItem], settings: Settings) -> list[WorkingItem]:
    """The items, the older of them as one summary when they are too much."""
    limit = settings.working_tokens
    old = older(items, limit, settings.working_keep, settings.working_items)
    if not old or all(item.type is ItemType.SUMMARY for item in old):
        return [*items]
    new = items[len(old) :]
    text = content(fitted([line for item in old for line in lines(item)], room(new, limit)))
    summary = WorkingItem(
        id=f"summary-{old[-1].id}",
        type=ItemType.SUMMARY,
        content=text,
        at=old[-1].at,
        tokens=estimate_tokens(text),
    )
    return [summary, *new]
