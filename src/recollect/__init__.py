"""Long-term memory for AI agents.

>>> from recollect import Memory
>>> memory = Memory.open()
"""

from recollect.asynchronous import AsyncMemory, AsyncScopedMemory
from recollect.errors import (
    Conflict,
    EmbedderError,
    Invalid,
    NotFound,
    RecollectError,
    SchemaMismatch,
    SettingsError,
    StoreCorrupt,
    StoreError,
    StoreUnavailable,
    TooLarge,
    WeightsMissing,
)
from recollect.memory import Memory
from recollect.model.recollection import Event, Hit, Recollection
from recollect.model.records import (
    AuditEntry,
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
from recollect.model.scope import GLOBAL, Scope
from recollect.record.transfer import Imported
from recollect.record.turns import Message
from recollect.scoped import ScopedMemory
from recollect.tend.erase import Forgotten

__version__ = "0.1.0"

__all__ = [
    "GLOBAL",
    "AsyncMemory",
    "AsyncScopedMemory",
    "AuditEntry",
    "Conflict",
    "Conversation",
    "EmbedderError",
    "Entity",
    "Episode",
    "Event",
    "Fact",
    "Forgotten",
    "Goal",
    "Hit",
    "Imported",
    "Invalid",
    "Memory",
    "Message",
    "NotFound",
    "Procedure",
    "Profile",
    "RecollectError",
    "Recollection",
    "Record",
    "Reflection",
    "Relation",
    "SchemaMismatch",
    "Scope",
    "ScopedMemory",
    "SettingsError",
    "StoreCorrupt",
    "StoreError",
    "StoreUnavailable",
    "Summary",
    "TooLarge",
    "ToolInvocation",
    "Turn",
    "UserSettings",
    "WeightsMissing",
]
