"""A world of tools in which tasks have to be done: each kind of task has one way that works, and the tools do
not say which. What a task asks for differs each time, so an answer can be found, not remembered."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from recollect.agent.tools import Tool

RESULT = "result:"
"""Before what a task asks for, in the answer of the tool that has it."""


@dataclass(frozen=True, slots=True)
class Step:
    """A tool that has to be used, with the options it has to be given."""

    tool: str
    options: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of task: how people ask for it, and the way that works."""

    name: str
    wordings: tuple[str, ...]
    way: tuple[Step, ...]
    empty: tuple[str, ...] = ()
    """Tools that answer, with nothing in it: dead ends that do not look like failures."""
    false: str = ""
    """A tool that answers, once it may be used, with something that is wrong."""
    tells: bool = False
    """Whether a tool that is used too early says what it needs."""


@dataclass(frozen=True, slots=True)
class Task:
    kind: Kind
    wording: int
    number: int

    @property
    def item(self) -> str:
        return f"{self.kind.name[:2].upper()}-{self.number}"

    @property
    def question(self) -> str:
        return self.kind.wordings[self.wording].format(item=self.item)

    @property
    def answer(self) -> str:
        return sha256(f"{self.kind.name} {self.number}".encode()).hexdigest()[:8]


SERVICES, REGIONS = ("crm", "stock", "billing"), ("asia", "us", "eu")
OFFERED: dict[str, tuple[str, Mapping[str, tuple[str, ...]]]] = {
    "archive_search": ("Search old documents.", {"region": REGIONS}),
    "auth_basic": ("Get access by password.", {"service": SERVICES}),
    "auth_token": ("Get access by token.", {"service": SERVICES}),
    "ledger_v1_read": ("Read the books.", {}),
    "ledger_v2_read": ("Read the books.", {"currency": ("usd", "eur")}),
    "notes_read": ("Read notes of the books.", {}),
    "build_start": ("Make a build.", {"mode": ("fast", "safe")}),
    "line_freeze": ("Stop changes.", {}),
    "line_release": ("Let it out.", {"target": ("staging", "production")}),
    "carrier_open": ("Open a carrier's desk.", {"region": REGIONS}),
    "carrier_track": ("Follow what a carrier has.", {}),
    "store_central": ("Count what is there.", {}),
    "store_east": ("Count what is there.", {}),
    "store_west": ("Count what is there.", {}),
    "people_find": ("Find somebody.", {}),
    "people_card": ("Somebody's card.", {"detail": ("short", "full")}),
}
"""What every task is offered: what it is for, and its options with what they may be, in this order."""

KINDS = (
    Kind(
        "invoice",
        (
            "What is the total of invoice {item}?",
            "Tell me how much invoice {item} comes to.",
            "Look up the invoice {item} and give me its total amount.",
        ),
        (Step("auth_token", {"service": "billing"}), Step("ledger_v2_read", {"currency": "eur"})),
        empty=("archive_search",),
    ),
    Kind(
        "parcel",
        (
            "Where is parcel {item} right now?",
            "Find out where the parcel {item} has got to.",
            "Track parcel {item} for me, please.",
        ),
        (Step("carrier_open", {"region": "eu"}), Step("carrier_track")),
    ),
    Kind(
        "stock",
        (
            "How many pieces of article {item} are in stock?",
            "Check the stock of article {item}.",
            "Article {item}: how many do we have in stock?",
        ),
        (Step("store_west"),),
        empty=("store_central", "store_east"),
    ),
    Kind(
        "release",
        (
            "Ship version {item} to our users and tell me the release code.",
            "Version {item} has to be shipped. What is its release code?",
            "Please ship version {item}; I need the release code.",
        ),
        (
            Step("line_freeze"),
            Step("build_start", {"mode": "safe"}),
            Step("line_release", {"target": "production"}),
        ),
        tells=True,
    ),
    Kind(
        "customer",
        (
            "What is the phone number of customer {item}?",
            "I need to call customer {item}: what is the phone number?",
            "Customer {item}, which phone number do we have?",
        ),
        (Step("auth_basic", {"service": "crm"}), Step("people_card", {"detail": "full"})),
        empty=("people_find",),
        tells=True,
    ),
    Kind(
        "contract",
        (
            "When does contract {item} end?",
            "Tell me the end date of the contract {item}.",
            "Contract {item}: until when does it run?",
        ),
        (Step("archive_search", {"region": "us"}),),
    ),
)
"""What is met again and again."""

ALIKE = (
    Kind(
        "credit",
        ("What is the total of credit invoice {item}?",),
        (Step("auth_token", {"service": "billing"}), Step("ledger_v2_read", {"currency": "usd"})),
        empty=("archive_search",),
    ),
    Kind(
        "letter",
        ("Where is the registered parcel letter {item} right now?",),
        (Step("auth_basic", {"service": "stock"}), Step("carrier_track")),
    ),
    Kind(
        "sample",
        ("How many pieces of sample article {item} are in stock?",),
        (Step("store_central"),),
        false="store_west",
    ),
)
"""Tasks that sound like those, and have to be done in another way; one has a tool that lies, which is the one
that worked for its like."""

CHANGED = {
    "invoice": (Step("auth_token", {"service": "billing"}), Step("ledger_v1_read")),
    "contract": (Step("archive_search", {"region": "eu"}),),
}
"""Kinds whose way is another one, one day."""


class World:
    """One task under way."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.calls = 0
        self._done = 0

    def tools(self) -> list[Tool]:
        return [self._tool(name) for name in OFFERED]

    def _tool(self, name: str) -> Tool:
        about, options = OFFERED[name]
        properties: dict[str, Any] = {"item": {"type": "string", "description": "What it is about."}}
        properties |= {option: {"type": "string", "enum": [*values]} for option, values in options.items()}
        schema = {"type": "object", "properties": properties, "required": [*properties]}
        return Tool(name, about, schema, lambda given: self.use(name, given))

    def use(self, tool: str, given: Mapping[str, Any]) -> str:
        """What a tool answers; what it refuses is raised."""
        self.calls += 1
        kind, way = self.task.kind, self.task.kind.way
        wanted = way[self._done]
        options = {name: value for name, value in given.items() if name != "item"}
        if tool == wanted.tool and options == wanted.options:
            self._done += 1
            if self._done < len(way):
                return "ok"
            self._done = 0
            return f"{RESULT} {self.task.answer}"
        if tool == kind.false:
            return f"{RESULT} {sha256(self.task.answer.encode()).hexdigest()[:8]}"
        if tool in kind.empty:
            return "ok, nothing there"
        if tool == wanted.tool:
            raise ValueError(f"400: not with {', '.join(options.values())}")
        if any(tool == step.tool for step in way[self._done :]):
            raise ValueError(f"403: {wanted.tool} comes first" if kind.tells else "403: not allowed")
        raise ValueError("404: not known here")
