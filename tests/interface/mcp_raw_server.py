"""Something that says it is an MCP server over stdio, word by word: `list`, `silent`, `garbage`, or `die`."""

import json
import sys


def answer(id: object, **what: object) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": id, **what}) + "\n")
    sys.stdout.flush()


def tool(name: str, **more: object) -> dict[str, object]:
    return {"name": name, "inputSchema": {"type": "object"}, **more}


def listed(cursor: str | None) -> dict[str, object]:
    """Pages without an end, with tools that are too large in them."""
    start = int(cursor or 0)
    wide = {"type": "object", "properties": {f"p{i}": {"type": "string"} for i in range(5000)}}
    tools = [tool(f"t{start + i}", description="d" * 100_000) for i in range(10)]
    return {"tools": [tool(f"wide{start}", inputSchema=wide), *tools], "nextCursor": str(start + 10)}


def main(manner: str) -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        method = asked["method"]
        if manner == "silent":
            continue
        if manner == "garbage":
            sys.stdout.write("\x00\xff not JSON at all\n[1, 2\n")
            sys.stdout.flush()
        elif method == "initialize":
            capabilities = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
            answer(asked["id"], result={**capabilities, "serverInfo": {"name": "raw", "version": "1"}})
        elif method == "tools/list":
            answer(asked["id"], result=listed((asked.get("params") or {}).get("cursor")))
        elif method == "tools/call":
            answer(asked["id"], result={"content": "not a list"})
        elif "id" in asked:
            answer(asked["id"], error={"code": -32601, "message": "no such method"})


if __name__ == "__main__":
    if sys.argv[1] != "die":
        main(sys.argv[1])
