"""What routes take and give, as OpenAPI tells it."""

from typing import Annotated, Any

from fastapi import Query
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, Strict, create_model

from recollect.limits import TEXT_LIMIT
from recollect.model.scope import NAME_LIMIT

PAGE = 50
LONGEST_PAGE = 1000
MANY = 1000
"""The most items of a list in a body."""

Flag = Annotated[bool, Strict()]
Whole = Annotated[int, Strict()]
Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]
Name = Annotated[str, Field(max_length=NAME_LIMIT)]
Text = Annotated[str, Field(max_length=TEXT_LIMIT)]
Texts = Annotated[list[Text], Field(max_length=MANY)]
Vector = Annotated[list[Number], Field(max_length=65_536)]
Time = AwareDatetime

Limit = Annotated[int, Query(ge=1, le=LONGEST_PAGE, description="How many at most.")]
After = Annotated[str | None, Query(max_length=TEXT_LIMIT, description="`next` of the page before.")]
Since = Annotated[AwareDatetime | None, Query(description="A time with its zone.")]
DryRun = Annotated[bool, Query(description="Erase nothing, and tell what would go.")]


class Body(BaseModel):
    """A body has the fields that are named, and no others."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    def given(self) -> dict[str, Any]:
        """What was sent, without what was left out."""
        return self.model_dump(exclude_unset=True)


def like(*examples: Any) -> ConfigDict:
    """The configuration of a body of which these are examples."""
    return ConfigDict(json_schema_extra={"examples": [*examples]})


PROBLEM: dict[str, Any] = {
    "title": "Problem",
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What went wrong, and what to do about it."},
    },
    "examples": [
        {"type": "about:blank", "title": "Not Found", "status": 404, "detail": "There is no memory 'x'."}
    ],
}
"""RFC 9457; the one shape of every error."""

REFUSED: dict[int | str, dict[str, Any]] = {
    "4XX": {"description": "A problem", "content": {"application/problem+json": {"schema": PROBLEM}}}
}


def gives(shape: Any, what: str = "", status: int = 200) -> dict[str, Any]:
    """The arguments of a route that answers with this shape. It is documented, and not checked on the way."""
    said = what or (getattr(shape, "__doc__", None) or "Done").split("\n")[0].split(": ")[0]
    return {
        "status_code": status,
        "response_model": None,
        "responses": {status: {"model": shape, "description": said}},
    }


def made(**fields: Any) -> Any:
    """The shape of an object with these fields."""
    name = "".join(part.title() for part in "_".join((*fields, "answer")).split("_"))
    shaped: dict[str, Any] = {field: (kind, ...) for field, kind in fields.items()}
    return create_model(name, **shaped)


def listed(plural: str, kind: Any) -> Any:
    """The shape of a page of a list."""
    fields: dict[str, Any] = {plural: (list[kind], ...), "next": (str | None, None)}
    return create_model(f"{plural.title().replace('_', '')}Page", **fields)
