"""What users can set for their own memory, with what holds and what there is to choose from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from recollect.settings import BOUNDS, Settings
from recollect.wishes import PII, Wishes


@dataclass(frozen=True, slots=True)
class Offered:
    """A setting, as it is offered to a user."""

    value: Any
    """What holds."""
    deployed: Any
    """What does where they have set nothing."""
    own: bool
    """Whether they have set it."""
    allowed: tuple[Any, ...] | None = None
    """What there is to choose from; None for any number from `least` to `most`."""
    least: float | None = None
    most: float | None = None


_FLAG = (True, False)


def offered(
    wishes: Wishes, settings: Settings, reranks: bool, rerankers: Sequence[str], embedders: Sequence[str]
) -> dict[str, Offered]:
    """What a user can set and what holds of it; what differs by agent or channel is not among it."""
    deployed: dict[str, tuple[Any, Any]] = {
        "enabled": (True, _FLAG),
        "auto_mine": (settings.auto_mine, _FLAG),
        "conclude": (settings.conclude, _FLAG),
        "pii": (settings.pii, PII),
        "top_k": (settings.top_k, None),
        "threshold": (settings.threshold, None),
        "context_tokens": (settings.context_tokens, None),
        "rerank": (reranks, _FLAG if rerankers else (False,)),
        "rerank_model": (next(iter(rerankers), None), tuple(rerankers)),
        "embedding_model": (next(iter(embedders), None), tuple(embedders)),
    }
    found: dict[str, Offered] = {}
    for name, (value, allowed) in deployed.items():
        own = getattr(wishes, name)
        least, most = BOUNDS.get(name, (None, None))
        mine = own is not None and (name != "enabled" or not own)
        found[name] = Offered(own if mine else value, value, mine, allowed, least, most)
    return found
