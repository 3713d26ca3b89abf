"""The search view: it finds what agents find, says why, and shows what a model would get to read."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, Request, Route, expect

from recollect import Memory, ScopedMemory
from tests.browser.browsing import PHONE, Site
from tests.interface import serving
from tests.interface.serving import Served
from tests.unit.support import SwitchedEmbedder

MARCH = datetime(2026, 3, 15, 9, 30, tzinfo=UTC)
HOSTILE = '<img src=x onerror="alert(1)"> [a](javascript:alert(1)) \u202egnp kayak </pre>\u0007'
SHOWN = '<img src=x onerror="alert(1)"> [a](javascript:alert(1)) ⟨U+202E⟩gnp kayak </pre>⟨U+0007⟩'
LONG = "Nothing of it matters. " * 200


@pytest.fixture(scope="module")
def mine(local: Served) -> ScopedMemory:
    """What there is to be found."""
    me = local.memory.scope("local")
    me.record("user", "I saw a blue kayak for 400 euros at the harbour", conversation="boats", at=MARCH)
    me.record("assistant", "That is a fair price for a kayak", conversation="boats", at=MARCH)
    local.memory.scope("local", agent="scout").record("user", "My kayak needs a paddle", conversation="trip")
    me.record("user", "I live in Berlin.", conversation="home", at=MARCH)
    me.mine()
    boat = me.remember("Derek has no boat", about=["Derek"], valid_from=MARCH - timedelta(days=9))
    me.correct(boat.id, "Derek has a green canoe", since=MARCH)
    me.remember("Derek may like sailing", confidence=0.4)
    me.record("user", f"{LONG}The lighthouse keeper is called Oona. {LONG}", conversation="light")
    return me


def box(page: Page) -> Locator:
    return page.get_by_role("searchbox", name="Search what is remembered")


def results(page: Page) -> Locator:
    return page.get_by_role("list", name="Results").locator("> li")


def asked(server: Served, query: str, **more: Any) -> dict[str, Any]:
    body = {"query": query, "explain": True, "count": False, **more}
    return server.client().post("/api/v1/recall", json=body).json()


def numbers(hit: Locator) -> list[float]:
    told = hit.get_by_role("list", name="What the score is made of").locator(".number").all_inner_texts()
    return [float(text.replace("−", "-")) for text in told]


def unfold(page: Page, title: str) -> None:
    page.locator("summary").filter(has_text=title).click()


def test_typing_shows_what_an_agent_would_be_told_and_why(
    site: Site, local: Served, mine: ScopedMemory
) -> None:
    page = site.open("search")
    box(page).press_sequentially("What does the blue kayak cost?")
    expect(page).to_have_url(re.compile("kayak.cost%3F$"))  # and not only what was typed before a pause
    expect(page.get_by_role("list", name="Results")).not_to_have_attribute("aria-busy", "true")
    expect(results(page).first).to_contain_text("400 euros")
    wanted = asked(local, "What does the blue kayak cost?")
    expect(page.get_by_role("status").filter(has_text=f"{len(wanted['hits'])} memories")).to_be_visible()
    assert [hit.get_attribute("data-id") for hit in results(page).all()] == [h["id"] for h in wanted["hits"]]
    for shown, hit in zip(results(page).all(), wanted["hits"], strict=True):
        parts = [value for value in hit["parts"].values() if abs(value) >= 0.0005]
        assert numbers(shown) == pytest.approx(parts, abs=0.001)
        assert sum(numbers(shown)) == pytest.approx(hit["score"], abs=0.004)
        expect(shown.locator(".hit-score")).to_contain_text(f"{hit['score']:.3f}")
    unfold(page, f"What an agent would see: about {wanted['context_tokens']} tokens")
    assert page.get_by_label("The block").evaluate("node => node.textContent") == wanted["context"]
    unfold(page, "What it took")
    expect(page.get_by_text("gather")).to_be_visible()
    first = results(page).first
    expect(first.get_by_role("list", name="Source")).to_contain_text("boats")
    first.get_by_text("How it was found").click()
    expect(first.get_by_role("list", name="Found by")).to_contain_text("words")
    assert not site.serious()
    local.memory.flush()
    looked = local.memory.store.user("local").usage([hit["id"] for hit in wanted["hits"]])
    assert not looked, "looking made memories popular"


def test_filters_narrow_and_a_link_shows_the_same(site: Site, mine: ScopedMemory) -> None:
    page = site.open("search", q="kayak")
    expect(results(page).nth(1)).to_be_visible()  # more than one
    page.get_by_label("Agent", exact=True).fill("scout")
    expect(results(page)).to_have_count(1)
    page.get_by_label("Turns").check()
    page.get_by_label("Said from").fill("2026-03-16")
    page.get_by_label("Least confidence").fill("0.5")
    page.get_by_label("How many").fill("3")
    expect(page).to_have_url(re.compile("kind=turn.*agent=scout.*since=2026-03-16.*sure=0.5&top=3"))
    page.reload()
    expect(results(page)).to_have_count(1)
    expect(results(page)).to_contain_text("paddle")
    expect(page.get_by_label("Turns")).to_be_checked()
    expect(page.get_by_text("Filters (5)")).to_be_visible()
    page.get_by_label("Said until").fill("2026-03-17")
    expect(page.get_by_role("heading", name="Nothing is remembered that bears on this")).to_be_visible()
    page.get_by_role("button", name="Clear filters").click()
    expect(results(page)).not_to_have_count(0)
    expect(page).to_have_url(re.compile(r"#/search\?q=kayak$"))


def test_what_was_true_then_and_what_is_left_out(site: Site, mine: ScopedMemory) -> None:
    page = site.open("search", q="What boat does Derek have?", kind="fact")
    expect(results(page).first).to_contain_text("green canoe")
    expect(results(page).filter(has_text="no boat")).to_have_count(0)
    unfold(page, "Left out")
    corrected = page.get_by_role("listitem").filter(has_text="it was corrected: result 1 holds")
    corrected.get_by_role("button", name="Show the fact").click()
    expect(corrected).to_contain_text("Derek has no boat")
    page.get_by_label("As of").fill("2026-03-10T12:00:00")
    expect(results(page).filter(has_text="no boat")).to_contain_text("held until 15 Mar 2026")
    expect(results(page).filter(has_text="canoe")).to_have_count(0)
    expect(page).to_have_url(re.compile(quote("as_of=2026-03-10T12:00:00.000Z", safe="=")))


def test_what_the_gate_passes_over_can_be_searched_anyway(site: Site, mine: ScopedMemory) -> None:
    page = site.open("search")
    box(page).fill("what is a kayak")
    expect(page.get_by_text("it looks like a question of general knowledge")).to_be_visible()
    expect(page.get_by_text("What an agent would see")).to_be_hidden()
    expect(results(page)).to_have_count(0)
    page.get_by_role("button", name="Search anyway").click()
    expect(results(page)).not_to_have_count(0)
    page.get_by_role("button", name="As agents do").click()
    expect(page.get_by_role("button", name="Search anyway")).to_be_visible()
    mine.update_settings(agents={"silent": {"recall": False}})
    box(page).fill("kayak")
    page.get_by_label("As agent").fill("silent")
    expect(page.get_by_text("recall is off for this agent")).to_be_visible()


def test_hostile_and_long_words_are_shown_as_they_are(site: Site, mine: ScopedMemory, local: Served) -> None:
    mine.record("user", HOSTILE, conversation='"><script>alert(2)</script>')
    page = site.open("search", q="gnp kayak")
    expect(results(page).first.locator(".hit-words")).to_have_text(SHOWN)
    expect(results(page).first).to_contain_text('conversation "><script>alert(2)</script>')
    unfold(page, "What an agent would see")
    wanted = asked(local, "gnp kayak")["context"]
    assert page.get_by_label("The block").evaluate("node => node.textContent") == wanted
    expect(page.locator("main img, main script")).to_have_count(0)
    box(page).fill("Who is the lighthouse keeper?")
    words = results(page).first.locator(".hit-words")
    expect(words).to_contain_text("Oona")
    cut = len(words.inner_text())
    words.get_by_role("button", name="Show all of it").click()
    expect(words.get_by_role("button", name="Show all of it")).to_have_count(0)
    assert len(words.inner_text()) > cut


def test_an_older_answer_never_takes_the_place_of_a_newer(site: Site, mine: ScopedMemory) -> None:
    page = site.open("search")
    held: list[Route] = []
    gone: list[Request] = []

    def answer(route: Route) -> None:
        if "harbour" in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    page.route("**/api/v1/recall*", answer)
    page.on("requestfailed", lambda request: gone.append(request))  # noqa: PLW0108 - it cannot take a builtin
    with page.expect_request("**/api/v1/recall*"):
        box(page).fill("harbour")
    box(page).fill("paddle")
    expect(results(page).first).to_contain_text("paddle")
    assert [request.failure for request in gone] == ["net::ERR_ABORTED"]
    assert len(held) == 1


def test_by_keyboard_alone(site: Site, mine: ScopedMemory) -> None:
    page = site.open("search", q="Where do I live?")
    expect(results(page)).not_to_have_count(0)
    page.keyboard.press("/")
    expect(box(page)).to_be_focused()
    page.keyboard.press("ArrowDown")
    first = results(page).first.get_by_role("heading").get_by_role("link")
    expect(first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(box(page)).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"#/palace\?at=%C2%A7"))


def test_on_a_phone_in_the_dark(local: Served, windows: Callable[..., Site], mine: ScopedMemory) -> None:
    site = windows(local, viewport=PHONE, color_scheme="dark")
    page = site.open("search", q="kayak")
    expect(results(page)).not_to_have_count(0)
    expect(page.get_by_label("Turns")).to_be_hidden()
    unfold(page, "Filters")
    unfold(page, "What an agent would see")
    expect(page.get_by_label("Turns")).to_be_visible()
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= PHONE["width"]
    assert not site.serious()


@pytest.fixture
def began(tmp_path: Path) -> Iterator[tuple[Served, SwitchedEmbedder]]:
    """A server that nothing was told, and its embedder."""
    embedder = SwitchedEmbedder()
    with (
        Memory.open(tmp_path / "memory.db", embedder=embedder, rate_limit=0, user="local") as memory,
        serving.served(memory, keyed=False) as server,
    ):
        yield server, embedder


def test_where_nothing_is_remembered_or_something_is_down_it_says_so(
    began: tuple[Served, SwitchedEmbedder], windows: Callable[..., Site]
) -> None:
    server, embedder = began
    site = windows(server)
    page = site.open("search", q="kayak")
    expect(page.get_by_role("heading", name="Nothing is remembered yet")).to_be_visible()
    server.memory.scope("local").record("user", "A kayak for two")
    embedder.down = True
    page.reload()
    expect(page.get_by_text("Not all was searched.")).to_be_visible()
    expect(results(page)).to_have_count(1)
    assert not site.serious()
