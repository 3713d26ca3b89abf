"""How long what is kept: one policy, of the deployment, and where they differ of a user or a channel."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from math import log1p
from typing import Any, cast

from recollect.errors import Invalid
from recollect.model.scope import check_name

EVERYWHERE = ""
"""In place of a channel: all of a user's."""

LONGEST_DAYS = 36_500
"""The longest time of which anything is said in days."""
_BOUNDS: dict[str, tuple[float, float]] = {
    "ttl_days": (0.0001, LONGEST_DAYS),
    "popular": (1, 1_000_000_000),
    "decay_rate": (0.01, 1),
    "decay_idle_hours": (0, 876_000),
    "inferred_decay_days": (0.01, LONGEST_DAYS),
    "access_boost": (0, 10),
    "recency_boost": (0, 10),
    "archive_days": (0.0001, LONGEST_DAYS),
    "entity_salience": (0, 1),
    "entity_idle_days": (0.0001, LONGEST_DAYS),
    "turn_days": (0, LONGEST_DAYS),
    "turn_quota": (0, 2_000_000_000),
    "memory_quota": (0, 2_000_000_000),
    "channel_turn_quota": (0, 2_000_000_000),
    "channel_memory_quota": (0, 2_000_000_000),
    "quota_warning": (0, 1),
    "promote_confidence": (0, 1),
    "promote_count": (1, 1_000_000_000),
    "promote_conversations": (1, 1_000_000),
}
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """What goes when, what fades, what is shared. A pinned memory is exempt from all of it."""

    expire: bool = False
    """Whether new memories expire by themselves."""
    ttl_days: float = 15.0
    """After how many days they then do."""
    popular: int = 10
    """One returned at least so often since it was last renewed is renewed for as long again."""

    decay: bool = True
    """Whether entities that nobody speaks of, and what was merely inferred, count for less with time."""
    decay_rate: float = 0.95
    """What is left after a day: half after about two weeks."""
    decay_idle_hours: float = 24.0
    """How long an entity must be idle before it fades."""
    inferred_decay_days: float = 7.0
    """Confidence in what was inferred takes so many days for what salience does in one."""
    access_boost: float = 0.1
    """What was returned fades less: by so much times the logarithm of how often it was."""
    recency_boost: float = 0.1
    """And by so much more just after it was returned; this share fades like the rest."""

    archive: bool = True
    """Whether old conversations are archived: still found, at a lower rank."""
    archive_days: float = 90.0
    prune_entities: bool = True
    """Whether entities are deleted that have faded and that nothing is known of any more."""
    entity_salience: float = 0.1
    entity_idle_days: float = 30.0
    turn_days: float = 0.0
    """After how many days turns are erased, with what was derived from them alone; 0: never."""

    turn_quota: int = 1_000_000
    """The most turns of a user: further ones are refused. 0: no limit."""
    memory_quota: int = 100_000
    """The most memories of a user: of more, the least valuable mined ones go. 0: no limit."""
    channel_turn_quota: int = 0
    channel_memory_quota: int = 0
    """The same in one channel."""
    quota_warning: float = 0.8
    """From which share of a quota on there is a warning."""

    promote: bool = True
    """Whether facts of a channel that matter everywhere are moved to where all channels read them."""
    promote_confidence: float = 0.85
    promote_count: int = 5
    promote_conversations: int = 2
    isolated: bool = False
    """A channel apart: it reads nothing of `_global`, and nothing is promoted out of it."""

    def __post_init__(self) -> None:
        for name, (low, high) in _BOUNDS.items():
            if not low <= getattr(self, name) <= high:
                raise Invalid(f"{name} is {getattr(self, name)}, but must be between {low:g} and {high:g}.")


_FIELDS = {field.name: field.type for field in fields(Retention)}


def overridden(base: Retention, values: Mapping[str, Any]) -> Retention:
    """The policy with some values changed; `Invalid` when one cannot be."""
    for name, value in values.items():
        wanted: Any = _FIELDS.get(name)
        if wanted is None:
            raise Invalid(f"A retention policy has no {str(name)[:50]!r}; it has {', '.join(_FIELDS)}.")
        if type(value) is not wanted and not (wanted is float and type(value) is int):
            raise Invalid(f"{name} must be of type {wanted.__name__}, not {type(value).__name__}.")
    return replace(base, **values)


@lru_cache(maxsize=1024)
def layered(text: str, *differences: tuple[tuple[str, Any], ...]) -> Retention:
    """The policy that a text gives, with what differs from it, the last of which wins."""
    policy = parsed(text)
    for values in differences:
        policy = overridden(policy, dict(values))
    return policy


@lru_cache(maxsize=64)
def parsed(text: str) -> Retention:
    """The policy that a text such as "expire=on, ttl_days=30" gives; `Invalid` when it does not."""
    return overridden(Retention(), dict(assigned(part) for part in text.split(",") if part.strip()))


def assigned(part: str) -> tuple[str, Any]:
    """A name and its value, of a text such as "ttl_days=30"; `Invalid` when it is not."""
    name, equals, text = (piece.strip() for piece in part.partition("="))
    wanted: Any = _FIELDS.get(name)
    if not equals or wanted is None:
        raise Invalid(f"{part.strip()!r} is not name=value with a name of {', '.join(_FIELDS)}.")
    try:
        if wanted is bool:
            if text.lower() not in _TRUE + _FALSE:
                raise ValueError
            return name, text.lower() in _TRUE
        return name, wanted(text)
    except ValueError:
        kinds = {bool: "on or off", int: "a whole number", float: "a number"}
        raise Invalid(f"{name} is {text!r}, but must be {kinds[wanted]}.") from None


def check_differences(given: Any) -> None:
    """What a user has set, channel by channel, can be followed; else `Invalid`."""
    if not isinstance(given, Mapping):
        raise Invalid(f"The retention must be a dict of channels, not a {type(given).__name__}.")
    for channel, values in cast(Mapping[Any, Any], given).items():
        if not isinstance(values, Mapping):
            raise Invalid("The retention of each channel must be a dict.")
        if channel != EVERYWHERE:
            check_name("channel", channel)
        overridden(Retention(), cast(Mapping[str, Any], values))


def faded(initial: float, idle: float, policy: Retention, returned: int = 0, slower: float = 1.0) -> float:
    """What is left of a value after so many days in which nobody spoke of it or got it back.

    Worked out from what it was at first, so working it out twice changes nothing; never more than that.
    """
    if not policy.decay or idle * 24 < policy.decay_idle_hours:
        return initial
    left: float = policy.decay_rate ** (idle / slower)
    boost = 1 + policy.access_boost * log1p(returned) + (policy.recency_boost * left if returned else 0.0)
    return initial * min(1.0, left * boost)
