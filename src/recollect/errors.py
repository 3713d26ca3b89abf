"""Every error Recollect raises on purpose.

RecollectError
├── Invalid              what was given cannot be taken
│   └── TooLarge         a size limit was passed
├── NotFound             no such thing for this user
├── Conflict             the same place already holds something else
├── Unauthorized         a server does not let this key in
├── Repeated             a write that was to be done once was done before
├── StoreError           the database
│   ├── StoreUnavailable     cannot be opened, read or written now
│   │   └── StoreMissing         a server has no such database yet
│   ├── StoreCorrupt         its file is damaged
│   └── SchemaMismatch       its schema is not this release's
├── EmbedderError        vectors could not be computed
│   └── WeightsMissing       a local model is not installed
├── ModelError           a language model or a reranker gave no usable answer
└── SettingsError        a setting has a value it cannot have

A message says what happened and what to do about it; an error raised without one says its docstring.
"""


class RecollectError(Exception):
    """Something went wrong in Recollect."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message or type(self).__doc__ or "")


class Invalid(RecollectError, ValueError):
    """A value that was given cannot be taken as it is."""


class TooLarge(Invalid):
    """A value is over its size limit."""


class NotFound(RecollectError, LookupError):
    """There is no such item for this user."""


class Conflict(RecollectError):
    """Something else is already stored in that place."""


class Overtaken(Conflict):
    """What was read has been changed since: read it again."""


class Repeated(RecollectError):
    """This write was done already."""


class QuotaExceeded(RecollectError):
    """The user has as much stored as they may. Forget something, or raise the quota."""


class Unauthorized(RecollectError):
    """The server does not let this key in. Give one that `recollect keys create --user NAME` made there."""


class StoreError(RecollectError):
    """The database failed."""


class StoreUnavailable(StoreError):
    """The database cannot be opened, read or written right now."""


class StoreMissing(StoreUnavailable):
    """The server has no such database yet. Make it with `recollect db create`."""


class StoreCorrupt(StoreError):
    """The database file is damaged. Nothing was changed: restore it from a backup or an export."""


class SchemaMismatch(StoreError):
    """The database has another schema version. Run `recollect db migrate`, or upgrade recollect."""


class EmbedderError(RecollectError):
    """The embedding model failed. Turns are still recorded; `recollect tend` fills the vectors in later."""


class WeightsMissing(EmbedderError):
    """The local embedding model is not installed. Run `recollect models install`."""


class ModelError(RecollectError):
    """The language model or the reranker gave no usable answer."""

    def __init__(self, message: str = "", tokens: tuple[int, int] | None = None) -> None:
        super().__init__(message)
        self.tokens = tokens
        """What the call used all the same, of the prompt and of its completion, where that is known."""


class ProjectionError(RecollectError):
    """A copy of the memory in another engine cannot be used: recall goes on without it."""


class SettingsError(RecollectError):
    """A setting has a value it cannot have."""
