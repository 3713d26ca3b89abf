"""recollect record."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, cast

import typer

from recollect.cli import output, values
from recollect.cli.frame import Here, command
from recollect.errors import Invalid
from recollect.model.records import Role, Turn
from recollect.model.shapes import to_json
from recollect.record.turns import Message, as_message, check_message
from recollect.settings import Settings

app = typer.Typer()


@command(
    app,
    "recollect record user 'My budget for the Hawaii trip is $10,000' --conversation march-15",
    "git log -1 | recollect record user - --title 'Last commit'",
    "recollect record --file messages.jsonl",
)
def record(
    here: Here,
    role: Annotated[
        str | None,
        typer.Argument(parser=values.one_of(Role), metavar="ROLE", help=f"Who speaks: {', '.join(Role)}."),
    ] = None,
    content: Annotated[
        str | None, typer.Argument(metavar="CONTENT", help="What was said, or - to read standard input.")
    ] = None,
    file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Many turns instead: JSON Lines with role, content and, if known, conversation, index, at… "
            "Without an index a line is appended, again each time it is recorded.",
        ),
    ] = None,
    index: Annotated[
        int | None, typer.Option(min=0, help="Its place: recording the same there again changes nothing.")
    ] = None,
    at: Annotated[datetime | None, values.time_option("When it was said. Default: now.")] = None,
    title: Annotated[str | None, typer.Option(help="A title for the conversation.")] = None,
    metadata: values.Metadata = None,
) -> None:
    """Store what was said, word for word."""
    if file is not None:
        if any(given is not None for given in (role, index, at, title, metadata)):
            raise typer.BadParameter(
                "what the lines do not say cannot be added to them.", param_hint="--file"
            )
        _record_file(here, file)
        return
    if role is None or content is None:
        raise typer.BadParameter("say who speaks and what: ROLE CONTENT.", param_hint="CONTENT")
    text = values.content(content)
    with here.mine() as mine:
        turn = mine.record(role, text, index=index, at=at, title=title, metadata=metadata)
    here.answer(to_json(turn), lambda: output.table(("turn", "conversation"), [(turn.id, turn.conversation)]))


def _record_file(here: Here, file: str) -> None:
    messages = list(_messages(file, here.settings))  # so that nothing is recorded when a line is bad
    with here.mine() as mine:
        turns = mine.record_many(messages, progress=lambda done: here.progress("Recording", done))
    places = [{"id": t.id, "conversation": t.conversation, "index": t.index} for t in turns]
    here.answer({"turns": places, "count": len(turns)}, lambda: _summary(turns))


def _summary(turns: list[Turn]) -> None:
    counts: dict[str, int] = {}
    for turn in turns:
        counts[turn.conversation] = counts.get(turn.conversation, 0) + 1
    output.table(("conversation", "turns"), [(name, f"{count:,}") for name, count in counts.items()])


def _messages(file: str, settings: Settings) -> Iterator[Message]:
    for number, line in enumerate(values.lines(file), 1):
        if not line.strip():
            continue
        try:
            message = json.loads(line)
            if not isinstance(message, dict):
                raise ValueError("it is not a JSON object.")
            yield _checked(cast("dict[str, Any]", message), settings)
        except json.JSONDecodeError as error:
            raise Invalid(f"Line {number} cannot be recorded: it is not JSON: {error}.") from None
        except (ValueError, TypeError, RecursionError, typer.BadParameter) as error:
            raise Invalid(f"Line {number} cannot be recorded: {error}") from None


def _checked(given: dict[str, Any], settings: Settings) -> Message:
    """The turn of one line; the library would refuse a wrong one too, but without the line's number."""
    at = given.get("at")
    message = as_message({**given, "at": values.a_time(at)} if at else given)
    check_message(message, settings)
    return message
