"""What surrounds every view: the ways to go, the theme, and that nothing is loaded from elsewhere."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.browsing import PHONE, TYPED_AND_LEFT, Site
from tests.interface.serving import Served

Windows = Callable[..., Site]

PAUSE = 1000
"""Milliseconds after which every view has followed what was typed."""
VIEWS = ("Palace", "Search", "Knowledge", "Graph", "Activity", "Settings", "Keys")


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_one_click_away(site: Site, view: str) -> None:
    page = site.open()
    page.get_by_role("navigation", name="Views").get_by_role("link", name=view).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(view)
    expect(page.get_by_role("link", name=view)).to_have_attribute("aria-current", "page")
    assert not site.serious()


def test_what_went_wrong_is_told_in_its_place_until_it_goes_well(site: Site) -> None:
    page = site.open("palace")
    expect(page.get_by_role("heading", level=1)).to_have_text("Palace")
    page.route("**/api/v1/**", lambda route: route.abort())
    page.get_by_role("link", name="Knowledge").click()
    expect(page.get_by_role("alert")).to_contain_text("The server does not answer.")
    page.unroute("**/api/v1/**")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("tab", name="Facts")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    site.errors[:] = [error for error in site.errors if "ERR_FAILED" not in error]


def test_a_problem_of_one_view_is_not_told_in_the_next(site: Site) -> None:
    page = site.open("knowledge", id="nobody")
    expect(page.locator("#said")).to_contain_text("There is nothing with the id")
    page.get_by_role("link", name="Keys").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Keys")
    expect(page.locator("#said")).to_be_empty()
    site.errors[:] = [error for error in site.errors if "404" not in error]


@pytest.mark.parametrize(
    ("view", "field"), [("knowledge", "input[type=search]"), ("activity", "input[name=conversation]")]
)
def test_a_view_that_was_left_writes_no_address(site: Site, view: str, field: str) -> None:
    site.page.clock.install()
    page = site.open(view)
    expect(page.locator(field)).to_be_visible()
    page.evaluate(TYPED_AND_LEFT, [field, "words", "nav a[data-view=keys]"])
    expect(page.get_by_role("heading", level=1)).to_have_text("Keys")
    page.clock.run_for(PAUSE)
    assert page.url.endswith("#/keys")


def test_on_a_phone_the_view_is_seen_among_the_ways_to_go(local: Served, windows: Windows) -> None:
    page = windows(local, viewport=PHONE).open("keys")
    expect(page.get_by_role("link", name="Keys")).to_be_in_viewport()


def test_a_question_mark_ends_no_question(site: Site) -> None:
    page = site.open("search", q="Where do I live?", top="3")
    expect(page.get_by_label("Search what is remembered")).to_have_value("Where do I live?")
    expect(page.get_by_label("How many")).to_have_value("3")


def test_the_theme_is_kept(site: Site) -> None:
    page = site.open()
    page.get_by_role("button", name="Use dark colours").click()
    page.reload()
    expect(page.get_by_role("button", name="Use light colours")).to_be_visible()
