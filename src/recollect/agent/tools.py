"""What an agent can do: a name, what it is for, what it takes, and a function."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from recollect.ports.language_model import Schema


@dataclass(frozen=True, slots=True)
class Tool:
    """`call` gets the arguments by name and answers with text or anything that can be JSON; what it raises
    becomes an observation."""

    name: str
    description: str
    parameters: Schema
    call: Callable[[Mapping[str, Any]], Any]
