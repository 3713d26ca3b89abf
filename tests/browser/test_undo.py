"""Taking back what was forgotten: for a minute, whatever happens meanwhile."""

import pytest
from playwright.sync_api import Locator, Page, expect

from recollect import ScopedMemory
from tests.browser.browsing import Site
from tests.interface.serving import Served

UNDO = "**/api/v1/undo*"


@pytest.fixture
def mine(local: Served) -> ScopedMemory:
    """The memory that the page shows, with nothing in it but two facts."""
    mine = local.memory.scope("local")
    mine.forget(everything=True)
    mine.remember_many(["Rex is a dog", "Tom is a cat"])
    return mine


def row(page: Page, text: str) -> Locator:
    return page.get_by_role("row").filter(has_text=text)


def undo(page: Page) -> Locator:
    return page.get_by_role("button", name="Undo")


def said(page: Page) -> Locator:
    return page.locator("#said")


def forget(page: Page, text: str) -> None:
    page.get_by_role("link", name=text).click()
    page.get_by_role("complementary").get_by_role("button", name="Forget").click()
    page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    expect(row(page, text)).to_have_count(0)


def test_it_can_be_tried_again_when_it_failed(site: Site, mine: ScopedMemory) -> None:
    page = site.open("knowledge")
    forget(page, "Rex is a dog")
    page.route(UNDO, lambda route: route.abort())
    expect(undo(page)).to_be_focused()
    page.keyboard.press("Enter")
    expect(said(page)).to_contain_text("The server does not answer.")
    expect(undo(page)).to_be_focused()
    page.unroute(UNDO)
    page.keyboard.press("Enter")
    expect(said(page)).to_contain_text("Taken back: 1 fact")
    expect(said(page)).not_to_contain_text("The server does not answer.")
    expect(undo(page)).to_have_count(0)
    expect(row(page, "Rex is a dog")).to_be_visible()
    site.errors[:] = [error for error in site.errors if "ERR_FAILED" not in error]


def test_other_news_does_not_take_it_away(site: Site, mine: ScopedMemory) -> None:
    page = site.open("knowledge")
    forget(page, "Rex is a dog")
    page.get_by_role("link", name="Tom is a cat").click()
    page.get_by_role("complementary").get_by_role("button", name="Pin", exact=True).click()
    expect(said(page)).to_contain_text("Pinned")
    expect(undo(page)).to_have_count(1)
    forget(page, "Tom is a cat")
    expect(undo(page)).to_have_count(2)
    expect(said(page)).not_to_contain_text("Pinned")
    expect(undo(page).first).to_be_focused()  # of what was forgotten last
    assert not site.serious()
    undo(page).last.click()
    expect(row(page, "Rex is a dog")).to_be_visible()
    undo(page).click()
    expect(row(page, "Tom is a cat")).to_be_visible()
    expect(undo(page)).to_have_count(0)


def test_two_clicks_take_it_back_once(site: Site, mine: ScopedMemory) -> None:
    page = site.open("knowledge")
    forget(page, "Rex is a dog")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/undo") else None)
    undo(page).evaluate("(one) => { one.click(); one.click(); }")
    expect(said(page)).to_contain_text("Taken back")
    assert len(asked) == 1


def test_what_was_opened_since_stays_open(site: Site, mine: ScopedMemory) -> None:
    page = site.open("knowledge")
    forget(page, "Rex is a dog")
    page.get_by_role("link", name="Tom is a cat").click()
    aside = page.get_by_role("complementary")
    expect(aside).to_contain_text("Tom is a cat")
    undo(page).click()
    expect(row(page, "Rex is a dog")).to_be_visible()
    expect(aside).to_contain_text("Tom is a cat")


def test_in_another_view_it_changes_nothing_there(site: Site, mine: ScopedMemory) -> None:
    page = site.open("knowledge", tab="facts")
    forget(page, "Rex is a dog")
    page.get_by_role("link", name="Settings").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Settings")
    undo(page).click()
    expect(said(page)).to_contain_text("Taken back: 1 fact")
    expect(page.get_by_role("heading", level=1)).to_have_text("Settings")
    assert page.url.endswith("#/settings")
    assert {"Rex is a dog", "Tom is a cat"} == {str(getattr(one, "content", "")) for one in mine.list("fact")}
