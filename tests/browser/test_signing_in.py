"""Getting into the page: with a key, for as long as that is good, and as nobody else."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from recollect import Memory
from tests.browser.browsing import PHONE, Site
from tests.interface import serving
from tests.interface.serving import Served

Windows = Callable[..., Site]


def refused(site: Site) -> None:
    """A refusal was meant: the browser notes each as an error."""
    assert site.errors
    assert all("Failed to load resource" in error and "401" in error for error in site.errors)
    site.errors.clear()


def enter(page: Page, key: str) -> None:
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Sign in").click()


def navigation(page: Page) -> list[str]:
    return page.get_by_role("navigation", name="Views").get_by_role("link").all_inner_texts()


def test_a_wrong_key_is_refused_and_a_right_one_opens_the_page(keyed: Served, windows: Windows) -> None:
    site = windows(keyed, viewport=PHONE)
    page = site.open()
    expect(page.get_by_role("heading", name="Recollect")).to_be_visible()
    page.get_by_label("API key").fill("rk_u_" + 43 * "a")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("opens nothing")
    refused(site)
    key = keyed.issue(owner="ana").key
    site.sign_in(key)
    expect(page.get_by_text("ana", exact=True)).to_be_visible()
    (cookie,) = page.context.cookies()
    assert (cookie.get("httpOnly"), cookie.get("sameSite")) == (True, "Strict")
    assert page.evaluate("document.cookie") == ""
    assert key not in page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    page.reload()
    expect(page.get_by_text("ana", exact=True)).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("API key")).to_be_visible()
    assert not site.serious()


def test_two_windows_are_two_people(keyed: Served, windows: Windows) -> None:
    for user in ("ana", "ben"):
        keyed.memory.scope(user, channel=f"{user}s").remember(f"{user} likes tea")
    ana, ben = windows(keyed), windows(keyed)
    ana.sign_in(keyed.issue(owner="ana").key)
    ben.sign_in(keyed.issue(owner="ben").key)
    for site, own, other in ((ana, "anas", "bens"), (ben, "bens", "anas")):
        page = site.open("settings")
        channels = page.get_by_role("table", name="Channels")
        expect(channels).to_contain_text(own)
        expect(channels).not_to_contain_text(other)
    ana.page.get_by_role("button", name="Sign out").click()
    expect(ana.page.get_by_label("API key")).to_be_visible()
    assert ana.page.url.endswith("#/")
    ben.page.reload()
    expect(ben.page.get_by_role("table", name="Channels")).to_contain_text("bens")


def test_other_windows_of_the_browser_follow(keyed: Served, windows: Windows) -> None:
    site = windows(keyed)
    site.sign_in(keyed.issue(owner="ana").key)
    beside = site.page.context.new_page()
    beside.goto(f"{keyed.url}/memory")
    expect(beside.get_by_text("ana", exact=True)).to_be_visible()
    site.page.get_by_role("button", name="Sign out").click()
    expect(beside.get_by_label("API key")).to_be_visible()


def test_a_session_that_ended_asks_for_a_key_again(keyed: Served, windows: Windows) -> None:
    site = windows(keyed)
    issued = keyed.issue(owner="ana")
    page = site.sign_in(issued.key)
    (session,) = [
        one
        for one in keyed.memory.store.sessions("ana", keyed.memory.clock.now())
        if one.parent == issued.kept.id
    ]
    expect(page.locator("main .empty")).to_be_visible()  # what the first view asks for is answered
    page.context.clear_cookies()
    page.get_by_role("navigation").get_by_role("link", name="Keys").click()
    expect(page.get_by_text("You were signed out")).to_be_visible()
    refused(site)
    assert session.is_valid(keyed.memory.clock.now())
    enter(page, issued.key)
    expect(page.get_by_role("heading", level=1)).to_have_text("Keys")


def test_where_one_has_been_is_for_nobody_else(keyed: Served, windows: Windows) -> None:
    site = windows(keyed)
    page = site.open("search", q="secret", top="3")
    with page.expect_response("**/api/v1/stats*"):  # the last that the view asks for
        enter(page, keyed.issue(owner="ana").key)
    expect(page.get_by_label("How many")).to_have_value("3")  # a link leads there, without the words in it
    expect(page.get_by_label("Search what is remembered")).to_have_value("")
    page.context.clear_cookies()
    page.get_by_label("Search what is remembered").fill("my salary")
    expect(page.get_by_text("You were signed out")).to_be_visible()
    enter(page, keyed.issue(owner="ben").key)
    expect(page.get_by_role("heading", level=1)).to_have_text("Palace")
    assert page.url.endswith("#/")
    refused(site)


def test_nobody_goes_back_to_where_another_has_been(keyed: Served, windows: Windows) -> None:
    site = windows(keyed)
    page = site.sign_in(keyed.issue(owner="ana").key)
    for words in ("my salary", "my debts"):
        site.open("search", q=words)
        expect(page.get_by_label("Search what is remembered")).to_have_value(words)
    page.get_by_role("link", name="Keys").click()
    expect(page.get_by_role("table", name="Signed in")).to_contain_text("this one")
    page.get_by_role("button", name="Sign out", exact=True).click()
    expect(page.get_by_label("API key")).to_be_visible()
    page.go_back()
    expect(page).to_have_url(re.compile("#/$"))
    enter(page, keyed.issue(owner="ben").key)
    expect(page.get_by_text("ben", exact=True)).to_be_visible()
    page.get_by_role("link", name="Settings").click()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate("history.go(-2)")
    expect(page.get_by_role("heading", level=1)).to_have_text("Palace")
    expect(page).to_have_url(re.compile("#/$"))
    assert not [url for url in asked if url.endswith("/recall")]


def test_a_reload_leads_nobody_to_where_another_has_been(keyed: Served, windows: Windows) -> None:
    site = windows(keyed)
    page = site.sign_in(keyed.issue(owner="ana").key)
    site.open("settings")
    expect(page.get_by_role("heading", level=1)).to_have_text("Settings")
    page.wait_for_load_state("networkidle")
    page.context.clear_cookies()
    page.reload()
    enter(page, keyed.issue(owner="ben").key)
    expect(page.get_by_role("heading", level=1)).to_have_text("Palace")
    assert page.url.endswith("#/")


def test_one_goes_back_to_where_one_has_been(keyed: Served, windows: Windows) -> None:
    site = windows(keyed)
    key = keyed.issue(owner="ana").key
    page = site.sign_in(key)
    site.open("search", q="tea")
    expect(page.get_by_label("Search what is remembered")).to_have_value("tea")
    page.get_by_role("link", name="Keys").click()
    expect(page.get_by_role("table", name="Signed in")).to_contain_text("this one")
    page.get_by_role("button", name="Sign out", exact=True).click()
    enter(page, key)
    expect(page.get_by_text("ana", exact=True)).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Search what is remembered")).to_have_value("tea")


def test_what_stood_in_front_of_the_page_is_for_nobody_else(keyed: Served, windows: Windows) -> None:
    site = windows(keyed)
    keyed.memory.scope("gus").remember_many(["gus has a secret", "gus has another"])
    page = site.sign_in(keyed.issue(owner="gus").key)
    site.open("knowledge")
    for name in ("gus has another", "gus has a secret"):
        page.get_by_role("link", name=name).click()
        page.get_by_role("complementary").get_by_role("button", name="Forget").click()
        expect(page.get_by_role("dialog")).to_contain_text(name)
        if name == "gus has another":
            page.get_by_role("dialog").get_by_role("button", name="Forget").click()
            expect(page.get_by_role("button", name="Undo")).to_be_visible()
    beside = page.context.new_page()
    beside.goto(f"{keyed.url}/memory")
    beside.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("API key")).to_be_visible()
    expect(page.locator("dialog")).to_have_count(0)
    expect(page.locator("#said")).to_be_empty()
    assert "secret" not in page.content()


def test_an_admin_sees_keys_and_jobs_and_nobodys_memory(keyed: Served, windows: Windows) -> None:
    site = windows(keyed)
    page = site.sign_in(keyed.issue("admin").key)
    assert navigation(page) == ["Activity", "Keys"]
    site.open("settings")
    expect(page.get_by_role("heading", level=1)).to_have_text("Activity")
    page.get_by_role("link", name="Keys").click()
    page.get_by_role("button", name="New key…").click()
    page.get_by_label("What it is for").fill("phone")
    page.get_by_label("Whose memory it opens").fill("cleo")
    page.get_by_role("button", name="Make the key").click()
    key = page.get_by_role("textbox", name="The new key").input_value()
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_role("row", name="phone")).to_contain_text("cleo's memory")
    assert not site.serious()
    assert keyed.client(key).get("/api/v1/whoami").json() == {"user": "cleo", "role": "user"}


def test_users_make_and_revoke_their_own_keys(keyed: Served, windows: Windows) -> None:
    site = windows(keyed, permissions=["clipboard-read", "clipboard-write"])
    page = site.sign_in(keyed.issue(owner="dora", name="first").key)
    assert "Keys" in navigation(page)
    site.open("keys")
    expect(page.get_by_role("row", name="first")).to_contain_text("in use here")
    page.get_by_role("button", name="New key…").click()
    expect(page.get_by_label("Who uses it")).to_have_count(0)
    page.get_by_label("What it is for").fill("laptop")
    page.get_by_label("When it ends").select_option("In 30 days")
    page.get_by_role("button", name="Make the key").click()
    key = page.get_by_role("textbox", name="The new key").input_value()
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("status")).to_contain_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == key
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    expect(page.get_by_role("textbox", name="The new key")).to_have_count(0)
    assert key not in page.content()
    expect(page.get_by_role("row", name="laptop")).to_be_visible()
    expect(page.get_by_role("button", name="New key…")).to_be_focused()
    assert keyed.client(key).get("/api/v1/whoami").json()["user"] == "dora"
    page.get_by_role("button", name="Revoke the key laptop").click()
    page.get_by_role("button", name="Revoke", exact=True).click()
    expect(page.get_by_role("row", name="laptop")).to_contain_text("revoked")
    expect(page.get_by_role("button", name="New key…")).to_be_focused()
    (_, revoked) = sorted(keyed.memory.store.keys(owner="dora"), key=lambda one: one.created_at)
    assert revoked.revoked_at is not None
    expect(page.get_by_role("table", name="Signed in")).to_contain_text("this one")
    assert not site.serious()


@pytest.fixture
def keyless(tmp_path: Path) -> Iterator[Served]:
    with (
        Memory.open(tmp_path / "memory.db", embedder="hashing", rate_limit=0, user="local") as memory,
        serving.served(memory, keyed=False) as server,
    ):
        yield server


def test_the_first_key_ends_the_time_without(keyless: Served, windows: Windows) -> None:
    page = windows(keyless).open("keys")
    expect(page.get_by_role("button", name="Sign out")).to_have_count(0)
    expect(page.get_by_text("No key was made yet")).to_be_visible()
    page.get_by_role("button", name="New key…").click()
    expect(page.get_by_role("dialog")).to_contain_text("This is the first key")
    page.get_by_role("button", name="Make the key").click()
    expect(page.get_by_role("dialog")).to_contain_text("From now on a key is needed")
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    expect(page.get_by_text("local", exact=True)).to_be_visible()
    assert keyless.client().get("/api/v1/whoami").status_code == 401
