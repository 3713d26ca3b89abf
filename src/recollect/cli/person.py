"""recollect goals, profile."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from recollect.cli import output, values
from recollect.cli.frame import Here, command, new_app
from recollect.model.goals import is_overdue
from recollect.model.records import Goal, GoalStatus, Profile
from recollect.model.shapes import to_json

goals = new_app(
    "goals",
    "What the user or an agent is after.",
    'recollect goals add "Book the flights" --deadline 2025-04-01',
    "recollect goals list",
)
profile = new_app(
    "profile",
    "What is known of the user as a person.",
    "recollect profile set --preference seat=aisle --expertise Python",
    "recollect profile show",
)

ALL = "all"


def _tell_goals(found: Sequence[Goal]) -> None:
    now = datetime.now(UTC)
    late = ("overdue since " if is_overdue(goal, now) else "" for goal in found)
    labels = (
        (goal.id, str(goal.status), f"priority {goal.priority}", f"{since}{output.local(goal.deadline)}")
        for goal, since in zip(found, late, strict=True)
    )
    output.cards(zip(labels, (goal.description for goal in found), strict=True))


@command(goals, "recollect goals list", "recollect goals list --status all", name="list")
def list_goals(
    here: Here,
    status: Annotated[
        str,
        typer.Option(
            parser=values.one_of((*GoalStatus, ALL)),
            metavar="STATUS",
            help=f"{', '.join(GoalStatus)} or all.",
        ),
    ] = GoalStatus.ACTIVE.value,
) -> None:
    """List goals, the most pressing first."""
    with here.stored() as mine:
        found = mine.goals(None if status == ALL else status)

    def tell() -> None:
        _tell_goals(found)
        if not found:
            here.note(f"There are no {'' if status == ALL else f'{status} '}goals yet.")

    here.answer({"goals": [to_json(goal) for goal in found]}, tell)


@command(goals, 'recollect goals add "Book the flights" --priority 2 --deadline 2025-04-01', name="add")
def add_goal(
    here: Here,
    description: Annotated[str, typer.Argument(metavar="DESCRIPTION", help="What is to be reached.")],
    priority: Annotated[int, typer.Option(help="The higher, the more pressing.")] = 0,
    deadline: Annotated[datetime | None, values.time_option("Until when.")] = None,
    parent: Annotated[str | None, typer.Option(metavar="ID", help="The goal it is a part of.")] = None,
    blocked_by: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="A goal that must be reached first. Repeatable.")
    ] = None,
) -> None:
    """Add a goal."""
    with here.mine() as mine:
        goal = mine.add_goal(
            description, priority=priority, deadline=deadline, parent=parent, blocked_by=blocked_by or ()
        )
    here.answer(to_json(goal), lambda: _tell_goals([goal]))


@command(goals, 'recollect goals complete 0195a3c2-… --result "Booked with Hawaiian"', name="complete")
def complete_goal(
    here: Here,
    id: Annotated[str, typer.Argument(metavar="ID", help="The goal's id.")],
    status: Annotated[
        str,
        typer.Option(
            parser=values.one_of(GoalStatus), metavar="STATUS", help=f"How it ended: {', '.join(GoalStatus)}."
        ),
    ] = GoalStatus.COMPLETED.value,
    result: Annotated[str | None, typer.Option(help="What came of it.")] = None,
) -> None:
    """Close a goal, or open it again; those that wait for it alone become active."""
    with here.stored() as mine:
        goal = mine.complete_goal(id, status, result)
    here.answer(to_json(goal), lambda: _tell_goals([goal]))


@command(goals, "recollect goals show 0195a3c2-…", name="show")
def show_goal(here: Here, id: Annotated[str, typer.Argument(metavar="ID", help="The goal's id.")]) -> None:
    """Show a goal with its parts, what it is a part of, what blocks it and what it blocks."""
    with here.stored() as mine:
        state = mine.goal(id)
    around = {
        "part of": [state.parent] if state.parent else [],
        "parts": state.subgoals,
        "blocked by": state.blockers,
        "blocks": state.blocks,
    }

    def tell() -> None:
        _tell_goals([state.goal])
        if state.goal.result:
            output.line(state.goal.result)
        rows = [
            (how, goal.id, str(goal.status), goal.description)
            for how, some in around.items()
            for goal in some
        ]
        if rows:
            output.table(("", "goal", "status", "description"), rows)

    linked = {name.replace(" ", "_"): [to_json(goal) for goal in some] for name, some in around.items()}
    here.answer({**to_json(state.goal), "overdue": state.overdue, "around": linked}, tell)


@command(
    goals,
    "recollect goals update 0195a3c2-… --priority 5 --deadline 2025-04-01",
    "recollect goals update 0195a3c2-… --not-blocked --no-deadline",
    name="update",
)
def update_goal(
    here: Here,
    id: Annotated[str, typer.Argument(metavar="ID", help="The goal's id.")],
    description: Annotated[str | None, typer.Option(help="What is to be reached.")] = None,
    priority: Annotated[int | None, typer.Option(help="The higher, the more pressing.")] = None,
    deadline: Annotated[datetime | None, values.time_option("Until when.")] = None,
    no_deadline: Annotated[bool, typer.Option("--no-deadline", help="It has none.")] = False,
    parent: Annotated[str | None, typer.Option(metavar="ID", help="The goal it is a part of.")] = None,
    no_parent: Annotated[bool, typer.Option("--no-parent", help="It is a part of none.")] = False,
    blocked_by: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="All that must be reached first. Repeatable.")
    ] = None,
    not_blocked: Annotated[bool, typer.Option("--not-blocked", help="Nothing blocks it.")] = False,
) -> None:
    """Change a goal."""
    given = {
        "description": description,
        "priority": priority,
        "deadline": deadline,
        "parent": parent,
        "blocked_by": blocked_by or None,
    }
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    taken = {"deadline": no_deadline, "parent": no_parent, "blocked_by": not_blocked}
    for name, off in taken.items():
        if off and name in changes:
            raise typer.BadParameter("give it or take it away, not both.", param_hint=f"--{name}")
        if off:
            changes[name] = () if name == "blocked_by" else None
    if not changes:
        raise typer.BadParameter("say what to change.", param_hint="--description, --priority, …")
    with here.stored() as mine:
        goal = mine.update_goal(id, **changes)
    here.answer(to_json(goal), lambda: _tell_goals([goal]))


def _answer_profile(here: Here, known: Profile) -> None:
    rows = [
        *(("preference", key, _shown(value)) for key, value in known.preferences.items()),
        *(("style", key, _shown(value)) for key, value in known.style.items()),
        *(("expertise", name, "") for name in known.expertise),
    ]

    def tell() -> None:
        if rows:
            output.table(("part", "name", "value"), rows)
        else:
            here.note(f"The profile of {here.user} is empty.")

    here.answer(to_json(known), tell)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else output.dumps(value)


@command(profile, "recollect profile show", "recollect profile show --user derek --json", name="show")
def show_profile(here: Here) -> None:
    """Show the profile."""
    with here.stored() as mine:
        known = mine.profile()
    _answer_profile(here, known)


@command(
    profile,
    "recollect profile set --preference seat=aisle --style tone=brief",
    "recollect profile set --preference seat=null",
    name="set",
)
def set_profile(
    here: Here,
    preference: Annotated[
        list[Any] | None,
        typer.Option(
            parser=values.a_pair, metavar="KEY=VALUE", help="A preference; null takes it out. Repeatable."
        ),
    ] = None,
    style: Annotated[
        list[Any] | None,
        typer.Option(parser=values.a_pair, metavar="KEY=VALUE", help="How to talk to them. Repeatable."),
    ] = None,
    expertise: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="What they know well. Repeatable.")
    ] = None,
) -> None:
    """Add to the profile, or take out of it."""
    if not (preference or style or expertise):
        raise typer.BadParameter("give at least one.", param_hint="--preference, --style or --expertise")
    with here.mine() as mine:
        known = mine.update_profile(
            preferences=dict(preference or ()), style=dict(style or ()), expertise=expertise
        )
    _answer_profile(here, known)
