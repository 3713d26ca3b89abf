"""Sessions of the memory page: what the cookie is, what it opens, until when, and who may send it."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from http.cookies import Morsel, SimpleCookie
from pathlib import Path
from typing import Any

import httpx
import pytest

from recollect.server.identity.issuing import digest
from recollect.testing.store_samples import ManualClock
from tests.interface.guarded import guarded, problem, remembered
from tests.interface.serving import Served

SESSION = "/api/v1/session"
PAGE = {"X-Recollect-Page": "1"}
HOURS = timedelta(hours=12)
NOBODY = {"user": None, "role": None}
FORGED = "rks_" + 43 * "a"


@pytest.fixture(scope="module")
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, clock: ManualClock) -> Iterator[Served]:
    """One for all, whose time goes on."""
    upstream = "http://127.0.0.1:9/v1"
    folder = tmp_path_factory.mktemp("sessions")
    with guarded(folder, clock, proxies="127.0.0.1", upstream=upstream, rate_limit=0) as server:
        yield server


def signed(server: Served, key: str, **headers: Any) -> tuple[httpx.Response, str]:
    """Sign in with a key: the answer, and what is in the cookie."""
    answered = server.client(**PAGE, **headers).post(SESSION, json={"key": key})
    assert answered.status_code == 200, answered.text
    return answered, morsel(answered).value


def morsel(answered: httpx.Response) -> Morsel[str]:
    (cookie,) = SimpleCookie(answered.headers["set-cookie"]).values()
    return cookie


def visiting(server: Served, token: str, **headers: Any) -> httpx.Client:
    """The page of whoever has this in their cookie."""
    return server.client(**{**PAGE, "Cookie": f"recollect_session={token}", **headers})


def entered(server: Served, user: str = "ana") -> httpx.Client:
    return visiting(server, signed(server, server.issue(owner=user).key)[1])


# In and out


def test_a_key_is_shown_once_and_the_cookie_opens_what_it_opens(server: Served, clock: ManualClock) -> None:
    key = server.issue(owner="ana").key
    assert server.client().get(SESSION).json() == NOBODY
    answered, token = signed(server, f"  {key}\n")
    until = clock.now() + HOURS
    assert answered.json() == {"user": "ana", "role": "user", "expires_at": until.isoformat()}
    assert key not in answered.text + str(answered.headers)
    page = visiting(server, token)
    assert page.get(SESSION).json() == answered.json()
    id = remembered(page, "I like green tea")
    assert server.client(key).get(f"/api/v1/records/{id}").json()["content"] == "I like green tea"
    kept = server.memory.store.key_by_digest(digest(token))
    assert kept is not None
    assert token not in repr(kept)


def test_the_cookie_is_for_this_host_alone_and_no_script_reads_it(server: Served) -> None:
    key = server.issue(owner="ana").key
    plain = morsel(signed(server, key)[0])
    assert (plain.key, plain["secure"]) == ("recollect_session", "")
    over_tls = morsel(signed(server, key, **{"X-Forwarded-Proto": "https"})[0])
    assert (over_tls.key, over_tls["secure"]) == ("__Host-recollect_session", True)
    for cookie in (plain, over_tls):
        assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Strict", "/")
        assert (cookie["domain"], cookie["max-age"]) == ("", str(12 * 3600))


def test_over_tls_only_the_name_counts_that_no_other_host_can_set(server: Served) -> None:
    _, token = signed(server, server.issue(owner="ana").key)
    tls = {"X-Forwarded-Proto": "https"}
    assert visiting(server, token, **tls).get(SESSION).json() == NOBODY
    named = {"Cookie": f"__Host-recollect_session={token}"}
    assert server.client(**tls, **named).get(SESSION).json()["user"] == "ana"
    assert server.client(**named).get(SESSION).json() == NOBODY


def test_it_ends_with_its_hours(server: Served, clock: ManualClock) -> None:
    page = entered(server)
    clock.advance(hours=12, seconds=-1)
    assert page.get("/api/v1/whoami").status_code == 200
    clock.advance(seconds=1)
    assert "sign in again" in problem(page.get("/api/v1/whoami"), 401)
    assert page.get(SESSION).json() == NOBODY


def test_it_does_not_outlive_its_key(server: Served, clock: ManualClock) -> None:
    until = clock.now() + timedelta(minutes=10)
    answered, token = signed(server, server.issue(owner="ana", expires_at=until).key)
    assert datetime.fromisoformat(answered.json()["expires_at"]) == until
    assert morsel(answered)["max-age"] == "600"
    clock.advance(minutes=10)
    problem(visiting(server, token).get("/api/v1/whoami"), 401)


def test_it_ends_when_its_key_is_revoked(server: Served, clock: ManualClock) -> None:
    issued = server.issue(owner="ana")
    page = visiting(server, signed(server, issued.key)[1])
    other = entered(server)
    assert page.get("/api/v1/whoami").status_code == 200
    assert server.admin().delete(f"/api/v1/keys/{issued.kept.id}").status_code == 200
    clock.advance(seconds=5)
    problem(page.get("/api/v1/whoami"), 401)
    assert other.get("/api/v1/whoami").status_code == 200
    problem(server.client(**PAGE).post(SESSION, json={"key": issued.key}), 401)


def test_signing_out_ends_it_at_once(server: Served) -> None:
    page, other = entered(server), entered(server)
    assert page.get("/api/v1/whoami").status_code == 200
    left = page.delete(SESSION)
    assert left.json() == NOBODY
    assert (morsel(left).value, morsel(left)["max-age"]) == ("", "0")
    problem(page.get("/api/v1/whoami"), 401)
    assert page.delete(SESSION).status_code == 200  # whoever is out already stays out
    assert other.get("/api/v1/whoami").status_code == 200


def test_signing_in_makes_a_new_one_whatever_cookie_was_there(server: Served, clock: ManualClock) -> None:
    """Who put a cookie of their own into the browser has nothing of it; nor who had the one before."""
    attacker = entered(server, "mallory")
    planted = attacker.headers["cookie"].partition("=")[2]
    answered, token = signed(server, server.issue(owner="ana").key, Cookie=f"recollect_session={planted}")
    assert (answered.json()["user"], token == planted) == ("ana", False)
    clock.advance(seconds=5)
    problem(attacker.get("/api/v1/whoami"), 401)
    _, again = signed(server, server.issue(owner="ana").key, Cookie=f"recollect_session={FORGED}")
    assert again != FORGED


def test_the_sessions_of_a_user_are_listed_and_ended_one_by_one(server: Served, clock: ManualClock) -> None:
    page = entered(server, "lia")
    clock.advance(seconds=1)
    elsewhere = entered(server, "lia")
    entered(server, "ben")
    newer, older = page.get("/api/v1/sessions").json()["sessions"]
    assert (newer["current"], older["current"]) == (False, True)
    problem(entered(server, "ben").delete(f"/api/v1/keys/{newer['id']}"), 404)
    assert page.delete(f"/api/v1/keys/{newer['id']}").json()["revoked_at"]
    clock.advance(seconds=5)
    problem(elsewhere.get("/api/v1/whoami"), 401)
    assert [one["id"] for one in page.get("/api/v1/sessions").json()["sessions"]] == [older["id"]]
    assert all("rks_" not in str(one) and "digest" not in one for one in (newer, older))
    assert len(page.get("/api/v1/keys").json()["keys"]) == 2  # and sessions are no keys


def test_it_goes_with_all_there_is_of_its_user(server: Served, clock: ManualClock) -> None:
    page = entered(server, "eve")
    remembered(page, "I like green tea")
    assert page.delete("/api/v1/everything", params={"confirm": "eve"}).status_code == 200
    assert page.delete(SESSION).status_code == 200  # which is gone already
    clock.advance(seconds=5)
    problem(page.get("/api/v1/whoami"), 401)
    assert server.memory.store.sessions("eve", clock.now()) == []


# Who gets one


@pytest.mark.parametrize("key", ["", "rk_u_" + 43 * "a", "eyJ.e30.", FORGED, "rk_u_\x00", "ключ", 8192 * "k"])
def test_nobody_signs_in_without_a_key(server: Served, key: str) -> None:
    answered = server.client(**PAGE).post(SESSION, json={"key": key})
    assert "key" in problem(answered, 401)
    assert "set-cookie" not in answered.headers


def test_what_is_no_sign_in_is_told(server: Served) -> None:
    client = server.client(**PAGE)
    for body in ({}, {"key": 5}, {"key": "a", "user": "ana"}, {"key": 8193 * "k"}):
        problem(client.post(SESSION, json=body), 422)
    too_large = client.post(SESSION, content=b" " * (33 * 1024 * 1024))
    assert too_large.status_code == 413


def test_a_services_key_is_nobodys_own(server: Served) -> None:
    key = server.issue("service").key
    assert "--user NAME" in problem(server.client(**PAGE).post(SESSION, json={"key": key}), 403)


def test_signing_in_too_often_is_refused_by_where_it_comes_from(tmp_path: Path) -> None:
    with guarded(tmp_path, rate_limit=3) as server:
        client, good = server.client(**PAGE), server.issue(owner="ana").key
        for _ in range(3):
            problem(client.post(SESSION, json={"key": "rk_u_" + 43 * "a"}), 401)
        assert client.post(SESSION, json={"key": good}).status_code == 429


def test_sessions_share_the_limits_of_their_key(tmp_path: Path) -> None:
    with guarded(tmp_path, rate_limit=4) as server:
        key = server.issue(owner="ana").key
        pages = [visiting(server, signed(server, key)[1]) for _ in range(2)]
        codes = [page.get("/api/v1/whoami").status_code for _ in range(3) for page in pages]
        assert codes == [200, 200, 200, 200, 429, 429]


def test_without_keys_there_is_nothing_to_sign_in_to(tmp_path: Path) -> None:
    with guarded(tmp_path, keyed=False, user="derek") as server:
        client = server.client(**PAGE)
        assert client.get(SESSION).json() == {"user": "derek", "role": "local", "expires_at": None}
        assert "none is needed" in problem(client.post(SESSION, json={"key": "rk_u_" + 43 * "a"}), 400)
        away = server.client(Host="evil.example").get(SESSION)
        assert "localhost" in problem(away, 403)
        made = client.post("/api/v1/keys", json={"role": "user", "user": "derek"}).json()
        assert client.get(SESSION).json() == NOBODY  # from this moment on
        assert client.post(SESSION, json={"key": made["key"]}).json()["user"] == "derek"
        assert client.get(SESSION).json()["role"] == "user"


# What the cookie does not do


@pytest.mark.parametrize("path", ["/v1/models", "/v1/memory", "/mcp", "/api/memories", "/metrics"])
def test_the_cookie_is_taken_by_our_own_api_alone(server: Served, path: str) -> None:
    for page in (entered(server), visiting(server, signed(server, server.issue("admin").key)[1])):
        assert page.get(path).status_code == 401
        assert page.post(path, json={}).status_code == 401


def test_what_is_in_it_is_no_key_and_a_key_is_not_taken_from_it(server: Served) -> None:
    key = server.issue(owner="ana").key
    _, token = signed(server, key)
    problem(server.client(token).get("/api/v1/whoami"), 401)
    problem(server.client(**{"x-api-key": token}).get("/api/v1/whoami"), 401)
    problem(visiting(server, key).get("/api/v1/whoami"), 401)
    problem(server.client(**PAGE).post(SESSION, json={"key": token}), 401)


@pytest.mark.parametrize(
    "forged",
    [
        *("", FORGED, "rks_", FORGED[:-1], f"{FORGED}b", f'"{FORGED}"', "rks_" + 43 * "%61", "é"),
        *(f"{FORGED}; recollect_session={FORGED}", 60_000 * "a"),
    ],
)
def test_forged_cookies_open_nothing(server: Served, forged: str) -> None:
    page = visiting(server, "x", Cookie=f"recollect_session={forged}".encode())
    assert page.get("/api/v1/whoami").status_code in (400, 401, 431)
    assert page.get(SESSION).status_code in (200, 400, 431)


def test_of_two_cookies_none_is_taken(server: Served) -> None:
    tokens = [signed(server, server.issue(owner=user).key)[1] for user in ("ana", "ben")]
    both = "; ".join(f"recollect_session={token}" for token in tokens)
    assert server.client(Cookie=both).get(SESSION).json() == NOBODY
    beside = f"theme=dark; recollect_session={tokens[0]}; other=1"
    assert server.client(Cookie=beside).get(SESSION).json()["user"] == "ana"


def test_a_key_beside_it_is_who_calls(server: Served) -> None:
    _, token = signed(server, server.issue(owner="ana").key)
    ben = visiting(server, token, Authorization=f"Bearer {server.issue(owner='ben').key}")
    assert ben.get("/api/v1/whoami").json()["user"] == "ben"
    for header in ({"Authorization": "Bearer nonsense"}, {"x-api-key": ""}, {"Authorization": "Basic YTpi"}):
        problem(visiting(server, token, **header).get("/api/v1/whoami"), 401)


def test_it_opens_nobody_elses(server: Served) -> None:
    id = remembered(entered(server), "I like green tea")
    ben = entered(server, "ben")
    problem(ben.get(f"/api/v1/records/{id}"), 404)
    problem(ben.delete(f"/api/v1/records/{id}"), 404)
    ben.headers["X-Recollect-User"] = "ana"
    problem(ben.get("/api/v1/facts"), 404)


def test_an_admins_session_opens_nobodys_memory(server: Served) -> None:
    """Whatever there is under /api/v1 that is told where a memory is seen from."""
    admin = visiting(server, signed(server, server.issue("admin").key)[1])
    id = remembered(entered(server), "I like green tea")
    assert admin.get(SESSION).json()["role"] == "admin"
    assert admin.get("/api/v1/keys").status_code == admin.get("/api/v1/jobs").status_code == 200
    paths = server.client().get("/openapi.json").json()["paths"]
    seen = 0
    for path, operations in paths.items():
        for method, operation in operations.items():
            told = [one.get("$ref", "") for one in operation.get("parameters", ())]
            if path.startswith("/api/v1/") and "#/components/parameters/channel" in told:
                where = path.replace("{id}", id).replace("{", "").replace("}", "")
                answered = admin.request(method.upper(), where, json={} if method != "get" else None)
                assert answered.status_code in (403, 404, 422), (method, path, answered.text)
                assert "green tea" not in answered.text
                seen += 1
    assert seen > 40


# What other pages cannot do with it

OWN = "http://127.0.0.1:{port}"
ALLOWED: list[dict[str, str]] = [
    {},
    {"Origin": OWN},
    {"Sec-Fetch-Site": "same-origin"},
    {"Sec-Fetch-Site": "none"},
    {"Origin": OWN, "Sec-Fetch-Site": "same-origin"},
    {"Host": "memory.example", "Origin": "https://memory.example"},
    {"Host": "memory.example:443", "Origin": "https://memory.example"},
    {"Host": "Memory.Example", "Origin": "https://memory.example", "X-Forwarded-Proto": "https"},
    {"Host": "[::1]:7070", "Origin": "http://[::1]:7070"},
]
REFUSED: list[dict[str, str | None]] = [
    {"X-Recollect-Page": None},
    {"X-Recollect-Page": "0"},
    {"X-Recollect-Page": ""},
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": ""},
    {"Origin": "http://127.0.0.1"},
    {"Origin": "http://127.0.0.1:1"},
    {"Origin": OWN + "@evil.example"},
    {"Origin": "http://evil@127.0.0.1:{port}"},
    {"Origin": OWN + "/"},
    {"Origin": "ftp://127.0.0.1:{port}"},
    {"Origin": "http://[::1"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "else"},
    {"Origin": OWN, "Sec-Fetch-Site": "cross-site"},
    {"Host": "memory.example", "Origin": "http://memory.example", "X-Forwarded-Proto": "https"},
    {"Host": "memory.example", "Origin": "https://memory.example.evil"},
]


def asking(server: Served, given: dict[str, Any]) -> httpx.Client:
    """A session that asks with these headers; None leaves one out."""
    _, token = signed(server, server.issue(owner="ana").key)
    secure = given.get("X-Forwarded-Proto") == "https"
    cookie = f"{'__Host-' if secure else ''}recollect_session={token}"
    headers = {**PAGE, "Cookie": cookie, **given}
    told = {name: value.format(port=server.port) for name, value in headers.items() if value is not None}
    return server.client(**told)


@pytest.mark.parametrize("given", ALLOWED, ids=str)
def test_its_own_page_may_change_things(server: Served, given: dict[str, str]) -> None:
    page = asking(server, given)
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert page.request(method, "/api/v1/records/none", json={"content": "x"}).status_code in (
            404,
            405,
            422,
        )
    assert page.delete(SESSION).status_code == 200


@pytest.mark.parametrize("given", REFUSED, ids=str)
def test_another_page_may_not(server: Served, given: dict[str, str | None]) -> None:
    page = asking(server, given)
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert problem(page.request(method, "/api/v1/records/none", json={"content": "x"}), 403)
    problem(page.delete(SESSION), 403)
    problem(page.post(SESSION, json={"key": server.issue(owner="mallory").key}), 403)
    del page.headers["Cookie"]  # nor sign somebody in who is not
    problem(page.post(SESSION, json={"key": server.issue(owner="mallory").key}), 403)


def test_another_page_reads_nothing_with_it(server: Served) -> None:
    for site in ("cross-site", "same-site"):
        problem(asking(server, {"Sec-Fetch-Site": site}).get("/api/v1/facts"), 403)
    page = asking(server, {"X-Recollect-Page": None, "Origin": "https://evil.example"})
    answered = page.get("/api/v1/facts")  # which that page's browser does not give it
    assert not [name for name in answered.headers if name.startswith("access-control")]


def test_a_page_that_may_call_with_a_key_may_not_with_the_cookie(tmp_path: Path) -> None:
    app = "https://app.example.org"
    with guarded(tmp_path, cors=app) as server:
        page = asking(server, {"Origin": app, "Sec-Fetch-Site": "cross-site"})
        problem(page.post("/api/v1/facts", json={"content": "x"}), 403)
        answered = page.get(SESSION)
        assert answered.status_code == 403
        assert "access-control-allow-credentials" not in answered.headers


def test_a_key_needs_no_page(server: Served) -> None:
    client = server.client(server.issue(owner="ana").key, **{"Sec-Fetch-Site": "cross-site"})
    assert client.post("/api/v1/facts", json={"content": "x"}).status_code == 201
