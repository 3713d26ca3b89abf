"""Every view, with a year of somebody's life in it: for everybody, on every screen, without a pointer."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from recollect import Memory
from recollect.demo import Then, load
from tests.browser import looking
from tests.browser.browsing import LAPTOP, PHONE, Site, window
from tests.interface import serving
from tests.interface.serving import Served

NARROWEST = {"width": 320, "height": 640}
"""A laptop's window at 400 %."""
QUESTION = "Which seats do I prefer on a plane?"
CONTRAST = "color-contrast"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server without keys, whose one user has the demo."""
    path = tmp_path_factory.mktemp("demo") / "memory.db"
    clock = Then(datetime.now(UTC))
    with Memory.open(path, embedder="hashing", clock=clock, miner="rules") as memory:
        load(memory, clock, "demo")
    with (
        Memory.open(path, embedder="hashing", user="demo", rate_limit=0) as memory,
        serving.served(memory, keyed=False) as server,
    ):
        yield server


@dataclass(frozen=True)
class Scene:
    """Something to look at: a view, what its address says, and what is done there first."""

    view: str
    params: Callable[[Memory], dict[str, str]] = lambda memory: {}
    act: Callable[[Page], object] = lambda page: None


def drawer(memory: Memory) -> dict[str, str]:
    found = memory.scope("demo").recall(QUESTION, kinds=["turn"]).hits[0]
    cited = re.match(r"§ \S+", found.citation or "")
    assert cited
    return {"at": cited.group()}


def home(memory: Memory) -> dict[str, str]:
    facts = memory.scope("demo").list("fact", limit=1000)
    return {
        "id": next(fact.id for fact in facts if getattr(fact, "content", "") == "The user lives in Lisbon.")
    }


def unfold(page: Page) -> None:
    """Open whatever is folded."""
    while (folds := page.locator("main details:not([open]) > summary:visible")).count():
        folds.first.click()


SCENES = {
    "palace": Scene("palace", drawer),
    "search": Scene("search", lambda memory: {"q": QUESTION}, unfold),
    "nothing found": Scene("search", lambda memory: {"q": "Zyzzyva?", "kind": "reflection"}),
    "facts": Scene("knowledge"),
    "review": Scene("knowledge", lambda memory: {"tab": "review"}),
    "record": Scene("knowledge", home),
    "graph": Scene("graph"),
    "activity": Scene("activity", lambda memory: {"conversation": "the-speech"}),  # no longer while one walks
    "settings": Scene("settings", act=unfold),
    "keys": Scene("keys"),
}
DIALOGS = {
    "correct": ("record", "Correct"),
    "forget": ("record", "Forget"),
    "add": ("facts", "New fact"),
    "merge": ("graph", "Merge…"),
    "erase": ("settings", "Erase everything…"),
    "new key": ("keys", "New key…"),
}


def enter(site: Site, memory: Memory, name: str) -> Page:
    scene = SCENES[name]
    page = site.open(scene.view, **{key: quote(value) for key, value in scene.params(memory).items()})
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    looking.settle(page)
    scene.act(page)
    looking.settle(page)
    return page


def narrow(page: Page) -> Iterator[str]:
    """Nothing is wider than the screen, and nothing is cut off when letters have more space."""
    for size in (PHONE, NARROWEST):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        looking.settle(page)
        yield from (f"{size['width']} {problem}" for problem in page.evaluate(looking.OVERFLOW))
    page.evaluate(looking.SPACED)
    yield from (f"spaced {problem}" for problem in fitting(page))


def fitting(page: Page) -> list[str]:
    page.evaluate("new Promise(requestAnimationFrame)")
    return [*page.evaluate(looking.OVERFLOW), *page.evaluate(looking.CUT)]


@pytest.mark.parametrize("name", SCENES)
def test_everybody_can_read_it(demo: Served, browser: Browser, name: str) -> None:
    with window(browser, demo.url, reduced_motion="reduce") as site:
        page = enter(site, demo.memory, name)
        wrong = [*page.evaluate(looking.STRUCTURE), *page.evaluate(looking.MOVING), *looking.axe(site)]
        wrong += looking.walked(page)
        page.evaluate(looking.LARGER)
        wrong += [f"larger {problem}" for problem in fitting(page)]
    with window(browser, demo.url, viewport=PHONE, color_scheme="dark") as site:
        page = enter(site, demo.memory, name)
        wrong += [f"phone {problem}" for problem in (*looking.axe(site), *page.evaluate(looking.STRUCTURE))]
        wrong += narrow(page)
    assert not wrong, "\n".join(wrong)


def test_tabs_and_dialogs_are_as_readable(demo: Served, browser: Browser) -> None:
    """The other lists of what is known, and each question that is asked before something is done."""
    wrong: list[str] = []
    with window(browser, demo.url) as site:
        page = enter(site, demo.memory, "facts")
        for tab in ("Preferences", "Procedures", "Episodes", "Goals", "Reflections"):
            page.get_by_role("tab", name=tab).click()
            looking.settle(page)
            wrong += [f"{tab} {problem}" for problem in both(site)]
        for name, (scene, opener) in DIALOGS.items():
            page = enter(site, demo.memory, scene)
            button = page.get_by_role("button", name=opener, exact=True)
            wrong += [f"{name} {problem}" for problem in asked(site, button)]
    assert not wrong, "\n".join(wrong)


def both(site: Site) -> Iterator[str]:
    """The checks on a laptop in light, and on a phone in dark."""
    page = site.page
    yield from looking.axe(site)
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size(NARROWEST)  # type: ignore[arg-type]
    yield from (*looking.axe(site), *fitting(page))
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(LAPTOP)  # type: ignore[arg-type]


def asked(site: Site, button: Locator) -> Iterator[str]:
    """A dialog keeps the focus while it is open, and gives it back to the button that opened it."""
    page = site.page
    button.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    looking.settle(page)
    yield from both(site)
    for _ in range(dialog.locator("button, input, select, textarea").count() + 1):
        page.keyboard.press("Tab")
        if not dialog.evaluate(
            "(one) => one.contains(document.activeElement) || document.activeElement === document.body"
        ):
            yield "the focus leaves it"
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(button).to_be_focused()


def test_a_view_is_announced_where_it_begins(demo: Served, browser: Browser) -> None:
    with window(browser, demo.url) as site:
        page = enter(site, demo.memory, "facts")
        views = page.get_by_role("navigation", name="Views")
        for name in ("Graph", "Activity", "Palace", "Knowledge"):
            views.get_by_role("link", name=name).click()
            expect(page).to_have_title(f"{name} – Recollect")
            expect(page.get_by_role("main")).to_be_focused()
        page.get_by_label("Find in the list").fill("vegetarian")
        expect(page.get_by_role("status").filter(has_text=re.compile("^2 found"))).to_be_attached()
        page.get_by_role("link", name="Skip to content").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("main")).to_be_focused()
        expect(page.get_by_role("heading", level=1)).to_have_text("Knowledge")


STATES = """() => [["a[aria-current=page]", "nav a:not([aria-current])"],
  ["[role=tab][aria-selected=true]", "[role=tab][aria-selected=false]"],
  ["[role=treeitem][aria-selected=true]", "[role=treeitem][aria-selected=false]"],
  [".turn.cited", ".turn:not(.cited)"]].filter((pair) => pair.every((one) => document.querySelector(one)))
  .filter((pair) => {
    const [on, off] = pair.map((one) => getComputedStyle(document.querySelector(one)));
    const told = ["textDecorationLine", "outlineStyle", "borderBottomColor", "borderInlineStartColor"];
    return told.every((name) => on[name] === off[name]);
  }).map(String)"""
BARS = """() => [...document.querySelectorAll(".signals-bar i, .search-bar i")].every((one) =>
  getComputedStyle(one).backgroundColor !== getComputedStyle(document.body).backgroundColor)"""


def test_in_forced_colours_what_is_chosen_is_still_seen(demo: Served, browser: Browser) -> None:
    with window(browser, demo.url, forced_colors="active") as site:
        for name in ("palace", "facts", "search"):
            page = enter(site, demo.memory, name)
            assert page.evaluate(STATES) == []
            assert page.evaluate(BARS)


def test_signing_in_is_as_readable(keyed: Served, browser: Browser) -> None:
    with window(browser, keyed.url) as site:
        page = site.open()
        expect(page.get_by_label("API key")).to_be_focused()
        wrong = [*page.evaluate(looking.STRUCTURE), *both(site), *looking.walked(page)]
    assert not wrong, "\n".join(wrong)
