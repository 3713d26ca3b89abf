"""The verbs about the user as a person: goals, profile, settings, what is kept for how long."""

import builtins
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from recollect.model.records import Goal, Profile, UserSettings
from recollect.model.retention import Retention
from recollect.record import ledger
from recollect.record.retention import set_retention
from recollect.workspace import Workspace


class PersonVerbs:
    _work: Workspace

    def add_goal(
        self,
        description: str,
        *,
        priority: int = 0,
        deadline: datetime | None = None,
        parent: str | None = None,
        blocked_by: Sequence[str] = (),
    ) -> Goal:
        """A new goal, active unless something blocks it."""
        return ledger.add_goal(self._work, description, priority, deadline, parent, blocked_by)

    def goals(self, status: str | None = "active") -> builtins.list[Goal]:
        """Goals with this status (None: all), the most pressing first."""
        where = {} if status is None else {"status": ledger.goal_status(status)}
        found = self._work.store.find(Goal, where)
        return sorted(found, key=lambda goal: (-goal.priority, goal.id))

    def complete_goal(self, id: str, status: str = "completed", result: str | None = None) -> Goal:
        """Close a goal with its result, or set another status. Goals that only it blocked become active."""
        return ledger.complete_goal(self._work, id, status, result)

    def profile(self) -> Profile:
        """What is known of the user as a person."""
        return ledger.profile(self._work)

    def update_profile(
        self,
        *,
        preferences: Mapping[str, Any] | None = None,
        expertise: Sequence[str] | None = None,
        style: Mapping[str, Any] | None = None,
    ) -> Profile:
        """Merge into the profile; a preference or style set to None is taken out."""
        return ledger.update_profile(self._work, preferences, expertise, style)

    def settings(self) -> UserSettings:
        """What the user has set for their own memory."""
        return ledger.user_settings(self._work)

    def update_settings(self, **values: Any) -> UserSettings:
        """Merge into the user's settings; a value of None is taken out."""
        return ledger.update_user_settings(self._work, values)

    def retention(self) -> Retention:
        """The retention policy in force in the scope's channel."""
        return self._work.retention()

    def set_retention(self, channel: str | None = None, **values: Any) -> Retention:
        """Have one channel, or without one all of the user's, differ from the deployment's retention policy;
        a value of None takes a difference back. The policy that then holds there."""
        return set_retention(self._work, channel, values)
