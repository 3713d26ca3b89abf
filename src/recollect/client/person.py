"""The verbs about the user as a person, asked of a server: profile, settings, what is kept for how long."""

from collections.abc import Callable
from typing import Any

from recollect.client.likeness import Given, like
from recollect.model.records import Profile, UserSettings
from recollect.model.retention import Retention
from recollect.record.offered import Offered
from recollect.scoped import ScopedMemory


class RemotePerson:
    """The part of a user's memory behind a server that is about the user."""

    _call: Callable[..., Any]

    @like(ScopedMemory.profile)
    def profile(self, given: Given) -> Profile:
        return self._call("GET", "profile", returns=Profile)

    @like(ScopedMemory.update_profile)
    def update_profile(self, given: Given) -> Profile:
        return self._call("PATCH", "profile", returns=Profile, body=given)

    @like(ScopedMemory.settings)
    def settings(self, given: Given) -> UserSettings:
        return self._call("GET", "settings", returns=UserSettings)

    @like(ScopedMemory.update_settings)
    def update_settings(self, given: Given) -> UserSettings:
        return self._call("PATCH", "settings", returns=UserSettings, body=given.get("values", {}))

    @like(ScopedMemory.offered)
    def offered(self, given: Given) -> dict[str, Offered]:
        return self._call("GET", "settings", "offered", returns=dict[str, Offered], inside="settings")

    @like(ScopedMemory.is_on)
    def is_on(self, given: Given) -> bool:
        return self._call("GET", "settings", returns=UserSettings).values.get("enabled", True)

    @like(ScopedMemory.retention)
    def retention(self, given: Given) -> Retention:
        return self._call("GET", "retention", returns=Retention)

    @like(ScopedMemory.retention_origins)
    def retention_origins(self, given: Given) -> dict[str, str]:
        return self._call("GET", "retention", "origins", returns=dict[str, str])

    @like(ScopedMemory.set_retention)
    def set_retention(self, given: Given) -> Retention:
        params = {"channel": given.get("channel")}  # and not the scope's
        return self._call(
            "PATCH", "retention", returns=Retention, params=params, body=given.get("values", {})
        )
