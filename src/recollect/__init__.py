"""Long-term memory for AI agents.

>>> from recollect import Memory
>>> memory = Memory.open()
"""

from typing import TYPE_CHECKING, Any

from recollect.errors import (
    Conflict,
    EmbedderError,
    Invalid,
    ModelError,
    NotFound,
    Overtaken,
    ProjectionError,
    QuotaExceeded,
    RecollectError,
    Repeated,
    SchemaMismatch,
    SettingsError,
    StoreCorrupt,
    StoreError,
    StoreMissing,
    StoreUnavailable,
    TooLarge,
    Unauthorized,
    WeightsMissing,
)
from recollect.memory import Memory
from recollect.model.goals import GoalState
from recollect.model.mined import Contradiction, Mined
from recollect.model.places import Drawer, Place
from recollect.model.recollection import Event, Hit, Neighbourhood, Recollection
from recollect.model.records import (
    AuditEntry,
    Closet,
    Conversation,
    Entity,
    Episode,
    Fact,
    Goal,
    Procedure,
    Profile,
    Record,
    Reflection,
    Relation,
    Summary,
    ToolInvocation,
    Turn,
    UserSettings,
)
from recollect.model.retention import Retention
from recollect.model.scope import GLOBAL, Scope
from recollect.model.tools import ToolStats
from recollect.model.working import WorkingItem, WorkingState
from recollect.record.spending import Spending
from recollect.record.transfer import Imported
from recollect.record.turns import Message
from recollect.scoped import ScopedMemory
from recollect.scoped.working import WorkingMemory
from recollect.tend.erase import Forgotten
from recollect.version import VERSION

if TYPE_CHECKING:
    from recollect.agent.agent import Agent
    from recollect.agent.events import Answer
    from recollect.agent.prompts import Prompts
    from recollect.agent.tools import Tool, tool
    from recollect.asynchronous import AsyncMemory, AsyncScopedMemory, AsyncWorkingMemory
    from recollect.client import Client, RemoteScopedMemory, RemoteWorkingMemory
    from recollect.client.asynchronous import AsyncClient

__version__ = VERSION

__all__ = [
    "GLOBAL",
    "Agent",
    "Answer",
    "AsyncClient",
    "AsyncMemory",
    "AsyncScopedMemory",
    "AsyncWorkingMemory",
    "AuditEntry",
    "Client",
    "Closet",
    "Conflict",
    "Contradiction",
    "Conversation",
    "Drawer",
    "EmbedderError",
    "Entity",
    "Episode",
    "Event",
    "Fact",
    "Forgotten",
    "Goal",
    "GoalState",
    "Hit",
    "Imported",
    "Invalid",
    "Memory",
    "Message",
    "Mined",
    "ModelError",
    "Neighbourhood",
    "NotFound",
    "Overtaken",
    "Place",
    "Procedure",
    "Profile",
    "ProjectionError",
    "Prompts",
    "QuotaExceeded",
    "RecollectError",
    "Recollection",
    "Record",
    "Reflection",
    "Relation",
    "RemoteScopedMemory",
    "RemoteWorkingMemory",
    "Repeated",
    "Retention",
    "SchemaMismatch",
    "Scope",
    "ScopedMemory",
    "SettingsError",
    "Spending",
    "StoreCorrupt",
    "StoreError",
    "StoreMissing",
    "StoreUnavailable",
    "Summary",
    "TooLarge",
    "Tool",
    "ToolInvocation",
    "ToolStats",
    "Turn",
    "Unauthorized",
    "UserSettings",
    "WeightsMissing",
    "WorkingItem",
    "WorkingMemory",
    "WorkingState",
    "tool",
]


_LATER = {
    "Agent": "recollect.agent.agent",
    "Answer": "recollect.agent.events",
    "Prompts": "recollect.agent.prompts",
    "Tool": "recollect.agent.tools",
    "tool": "recollect.agent.tools",
    "AsyncMemory": "recollect.asynchronous",
    "AsyncScopedMemory": "recollect.asynchronous",
    "AsyncWorkingMemory": "recollect.asynchronous",
    "Client": "recollect.client",
    "RemoteScopedMemory": "recollect.client",
    "RemoteWorkingMemory": "recollect.client",
    "AsyncClient": "recollect.client.asynchronous",
}


def __getattr__(name: str) -> Any:
    """The names that few need, when they are asked for: asyncio is a fifth of the time to import this."""
    if name not in _LATER:
        raise AttributeError(f"module 'recollect' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LATER[name]), name)
