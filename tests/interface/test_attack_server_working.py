"""One user who fills working memory drives out their own, and nobody else's."""

from pathlib import Path

from tests.interface.guarded import guarded

MANY = 30


def test_who_opens_many_conversations_loses_their_own(tmp_path: Path) -> None:
    with guarded(tmp_path, working_conversations=10) as server:
        ana, ben = server.of("ana"), server.of("ben")
        ben.put("/api/v1/conversations/talk/working/values/tea", json={"value": "green"})
        for number in range(MANY):
            path = f"/api/v1/conversations/{number}/working/values/tea"
            assert ana.put(path, json={"value": "black"}).status_code == 200
        assert ben.get("/api/v1/conversations/talk/working").json()["values"] == {"tea": "green"}
        assert ana.get(f"/api/v1/conversations/{MANY - 1}/working").json()["values"] == {"tea": "black"}
        assert ana.get("/api/v1/conversations/0/working").json()["values"] == {}


def test_who_holds_much_loses_their_own(tmp_path: Path) -> None:
    with guarded(tmp_path, working_mb=1) as server:
        ana, ben = server.of("ana"), server.of("ben")
        ben.put("/api/v1/conversations/talk/working/values/tea", json={"value": "green"})
        for number in range(MANY):
            path = f"/api/v1/conversations/{number}/working/values/tea"
            assert ana.put(path, json={"value": "b" * 60_000}).status_code == 200
        assert ben.get("/api/v1/conversations/talk/working").json()["values"] == {"tea": "green"}
