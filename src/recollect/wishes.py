"""What a user has set for their own memory: which settings there are, and what holds of the stored ones."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, TypeVar, cast

from recollect.errors import Invalid
from recollect.limits import check_flag, check_given, check_number, check_whole, shown
from recollect.model.retention import check_differences
from recollect.model.scope import check_name

T = TypeVar("T")

log = logging.getLogger("recollect")

PII = ("off", "tag", "redact", "drop")
OFF = "memory is off"
OFF_FOR_AGENT = "recall is off for this agent"

Differences = Mapping[str, Mapping[str, Any]]
"""From the retention policy, by channel; under the empty name, for all of them."""


class Agent(NamedTuple):
    """What a user has set for one of their agents. One that recalls nothing is still mined."""

    recall: bool = True
    mining: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """A user's settings. None is for the deployment's."""

    enabled: bool = True
    auto_mine: bool | None = None
    conclude: bool | None = None
    pii: str | None = None
    top_k: int | None = None
    threshold: float | None = None
    context_tokens: int | None = None
    rerank: bool | None = None
    rerank_model: str | None = None
    embedding_model: str | None = None
    agents: Mapping[str, Mapping[str, bool]] = field(default_factory=dict[str, Mapping[str, bool]])
    retention: Differences = field(default_factory=dict[str, Mapping[str, Any]])
    custom: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def agent(self, name: str | None) -> Agent:
        return Agent(**self.agents.get(name or "", {}))

    def off(self, agent: str | None) -> str | None:
        """Why nothing is recalled, if so."""
        if not self.enabled:
            return OFF
        return None if self.agent(agent).recall else OFF_FOR_AGENT


def _check_pii(name: str, value: Any) -> None:
    if value not in PII:
        raise Invalid(f"{name} must be one of {', '.join(PII)}, not {shown(value)}.")


def _check_agents(name: str, value: Any) -> None:
    for agent, switches in _mapping(name, value).items():
        check_name("agent", agent)
        for switch, on in _mapping(f"{name}.{agent}", switches).items():
            if switch not in Agent._fields:
                raise Invalid(f"An agent has no {shown(switch)}; it has {', '.join(Agent._fields)}.")
            check_flag(f"{name}.{agent}.{switch}", on)


def _mapping(name: str, value: Any) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise Invalid(f"{name} must be a dict, not {shown(value)}.")
    return cast(Mapping[Any, Any], value)


_CHECKS: dict[str, Callable[[str, Any], object]] = {
    "enabled": check_flag,
    "auto_mine": check_flag,
    "conclude": check_flag,
    "pii": _check_pii,
    "top_k": lambda name, value: check_whole(name, value, least=1),
    "threshold": lambda name, value: check_number(name, value, -1, 1),
    "context_tokens": check_whole,
    "rerank": check_flag,
    "rerank_model": check_given,
    "embedding_model": check_given,
    "agents": _check_agents,
    "retention": lambda _, value: check_differences(value),
    "custom": _mapping,
}

KNOWN = tuple(one.name for one in fields(Wishes))
MERGED = ("agents", "custom")
"""Those of which only what is given changes, however deep."""


def chosen(own: T | None, deployed: T) -> T:
    return deployed if own is None else own


def check(values: Mapping[str, Any]) -> None:
    """What is to be set can be followed; else `Invalid`. Anything may be taken out, by None."""
    for name, value in values.items():
        if value is None:
            continue
        if name not in _CHECKS:
            raise Invalid(
                f"There is no setting {shown(name)}; there are {', '.join(KNOWN)}. What is your own goes "
                "into custom."
            )
        _CHECKS[name](name, value)


def merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """The settings after a change; None takes one out."""
    parts = {name: _patched(old.get(name), new[name]) or None for name in MERGED if name in new}
    return {name: value for name, value in {**old, **new, **parts}.items() if value is not None}


def _patched(old: Any, new: Any) -> Any:
    """As a JSON merge patch (RFC 7396) does it."""
    if not isinstance(new, Mapping):
        return new
    known = dict(cast(Mapping[str, Any], old)) if isinstance(old, Mapping) else {}
    for name, value in cast(Mapping[str, Any], new).items():
        if value is None:
            known.pop(name, None)
        else:
            known[name] = _patched(known.get(name), value)
    return known


def followed(values: Mapping[str, Any]) -> Wishes:
    """The settings that are stored; without what another release, or an import, left there and this one
    cannot follow: nobody's memory is unusable for that."""
    usable: dict[str, Any] = {}
    for name in KNOWN:
        if (value := values.get(name)) is not None:
            try:
                _CHECKS[name](name, value)
            except Invalid:
                log.warning("A user's %s is left out of account: it cannot be followed", name)
            else:
                usable[name] = value
    return Wishes(**usable)
