"""The write path for what is kept beside turns and memories: tools, summaries, profile, settings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from recollect import wishes
from recollect.errors import Invalid, NotFound
from recollect.limits import (
    check_content,
    check_flag,
    check_given,
    check_json,
    check_metadata,
    check_number,
    check_text,
    check_texts,
)
from recollect.model.changes import Expect, Log, Put
from recollect.model.records import (
    Profile,
    Record,
    Summary,
    ToolInvocation,
    Turn,
    UserSettings,
)
from recollect.workspace import Workspace, rereading

R = TypeVar("R", bound=Record)


def record_tool(
    work: Workspace,
    tool: str,
    input: Any,
    output: Any,
    *,
    success: bool | None,
    latency_ms: float | None,
    error: str | None,
    turn: str | None,
) -> ToolInvocation:
    for what, value in (("input", input), ("output", output)):
        check_json(what, value, work.settings.content_limit, "RECOLLECT_CONTENT_LIMIT")
    check_given("tool", tool)
    success = error is None if success is None else check_flag("success", success)
    check_text("error", error, work.settings.content_limit)
    if latency_ms is not None:
        check_number("latency_ms", latency_ms)
    if check_text("turn", turn) is not None and not work.store.get(Turn, [turn or ""]):
        raise NotFound(f"There is no turn {turn!r}.")
    invocation = ToolInvocation(
        id=work.new_id(),
        tool=tool,
        input=input,
        output=output,
        success=success,
        latency_ms=latency_ms,
        error=error,
        at=work.clock.now(),
        conversation=work.scope.conversation,
        turn=turn,
        channel=work.scope.channel,
        agent=work.scope.agent,
    )
    work.apply(Put(invocation), *_logged(work, "record_tool", invocation))
    return invocation


def record_summary(work: Workspace, query: str, summary: str, result: str) -> Summary:
    if work.scope.conversation is None:
        raise Invalid("A summary belongs to a conversation: use memory.scope(user=…, conversation=…).")
    for text in (query, summary, result):
        check_content(text, work.settings)
    made = Summary(
        id=work.new_id(),
        conversation=work.scope.conversation,
        query=query,
        summary=summary,
        result=result,
        at=work.clock.now(),
        channel=work.scope.channel,
        agent=work.scope.agent,
    )
    work.apply(Put(made), *_logged(work, "record_summary", made))
    return made


def profile(work: Workspace) -> Profile:
    return _only(work, Profile) or Profile(id="profile", updated_at=work.clock.now())


def _only(work: Workspace, kind: type[R]) -> R | None:
    """The one record of a kind that a user has one of; its id is the kind."""
    return next(iter(work.store.get(kind, [kind.kind])), None)


@rereading
def update_profile(
    work: Workspace,
    preferences: Mapping[str, Any] | None,
    expertise: Sequence[str] | None,
    style: Mapping[str, Any] | None,
) -> Profile:
    """Merge into the profile; a preference or style set to None is taken out."""
    check_metadata({} if preferences is None else preferences, work.settings, "preferences")
    check_metadata({} if style is None else style, work.settings, "style")
    known = () if expertise is None else check_texts("expertise", expertise, work.settings.metadata_limit)
    stored = _only(work, Profile)
    old = stored or profile(work)
    new = replace(
        old,
        preferences=_merged(old.preferences, preferences),
        expertise=tuple(dict.fromkeys((*old.expertise, *known))),
        style=_merged(old.style, style),
        updated_at=work.clock.now(),
    )
    for part in (new.preferences, new.style, {"expertise": list(new.expertise)}):
        check_metadata(part, work.settings)
    work.apply(Expect("profile", "profile", stored), Put(new), *_logged(work, "update_profile", new))
    return new


def user_settings(work: Workspace) -> UserSettings:
    return _only(work, UserSettings) or UserSettings(id="settings", updated_at=work.clock.now())


def update_user_settings(work: Workspace, values: Mapping[str, Any]) -> UserSettings:
    """Merge into the settings; what is set to None is taken out."""
    return change_user_settings(work, lambda _: values)


@rereading
def change_user_settings(
    work: Workspace, changed: Callable[[Mapping[str, Any]], Mapping[str, Any]]
) -> UserSettings:
    """The same with values that depend on those that are stored: worked out anew when others change them."""
    stored = _only(work, UserSettings)
    old = stored or user_settings(work)
    values = changed(old.values)
    check_metadata(values, work.settings, "settings")
    new = replace(old, values=wishes.merged(old.values, values), updated_at=work.clock.now())
    wishes.check({name: new.values.get(name) for name in values})
    _check_models(work, values)
    check_metadata(new.values, work.settings, "settings")
    work.apply(Expect("settings", "settings", stored), Put(new), *_logged(work, "update_settings", new))
    work.policies.forget(work.scope.user)
    return new


def _check_models(work: Workspace, values: Mapping[str, Any]) -> None:
    """A user may choose among the models that the deployment offers."""
    model, space = values.get("embedding_model"), work.space
    if model is not None and space is None:
        raise Invalid(
            "There is no embedding_model to choose: the memory has no embedder (RECOLLECT_EMBEDDER)."
        )
    if model is not None and space is not None and model not in (space.model, space.embedder):
        raise Invalid(
            f"embedding_model must be {space.embedder}: everybody's memories are searched by the vectors of "
            "one model. Whoever runs this memory can change it, with `recollect rebuild vectors`."
        )
    model, offered = values.get("rerank_model"), work.rerank_models
    if model is not None and model not in offered:
        offer = f"must be one of {', '.join(offered)}" if offered else "cannot be chosen here"
        raise Invalid(f"rerank_model {offer}; more are offered by RECOLLECT_RERANKER_MODELS.")


def _logged(work: Workspace, operation: str, record: Record) -> tuple[Log, ...]:
    return work.log(operation, f"{record.kind} {record.id}", kind=record.kind)


def _merged(old: Mapping[str, Any], new: Mapping[str, Any] | None) -> dict[str, Any]:
    return {key: value for key, value in {**old, **(new or {})}.items() if value is not None}
