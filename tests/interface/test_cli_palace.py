"""`recollect palace`: the tree, and the drawer that a pointer cites (B7, B8)."""

from io import StringIO
from pathlib import Path

import pytest

from recollect import Memory
from recollect.cli.output import Branch, tree
from recollect.mine.extracted import Topic, Window
from recollect.mine.palace import plan_closets, read_palace
from recollect.model.changes import Put
from recollect.model.records import Conversation, Turn
from recollect.testing.store_samples import entity, fact
from tests.interface.test_cli_frame import ask, failure, run


def topic(title: str, first: int, last: int, subject: str = "") -> Topic:
    return Topic(title=title, first=first, last=last, subject=subject)


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Turn:
    """A palace of two wings; the first of its turns."""
    db = tmp_path / "memory.db"
    monkeypatch.setenv("RECOLLECT_DB", str(db))
    user = "local"
    with Memory.open(db, embedder="none") as memory:
        mine, store = memory.scope(user, conversation="spring"), memory.store.user(user)
        turns = [
            mine.record("user", text, title="Spring")
            for text in ("Wire it\non May 8", "Paint it", "\x1b[31m")
        ]
        (talk,) = store.get(Conversation, ["spring"])
        window, topics = Window(talk, tuple(turns)), [topic("Wiring", 0, 1, "Boat"), topic("Odd", 2, 2)]
        store.apply(plan_closets(window, topics, (), read_palace(store, window, topics, ())))
        cited = {"sources": (turns[0].id,)}
        store.apply(
            [Put(entity("e", "Anna", type="person", **cited)), Put(fact("f", "It has a wire", **cited))]
        )
    return turns[0]


def test_the_tree_in_a_pipe(built: Turn) -> None:
    lines = [line.split("\t") for line in run("palace").stdout.splitlines()]
    assert [line[:4] for line in lines] == [
        ["W-001", "Boat", "topic", "1 room, 1 closet, 2 drawers"],
        ["W-001/R-01", "Spring", "", "1 closet, 2 drawers"],
        ["W-001/R-01/C-1", "Wiring", "", "2 drawers"],
        ["W-002", "Odd", "topic", "1 room, 1 closet, 1 drawer"],
        ["W-002/R-01", "Spring", "", "1 closet, 1 drawer"],
        ["W-002/R-01/C-1", "Odd", "", "1 drawer"],
    ]
    assert [line.split("\t")[0] for line in run("palace", "--depth", 1).stdout.splitlines()] == [
        "W-001",
        "W-002",
    ]
    assert "\\x1b[31m" in run("palace", "W-002", "--depth", 4).stdout


def test_parts_of_it_and_pages(built: Turn) -> None:
    page = run("palace", "--depth", 1, "--limit", 1)
    assert "More: --after 1" in page.stderr
    assert ask("palace", "--limit", 1, "--after", 1)["places"][0]["place"] == "W-002"
    assert ask("palace", "--wing", "w-1")["places"][0]["name"] == "Spring"
    (drawer, _) = ask("palace", "W-001/R-01/C-1")["places"]
    assert (drawer["place"], drawer["name"]) == ("§ W-001/R-01/D-001", "Wire it\non May 8")
    assert drawer["tags"]["@p"] == ["Anna"]
    tree = ask("palace", "--depth", 4, "--limit", 1)
    assert tree["places"][0]["places"][0]["places"][0]["next"] == 1
    assert failure("palace", "W-001", "--wing", "W-001", code=2)


def test_a_pointer_shows_its_turn(built: Turn) -> None:
    data = ask("palace", "§ W-001/R-01/D-001")
    assert data["turn"]["id"] == built.id
    assert data["pointer"] == "§ W-001/R-01/D-001"
    assert {record["id"] for record in data["derived"]} == {"e", "f"}
    text = run("palace", "w-1/r-1/d-1").stdout
    assert text.startswith("§ W-001/R-01/D-001 @p Anna @t ")
    assert "Boat / Wiring" in text
    assert "\nWire it\non May 8\n" in text
    assert "It has a wire" in text
    assert failure("palace", "§ W-001/R-01/D-009", code=3)["type"] == "NotFound"
    assert failure("palace", "nonsense", code=1)["type"] == "Invalid"


def test_a_tree_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr("sys.stdout", terminal := Terminal())
    tree([Branch(("W-001", "[red]Boat", ""), [Branch(("W-001/R-01", "\x1b[31m " + "x " * 400), [])])])
    tree([])
    first, second, *_ = terminal.getvalue().splitlines()
    assert first.rstrip() == "W-001  [red]Boat"
    assert "└── W-001/R-01  \\x1b[31m x x" in second
    assert terminal.getvalue().rstrip().endswith("…")


def test_nothing_is_there_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_DB", str(tmp_path / "memory.db"))
    assert failure("palace", code=3)["type"] == "NotFound"
    run("record", "user", "x")
    assert "once it was mined" in run("palace").stderr
    assert ask("palace") == {"places": [], "next": None}


def test_the_timeline_as_it_stood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_DB", str(tmp_path / "memory.db"))
    old = ask("remember", "Lives in Lyon", "--since", "2025-03-15", "--about", "Ann")
    ask("correct", old["id"], "Lives in Porto", "--since", "2025-04-02")
    events = ask("timeline", "ann", "--as-of", "2025-03-20")["events"]
    assert [(e["content"], e["sources"]) for e in events] == [("Lives in Lyon", old["sources"])]
    assert [e["content"] for e in ask("timeline", "Ann", "--as-of", "2025-05-01")["events"]] == [
        "Lives in Porto"
    ]
