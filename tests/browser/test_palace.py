"""The palace on the page: opened level by level, a drawer in its conversation, and large ones as fast."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from recollect import Memory
from tests.browser.browsing import PHONE, Site, hold
from tests.browser.palaces import fill
from tests.interface import serving
from tests.interface.serving import Served

SAID = (
    ("user", "I moved to Lisbon with Anna last March."),
    ("assistant", "How do you like Lisbon?"),
    ("user", "My budget for the new flat is 1200 euros."),
    ("assistant", "I will look for flats in Lisbon."),
)
BOATS = 12
LARGE, SMALL = 100_000, 1_000
MANY = 50
"""Drawers a conversation, where there are many."""
SLOWER = 1.5
TRIES = 5
MOST_TRIES = 40
"""The quickest of them counts, and more are made while others hold one of the two up."""
TYPED = """(row, text) => [...text].forEach((key) =>
  row.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })))"""
"""At once: what is typed slowly begins anew."""
ELEMENTS = 80
"""Rows that are elements at most, however many there are."""

Opened = Callable[[str, int], Served]
"""The server of a palace, by its shape and its size."""


@pytest.fixture(scope="module")
def told(local: Served) -> Served:
    """With a short conversation, a longer one in which markup is said, and a channel."""
    mine = local.memory.scope("local")
    for role, text in SAID:
        mine.record(role, text, conversation="flat", title="A flat in Lisbon")
    for number in range(BOATS):
        mine.record("user", f"<b>Boat</b> number {number} is for sale", conversation="boats", title="Boats")
    work = local.memory.scope("local", channel="work")
    work.record("user", "The server is called Otto.", conversation="servers")
    mine.mine()
    return local


@pytest.fixture
def page(told: Served, windows: Callable[..., Site]) -> Page:
    return windows(told).open("palace")


def row(page: Page, level: int, text: str) -> Locator:
    return page.locator(f'[role=treeitem][aria-level="{level}"]').filter(has_text=text)


def go_down(page: Page) -> Locator:
    """Open the way to what was said of the flat; the first of its drawers."""
    for level, text in ((1, "Lisbon"), (2, "A flat in Lisbon"), (3, "4 turns")):
        row(page, level, text).click()
        expect(row(page, level, text)).to_have_attribute("aria-expanded", "true")
    return row(page, 4, "I moved to Lisbon")


# What is in it


def test_a_drawer_tells_what_was_said_around_it_and_what_came_of_it(
    told: Served, windows: Callable[..., Site]
) -> None:
    site = windows(told)
    page = site.open("palace")
    expect(row(page, 1, "Lisbon")).to_contain_text("1 conversation · 4 turns")
    go_down(page).click()
    drawer = page.get_by_role("article", name="§ W-001/R-01/D-001")
    expect(drawer.locator("[aria-current=true]")).to_have_text(
        re.compile("User.*I moved to Lisbon with Anna")
    )
    expect(drawer.get_by_role("listitem").filter(has_text="How do you like Lisbon?")).to_be_visible()
    expect(drawer.locator("dl")).to_contain_text("Lisbon")
    came = drawer.get_by_role("region", name="What was derived from it").get_by_role("link").first
    expect(came).to_have_attribute("href", re.compile(r"#/knowledge\?id=.+"))
    expect(drawer).to_contain_text("RECOLLECT_AUDIT=verbose")
    assert not site.serious()

    page.reload()  # the address tells which drawer is open
    expect(drawer).to_be_visible()
    expect(page.locator("[role=treeitem][aria-selected=true]")).to_contain_text("I moved to Lisbon")
    page.go_back()
    expect(drawer).to_have_count(0)
    expect(row(page, 4, "I moved to Lisbon")).to_be_visible()


def test_by_keyboard_alone(page: Page) -> None:
    expect(row(page, 1, "Lisbon")).to_be_visible()
    row(page, 1, "Lisbon").focus()
    for level, text in ((1, "Lisbon"), (2, "A flat in Lisbon"), (3, "4 turns")):
        expect(row(page, level, text)).to_be_focused()
        page.keyboard.press("ArrowRight")
        expect(row(page, level, text)).to_have_attribute("aria-expanded", "true")
        expect(page.locator("[role=treeitem][aria-busy]")).to_have_count(0)
        page.keyboard.press("ArrowRight")
    expect(row(page, 4, "I moved to Lisbon")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("article", name="§ W-001/R-01/D-001")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(row(page, 3, "4 turns")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(row(page, 4, "I moved")).to_have_count(0)
    page.keyboard.press("End")
    page.locator("[role=treeitem]:focus").evaluate(TYPED, "Lis")
    expect(row(page, 1, "Lisbon")).to_be_focused()


def test_what_was_said_is_text_and_more_of_it_is_shown_on_request(
    told: Served, windows: Callable[..., Site]
) -> None:
    (wing,) = [one for one in told.memory.scope("local").palace() if one.drawers >= BOATS]
    page = windows(told).open("palace", at=f"§ {wing.place}/R-01/D-001")
    turns = page.get_by_role("article").get_by_role("listitem").filter(has_text="Boat")
    expect(turns.first).to_contain_text("<b>Boat</b> number 0")
    page.get_by_role("button", name="Show later").click()
    expect(turns).to_have_count(BOATS)
    expect(page.get_by_role("button", name="Show later")).to_be_hidden()


def test_a_channel_is_chosen(page: Page) -> None:
    expect(row(page, 1, "Lisbon")).to_be_visible()
    page.get_by_label("Channel").select_option("work")
    expect(page).to_have_url(re.compile("channel=work"))
    expect(row(page, 1, "You")).to_contain_text("2 conversations")  # what is shared is read there, too
    row(page, 1, "You").click()
    row(page, 2, "servers").click()


@pytest.fixture
def apart(tmp_path: Path) -> Iterator[Served]:
    """A memory that lies in channels alone; from one of them nothing leads elsewhere."""
    with serving.in_file(tmp_path / "memory.db", keyed=False, user="local") as server:
        for channel, text in {"work": "The server is called Otto.", "secret": "The cake is for Ana."}.items():
            server.memory.scope("local", channel=channel).record("user", text, conversation=channel)
        mine = server.memory.scope("local")
        mine.set_retention("secret", isolated=True)
        mine.mine()
        yield server


def test_what_lies_in_channels_alone_is_found(apart: Served, windows: Callable[..., Site]) -> None:
    page = windows(apart).open("palace")
    main = page.get_by_role("main")
    expect(main).to_contain_text("Nothing was said in this channel.")
    expect(main).not_to_contain_text("sorted in")
    main.get_by_role("link", name="secret").click()
    page.get_by_role("treeitem").click()
    expect(row(page, 2, "secret")).to_be_visible()


def test_a_pointer_leads_into_the_channel_of_its_drawer(apart: Served, windows: Callable[..., Site]) -> None:
    site = windows(apart)
    page = site.open("search", q="cake", channel="secret")
    page.get_by_role("list", name="Results").get_by_role("link", name="§").first.click()
    expect(page.get_by_role("article")).to_contain_text("The cake is for Ana.")
    expect(page.locator("[role=treeitem][aria-selected=true]")).to_contain_text("The cake is for Ana.")
    expect(page.get_by_label("Channel")).to_have_value("secret")
    expect(page).to_have_url(re.compile("channel=secret"))


def test_whoever_goes_on_before_the_way_is_open_is_not_led_back(
    told: Served, windows: Callable[..., Site]
) -> None:
    page = windows(told).page
    held = hold(page, "**/api/v1/palace?*closet=*")
    with page.expect_request("**/api/v1/palace?*closet=*"):
        page.goto(f"{told.url}/memory#/palace?at=§ W-001/R-01/D-001")
    row(page, 1, "Lisbon").click()  # closed
    expect(row(page, 2, "A flat")).to_have_count(0)
    expect(row(page, 1, "Lisbon")).to_be_focused()
    with page.expect_response("**/api/v1/palace?*closet=*"):
        held[0].continue_()
    page.evaluate("new Promise(requestAnimationFrame)")
    expect(row(page, 1, "Lisbon")).to_have_attribute("tabindex", "0")
    expect(row(page, 1, "Lisbon")).to_have_attribute("aria-expanded", "false")
    expect(page.locator("[role=treeitem]").first).to_contain_text("Lisbon")


def test_forgotten_and_brought_back(page: Page) -> None:
    drawer = page.get_by_role("article")
    go_down(page)
    row(page, 4, "I will look for flats").click()
    expect(drawer.locator(".turn")).to_have_count(4)
    drawer.get_by_role("button", name="Forget").click()
    page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    expect(row(page, 4, "I will look for flats")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(row(page, 4, "I will look for flats")).to_be_visible()


def test_on_a_phone_the_drawer_is_a_screen_of_its_own(told: Served, windows: Callable[..., Site]) -> None:
    site = windows(told, viewport=PHONE, color_scheme="dark")
    page = site.open("palace")
    go_down(page).click()
    expect(page.get_by_role("heading", name="§ W-001/R-01/D-001")).to_be_focused()
    expect(page.get_by_role("tree")).to_be_hidden()
    assert not site.serious()
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    page.get_by_role("button", name="Back to the palace").click()
    expect(row(page, 4, "I moved to Lisbon")).to_be_focused()
    assert not site.serious()


def test_on_a_phone_what_is_forgotten_leads_back(told: Served, windows: Callable[..., Site]) -> None:
    page = windows(told, viewport=PHONE).open("palace")
    go_down(page)
    row(page, 4, "I will look for flats").click()
    page.get_by_role("article").get_by_role("button", name="Forget").click()
    page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    expect(page.get_by_text("What was in this drawer is forgotten.")).to_be_visible()
    expect(page).not_to_have_url(re.compile("at="))
    page.get_by_role("button", name="Back to the palace").click()
    expect(row(page, 1, "Lisbon")).to_be_visible()
    expect(row(page, 4, "I will look for flats")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(row(page, 4, "I will look for flats")).to_be_visible()
    expect(page.locator("#said .problem")).to_have_count(0)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Served]:
    """A palace with two conversations in its one wing, of a turn each, and of which reading is noted."""
    with serving.in_file(tmp_path / "memory.db", keyed=False, user="local", audit="verbose") as server:
        fill(server.memory.store, "local", 2, talks=2)
        yield server


def test_rows_tell_how_much_is_left_in_them(small: Served, windows: Callable[..., Site]) -> None:
    page = windows(small).open("palace", at="§ W-001/R-01/D-001")
    expect(row(page, 1, "Subject 1")).to_contain_text("2 conversations · 2 turns")
    page.get_by_role("article").get_by_role("button", name="Forget").click()
    page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    expect(row(page, 1, "Subject 1")).to_contain_text("1 conversation · 1 turn")
    expect(row(page, 2, "Talk 0")).to_contain_text("Nothing is left")
    page.get_by_role("button", name="Undo").click()
    expect(row(page, 1, "Subject 1")).to_contain_text("2 conversations · 2 turns")
    expect(row(page, 2, "Talk 0")).to_contain_text("1 turn")


def test_a_drawer_tells_who_has_read_it(small: Served, windows: Callable[..., Site]) -> None:
    assert small.memory.scope("local", agent="scout", channel="work").get("t-1-0")
    small.memory.flush()
    page = windows(small).open("palace", at="§ W-001/R-02/D-001")
    readers = page.get_by_role("region", name="Who has read it").get_by_role("listitem")
    expect(readers.filter(has_text=re.compile("^scout by get in work "))).to_have_count(1)
    expect(readers.filter(has_text="talk")).to_have_count(0)  # that it was read, not what
    page = windows(small).open("palace", at="§ W-001/R-01/D-001")
    readers = page.get_by_role("region", name="Who has read it")
    expect(readers).not_to_contain_text("Loading…")
    expect(readers).not_to_contain_text("scout")


def test_an_empty_palace_says_what_to_do(palaces: Opened, windows: Callable[..., Site]) -> None:
    server = palaces("long", 0)
    page = windows(server).open("palace")
    expect(page.get_by_role("main")).to_contain_text("Nothing is remembered yet")
    server.memory.scope("local").record("user", "I live in Rome.", conversation="c")
    page.reload()
    page.get_by_role("button", name="Sort it in now").click()
    expect(page.get_by_role("treeitem").first).to_be_visible()


# However much is in it


@pytest.fixture(scope="module")
def palaces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """Servers with a palace of some shape and size."""
    folder = tmp_path_factory.mktemp("palaces")
    with ExitStack() as opened:

        @cache
        def palace(shape: str, drawers: int) -> Served:
            path = folder / f"{shape}-{drawers}.db"
            memory = opened.enter_context(Memory.open(path, embedder="hashing", rate_limit=0, user="local"))
            talks = drawers // MANY if shape == "many" else 1
            fill(memory.store, "local", drawers, talks=talks)
            return opened.enter_context(serving.served(memory, keyed=False))

        yield palace


OPENING = """async () => {
  const until = async (selector) => {
    for (;;) {
      const found = document.querySelector(selector);
      if (found) return found;
      await new Promise(requestAnimationFrame);
    }
  };
  location.hash = "#/search";
  await until("nav a[data-view=search][aria-current]");
  const start = performance.now();
  location.hash = "#/palace";
  for (const level of [1, 2, 3]) (await until(`[aria-level="${level}"]:not([aria-busy])`)).click();
  await until('[aria-level="4"]:not([aria-busy])');
  return performance.now() - start;
}"""
"""From the palace's being opened until drawers are shown, in milliseconds."""


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["long", "many"])
def test_a_large_palace_opens_as_fast_as_a_small_one(
    palaces: Opened, windows: Callable[..., Site], shape: str
) -> None:
    pages = {size: windows(palaces(shape, size)).open("palace") for size in (SMALL, LARGE)}
    took: dict[int, list[float]] = {SMALL: [], LARGE: []}
    while len(took[LARGE]) < TRIES or min(took[LARGE]) >= SLOWER * min(took[SMALL]):
        assert len(took[LARGE]) < MOST_TRIES, took
        for size, page in pages.items():
            page.bring_to_front()
            took[size].append(page.evaluate(OPENING))


SCROLLING = """async () => {
  const box = document.querySelector(".tree");
  let most = 0, last = -1, still = 0;
  while (still < 20) {
    box.scrollTop = box.scrollHeight;
    await new Promise(requestAnimationFrame);
    most = Math.max(most, box.querySelectorAll("[role=treeitem]").length);
    still = box.scrollHeight === last && !box.querySelector("[aria-busy]") ? still + 1 : 0;
    last = box.scrollHeight;
  }
  return most;
}"""
"""To the end of a tree; how many rows were elements at most."""


def test_a_large_palace_is_scrolled_to_its_end(palaces: Opened, windows: Callable[..., Site]) -> None:
    page = windows(palaces("long", LARGE)).open("palace")
    row(page, 1, "Subject 1").click()
    row(page, 2, "Talk 0").click()
    expect(row(page, 3, "Topic 1").first).to_be_visible()
    assert page.evaluate(SCROLLING) < ELEMENTS
    expect(row(page, 3, "Topic 1563")).to_be_visible()
    page.keyboard.press("Home")  # the row that has the focus was scrolled away, and has it still
    expect(row(page, 1, "Subject 1")).to_be_focused()


def test_an_address_leads_far_into_a_large_palace(palaces: Opened, windows: Callable[..., Site]) -> None:
    page = windows(palaces("long", LARGE)).open("palace", at="§ W-001/R-01/D-99990")
    expect(page.locator("[role=treeitem][aria-selected=true]")).to_contain_text("number 99989 in talk 0")
    expect(page.get_by_role("article").get_by_role("listitem").first).to_contain_text("number 99986")
    page.locator(".tree").evaluate("box => { box.scrollTop = 0; }")
    row(page, 3, "Show from the beginning").click()
    expect(row(page, 3, "Topic 1").first).to_be_visible()


def test_whoever_begins_anew_by_keyboard_stays_in_the_tree(
    palaces: Opened, windows: Callable[..., Site]
) -> None:
    page = windows(palaces("long", SMALL)).open("palace", at="§ W-001/R-01/D-060")
    expect(page.locator("[role=treeitem][aria-selected=true]")).to_contain_text("number 59 in talk 0")
    row(page, 4, "Show from the beginning").focus()
    page.keyboard.press("Enter")
    expect(row(page, 4, "number 0 in talk 0")).to_be_visible()
    expect(row(page, 3, "Topic 1").first).to_be_focused()
