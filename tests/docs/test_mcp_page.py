"""The page about MCP is true: it lists what there is, and nothing else."""

import re
from pathlib import Path

from recollect.cli.mcp_clients import CLIENTS
from recollect.server.mcp import telling
from recollect.server.mcp.prompts import PROMPTS
from recollect.server.mcp.resources import FIXED, TEMPLATES
from recollect.server.mcp.tools import TOOLS

PAGE = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text("utf-8")


def rows(heading: str) -> list[list[str]]:
    """The first two cells of the rows of the table under a heading of its own."""
    table = PAGE.partition(f"| {heading} |")[2].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row.split("|")[1:3]] for row in table]


def test_every_tool_is_listed_with_what_it_takes() -> None:
    needed = {name: tool.schema.get("required", []) for name, tool in TOOLS.items()}
    takes = {
        name: [one if one in needed[name] else f"{one}?" for one in tool.schema["properties"]]
        for name, tool in TOOLS.items()
    }
    assert {name.strip("`"): re.findall(r"`([^`]+)`", given) for name, given in rows("tool")} == takes


def test_every_resource_and_prompt_is_listed() -> None:
    assert {one.strip("`") for one, _ in rows("resource")} == {one.uri for one in (*FIXED, *TEMPLATES)}
    assert {one.strip("`") for one, _ in rows("prompt")} == set(PROMPTS)


def test_every_client_is_listed_and_limits_are_as_told() -> None:
    told = {name: line for name, line in rows("client") if "install" in line}
    assert told == {one.title: f"`recollect mcp install {one.name}`" for one in CLIENTS.values()}
    assert f"{telling.CONTENT:,} characters of one content, {telling.ANSWER:,}" in PAGE.replace("\n", " ")
