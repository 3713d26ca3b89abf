"""The verbs about the user as a person: goals, profile, settings, what is kept for how long."""

import builtins
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from recollect.model.goals import GoalState, pressing
from recollect.model.records import Goal, Profile, UserSettings
from recollect.model.retention import Retention
from recollect.recall.techniques import configured
from recollect.record import goals, ledger
from recollect.record.growth import POINTS, Grown, growth
from recollect.record.offered import Offered, offered
from recollect.record.retention import origins, set_retention
from recollect.record.sizes import Filled, sizes
from recollect.scoped.audit import ReadingVerbs


class PersonVerbs(ReadingVerbs):
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
        return goals.add_goal(self._work, description, priority, deadline, parent, blocked_by)

    def goals(self, status: str | None = "active") -> builtins.list[Goal]:
        """Goals with this status (None: all), the most pressing first; those of an isolated channel only
        there."""
        where = {} if status is None else {"status": goals.goal_status(status)}
        with self._reading("goals", "goal") as reading:
            stored = self._work.store.find(Goal, where)
            found = sorted((goal for goal in stored if self._work.reaches(goal.channel)), key=pressing)
            reading.found(found)
        return found

    def goal(self, id: str) -> GoalState:
        """A goal with what it is a part of, its parts, what blocks it, what it blocks, and whether it is
        overdue."""
        return goals.goal_state(self._work, id)

    def update_goal(self, id: str, **changes: Any) -> Goal:
        """Change a goal's `description`, `priority`, `deadline`, `parent` or `blocked_by`; a deadline or
        parent of None is taken away. What would depend on itself is refused."""
        return goals.update_goal(self._work, id, changes)

    def complete_goal(self, id: str, status: str = "completed", result: str | None = None) -> Goal:
        """Close a goal with its result, or set another status. What is open of its parts is given up with
        it, and comes back when it is opened again. Goals that wait for it alone become active."""
        return goals.complete_goal(self._work, id, status, result)

    def sizes(self) -> dict[str, Filled]:
        """How much there is, by channel, and how much there may be; under the empty name, in all."""
        return sizes(self._work)

    def growth(self, points: int = POINTS) -> builtins.list[Grown]:
        """How many turns, memories, entities and relations there were over time, of those that are still
        stored, by kind: at the end of so many days (UTC) at most, equally far apart, today last."""
        return growth(self._work, points)

    def profile(self) -> Profile:
        """What is known of the user as a person."""
        with self._reading("profile", "profile") as reading:
            profile = ledger.profile(self._work)
            reading.found([profile])
        return profile

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
        """Merge into the user's settings; a value of None is taken out. `enabled`, `auto_mine`, `conclude`,
        `pii`, `top_k`, `threshold`, `context_tokens`, `rerank`, `rerank_model`, `embedding_model`, `agents`
        and `retention` are followed; what is the application's own goes into `custom`."""
        return ledger.update_user_settings(self._work, values)

    def offered(self) -> dict[str, Offered]:
        """What users can set for their own memory, by name: what holds for this one, what does where they
        have set nothing, and what there is to choose from."""
        work = self._work
        known = () if work.space is None else (work.space.embedder,)
        reranks = work.reranker is not None and "rerank" in configured(work.settings.techniques)
        return offered(work.wishes(), work.settings, reranks, work.rerank_models, known)

    def is_on(self) -> bool:
        """Whether the user has memory switched on: whatever records without being told to asks this first. As
        it was a moment ago, so that it costs nothing."""
        return self._work.wishes().enabled

    def retention(self) -> Retention:
        """The retention policy in force in the scope's channel."""
        return self._work.retention()

    def retention_origins(self) -> dict[str, str]:
        """Who has set each value of that policy: `default`, `deployment`, `user` or `channel`."""
        return origins(self._work)

    def set_retention(self, channel: str | None = None, **values: Any) -> Retention:
        """Have one channel, or without one all of the user's, differ from the deployment's retention policy;
        a value of None takes a difference back. The policy that then holds there."""
        return set_retention(self._work, channel, values)
