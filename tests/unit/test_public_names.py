"""The public names are a promise: a change to this list is a change for everybody who uses Recollect."""

import recollect

# The list itself: edit it on purpose, with a line in the release notes.
PUBLIC = [
    # doing
    "Agent",
    "AsyncClient",
    "AsyncMemory",
    "AsyncScopedMemory",
    "AsyncWorkingMemory",
    "Client",
    "Memory",
    "RemoteScopedMemory",
    "RemoteWorkingMemory",
    "ScopedMemory",
    "WorkingMemory",
    # what is given and asked
    "GLOBAL",
    "Message",
    "ProjectionError",
    "Prompts",
    "Retention",
    "Scope",
    "Tool",
    "tool",
    # what is stored
    "AuditEntry",
    "Closet",
    "Contradiction",
    "Conversation",
    "Entity",
    "Episode",
    "Fact",
    "Goal",
    "Procedure",
    "Profile",
    "Record",
    "Reflection",
    "Relation",
    "Repeated",
    "Summary",
    "ToolInvocation",
    "Turn",
    "UserSettings",
    # what comes back
    "Answer",
    "Drawer",
    "Event",
    "Forgotten",
    "GoalState",
    "Hit",
    "Imported",
    "Mined",
    "Neighbourhood",
    "Place",
    "Recollection",
    "WorkingItem",
    "WorkingState",
    "ToolStats",
    # errors
    "Conflict",
    "EmbedderError",
    "Invalid",
    "ModelError",
    "NotFound",
    "Overtaken",
    "QuotaExceeded",
    "RecollectError",
    "SchemaMismatch",
    "SettingsError",
    "Spending",
    "StoreCorrupt",
    "StoreError",
    "StoreMissing",
    "StoreUnavailable",
    "TooLarge",
    "Unauthorized",
    "WeightsMissing",
]


def test_the_public_names_are_these() -> None:
    assert sorted(recollect.__all__) == sorted(PUBLIC)


def test_every_public_name_is_there() -> None:
    missing = [name for name in recollect.__all__ if not hasattr(recollect, name)]
    assert missing == []


def test_every_error_is_public() -> None:
    from recollect import errors

    tree = {name for name, value in vars(errors).items() if isinstance(value, type)}
    assert tree <= set(recollect.__all__)
