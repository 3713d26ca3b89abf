"""The graph: who and what is related, around one entity, at any time."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from recollect import Entity, ScopedMemory
from tests.browser.browsing import PHONE, Site, hold
from tests.interface import serving
from tests.interface.serving import Served

HOSTILE = '<img src=x onerror="alert(1)">'
PORTO, LISBON = datetime(2024, 3, 2, 9, tzinfo=UTC), datetime(2025, 5, 1, 9, tzinfo=UTC)


@pytest.fixture(scope="module", autouse=True)
def mine(local: Served) -> ScopedMemory:
    """Somebody who moved from Porto to Lisbon, and whose sister did not."""
    mine = local.memory.scope("local")
    said = {
        PORTO: "I live in Porto. My sister Ana lives in Braga. I work at Acme.",
        LISBON: "I moved to Lisbon.",
    }
    for number, (at, text) in enumerate(said.items()):
        mine.record("user", text, conversation=f"talk-{number}", at=at)
    mine.mine()
    mine.remember("Is a strange name", about=[HOSTILE])
    return mine


def boxes(page: Page) -> Locator:
    """The entities that are drawn, the one in the middle first."""
    return page.get_by_role("group", name="Drawing of the relations").get_by_role("button")


def rows(page: Page) -> Locator:
    return page.get_by_role("region", name="Relations").locator("tbody tr")


def centre(page: Page) -> Locator:
    return page.locator(".node.centre")


def shown(page: Page, entity: str) -> None:
    """Wait until it is in the middle."""
    expect(centre(page)).to_have_attribute("aria-label", re.compile(f"^{entity},"))
    expect(page.get_by_role("heading", name=entity)).to_be_visible()
    expect(page.get_by_role("slider", name="As of")).to_be_visible()  # which moves what is below it


def test_a_move_is_seen_by_the_slider(site: Site) -> None:
    page = site.open("graph")
    shown(page, "user")
    expect(rows(page).filter(has_text="Lisbon")).to_contain_text("since 1 May 2025")
    expect(boxes(page).filter(has_text="Porto")).to_have_count(0)
    slider = page.get_by_role("slider", name="As of")
    expect(slider).to_have_attribute("aria-valuetext", "today")
    before = boxes(page).filter(has_text="Ana").get_attribute("transform")

    page.get_by_role("button", name="Earlier change").click()
    expect(slider).to_have_attribute("aria-valuetext", "1 May 2025")
    slider.press("ArrowLeft")
    expect(slider).to_have_attribute("aria-valuetext", "30 Apr 2025")
    expect(rows(page).filter(has_text="Porto")).to_contain_text("2 Mar 2024 – 1 May 2025")
    expect(boxes(page).filter(has_text="Porto")).to_have_count(1)
    expect(boxes(page).filter(has_text="Lisbon")).to_have_count(0)
    expect(page).to_have_url(re.compile("as_of=2025-04-30"))
    assert boxes(page).filter(has_text="Ana").get_attribute("transform") == before, "nobody jumps"

    page.reload()
    expect(slider).to_have_attribute("aria-valuetext", "30 Apr 2025")
    expect(boxes(page).filter(has_text="Porto")).to_have_count(1)
    page.get_by_role("button", name="Today").click()
    expect(boxes(page).filter(has_text="Lisbon")).to_have_count(1)


def test_a_day_is_called_the_same_wherever_one_is(local: Served, windows: Callable[..., Site]) -> None:
    page = windows(local, timezone_id="Pacific/Kiritimati").open("graph", as_of="2025-05-01")
    shown(page, "user")
    expect(page.get_by_role("slider", name="As of")).to_have_attribute("aria-valuetext", "1 May 2025")
    expect(page.get_by_role("status").filter(has_text="on 1 May 2025")).to_be_visible()


def test_another_entity_is_put_in_the_middle(site: Site) -> None:
    page = site.open("graph", entity="user")
    shown(page, "user")
    boxes(page).filter(has_text="Ana").hover()
    expect(page.locator(".told")).to_contain_text("user sister Ana · since 2 Mar 2024 · said in this turn")
    boxes(page).filter(has_text="Ana").click()
    shown(page, "Ana")
    expect(centre(page)).to_be_focused()
    expect(rows(page)).to_have_count(2)
    expect(rows(page).filter(has_text="user")).to_contain_text("← sister")

    boxes(page).filter(has_text="Braga").press("Enter")
    shown(page, "Braga")
    expect(centre(page)).to_be_focused()
    page.go_back()
    shown(page, "Ana")

    rows(page).get_by_role("button", name="user").click()
    shown(page, "user")
    page.get_by_label("Entity").fill("lisbon")
    page.get_by_label("Entity").press("Enter")
    shown(page, "Lisbon")
    page.get_by_label("How far").select_option("And theirs")
    expect(boxes(page).filter(has_text="Acme")).to_have_count(1)


def test_the_drawing_is_moved_and_zoomed(site: Site) -> None:
    page = site.open("graph", entity="user")
    shown(page, "user")
    drawing = page.get_by_role("group", name="Drawing of the relations")

    def seen() -> list[float]:
        return [float(part) for part in (drawing.get_attribute("viewBox") or "").split()]

    page.evaluate("new Promise(requestAnimationFrame)")  # it has found its size
    x, y, width, _ = seen()
    drawing.press("ArrowRight")
    assert seen()[0] > x
    drawing.press("+")
    assert seen()[2] < width
    drawing.press("0")
    assert seen()[:2] == [x, y]
    drawing.hover(position={"x": 20, "y": 20})
    page.mouse.down()
    page.mouse.move(0, 0)
    page.mouse.up()
    assert seen()[0] > x
    page.mouse.wheel(0, -100)
    page.get_by_role("button", name="Show all").click()
    assert seen()[:2] == [x, y]


def test_the_timeline_leads_to_records(site: Site, mine: ScopedMemory) -> None:
    page = site.open("graph", entity="user")
    events = page.get_by_role("region", name="Timeline").get_by_role("listitem")
    expect(events.filter(has_text="The user lives in Lisbon.")).to_contain_text("Corrected")
    (left,) = (e for e in mine.timeline("user") if e.what == "ended" and e.kind == "fact")
    ended = events.filter(has_text="Ended").filter(has_text="The user lives in Porto.")
    expect(ended).to_contain_text("1 May 2025")
    expect(ended.get_by_role("link")).to_have_attribute("href", f"#/knowledge?id={left.id}")


def test_two_are_one_and_two_again(site: Site, mine: ScopedMemory) -> None:
    mine.remember("Bakes bread", about=["Annie"])
    page = site.open("graph", entity="Annie")
    shown(page, "Annie")
    page.get_by_role("button", name="Merge…").click()
    page.get_by_label("The same as").select_option("Ana (person)")
    expect(page.get_by_role("dialog")).to_contain_text("Relations between the two go for good.")
    page.get_by_role("dialog").get_by_role("button", name="Merge").click()
    shown(page, "Ana")
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)  # nothing brings all of it back
    expect(page.get_by_text("Also called Annie")).to_be_visible()
    page.get_by_role("button", name="Split…").click()
    page.get_by_role("dialog").get_by_role("button", name="Split").click()
    shown(page, "Annie")
    assert {"Ana", "Annie"} <= {e.name for e in mine.list("entity") if isinstance(e, Entity)}


def test_an_unknown_name_leaves_what_is_shown(site: Site) -> None:
    page = site.open("graph", entity="user")
    shown(page, "user")
    page.get_by_label("Entity").fill("Nobody at all")
    page.get_by_label("Entity").press("Enter")
    expect(page.locator("#said")).to_contain_text("Nothing is known of")
    expect(page).not_to_have_url(re.compile("Nobody"))
    page.get_by_label("How far").select_option("And theirs")
    expect(boxes(page).filter(has_text="Braga")).to_have_count(1)
    page.get_by_role("button", name="Earlier change").click()
    expect(page).to_have_url(re.compile("as_of=2025-05-01"))
    page.get_by_label("Entity").fill("Ana")
    page.get_by_label("Entity").press("Enter")
    shown(page, "Ana")
    site.errors[:] = [error for error in site.errors if "404" not in error]


def test_a_change_before_the_answer_is_there_loses_nothing(site: Site) -> None:
    page = site.open("graph", entity="Acme")
    shown(page, "Acme")
    held = hold(page, "**/api/v1/graph?*hops=1*")
    with page.expect_request("**/api/v1/graph?*hops=1*"):
        page.get_by_label("Entity").fill("user")
        page.get_by_label("Entity").press("Enter")
    page.get_by_label("How far").select_option("And theirs")
    shown(page, "user")
    expect(page.get_by_role("region", name="Timeline")).to_contain_text("The user lives in Lisbon.")
    expect(page.locator("datalist#changes option")).to_have_count(2)
    assert len(held) == 1


@pytest.fixture
def apart(tmp_path: Path) -> Iterator[Served]:
    """A memory that lies in channels alone; from one of them nothing leads elsewhere."""
    said = {
        "work": "My colleague Otto lives in Faro.",
        "secret": "I live in Rome. My brother Tom lives in Oslo. I work at Acme.",
    }
    with serving.in_file(tmp_path / "memory.db", keyed=False, user="local") as server:
        mine = server.memory.scope("local")
        mine.set_retention("secret", isolated=True)
        for channel, text in said.items():
            server.memory.scope("local", channel=channel).record("user", text, conversation=channel)
        mine.mine()
        yield server


def test_an_entity_is_seen_from_its_own_channel(apart: Served, windows: Callable[..., Site]) -> None:
    site = windows(apart)
    page = site.open("graph")  # at the best connected one, who is in an isolated channel
    shown(page, "user")
    expect(rows(page).filter(has_text="Tom")).to_have_count(1)
    expect(page.get_by_label("Channel")).to_have_value("secret")
    page.get_by_label("Entity").fill("otto")
    page.get_by_label("Entity").press("Enter")
    shown(page, "Otto")
    expect(rows(page).filter(has_text="Faro")).to_have_count(1)
    expect(page.get_by_label("Channel")).to_have_value("work")
    rows(page).get_by_role("button", name="user").click()
    shown(page, "user")
    page.get_by_label("Channel").select_option("secret")  # who is called so there
    expect(rows(page).filter(has_text="Tom")).to_have_count(1)
    facts = apart.memory.scope("local").list("fact")
    (oslo,) = (fact.id for fact in facts if "Oslo" in str(getattr(fact, "content", "")))
    site.open("knowledge", id=oslo)
    page.get_by_role("complementary").get_by_role("link", name="Tom").click()
    shown(page, "Tom")
    expect(rows(page).filter(has_text="Oslo")).to_have_count(1)


def test_one_who_is_not_among_those_listed_is_seen_too(apart: Served, windows: Callable[..., Site]) -> None:
    (tom,) = apart.memory.scope("local").list("entity", name="Tom")
    site = windows(apart)
    few = apart.client().get("/api/v1/entities?everywhere=true&limit=1").json() | {"next": None}
    assert tom.id != few["entities"][0]["id"]
    site.page.route("**/api/v1/entities?*", lambda route: route.fulfill(json=few))
    page = site.open("graph", entity=tom.id)
    shown(page, "Tom")
    expect(rows(page).filter(has_text="Oslo")).to_have_count(1)


def test_a_hostile_name_is_a_name(site: Site, mine: ScopedMemory) -> None:
    page = site.open("graph")
    page.get_by_label("Entity").fill(HOSTILE)
    page.get_by_role("button", name="Go").click()
    expect(page.get_by_role("heading", name=HOSTILE)).to_be_visible()
    expect(centre(page).locator("title")).to_have_text(HOSTILE)
    expect(page.get_by_role("region", name="Relations")).to_contain_text("None at this time.")
    assert page.locator("main img").count() == 0


def test_everybody_can_use_it(local: Served, windows: Callable[..., Site]) -> None:
    site = windows(local, viewport=PHONE, color_scheme="dark")
    page = site.open("graph", entity="user", hops="2")
    shown(page, "user")
    expect(boxes(page).filter(has_text="Braga")).to_be_visible()
    assert not site.serious()
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= page.evaluate("innerWidth"), "it does not scroll sideways"


def test_nothing_is_known_yet(keyed: Served, windows: Callable[..., Site]) -> None:
    key = keyed.issue(owner="newcomer").key
    page = windows(keyed, extra_http_headers={"Authorization": f"Bearer {key}"}).open("graph")
    expect(page.get_by_text("Nobody and nothing is known yet.")).to_be_visible()


def test_many_are_drawn_apart_and_the_rest_is_told(keyed: Served, windows: Callable[..., Site]) -> None:
    popular = keyed.memory.scope("popular")
    ends = ("a", "o", "ina", "ito", "elia", "uardo")
    names = [f"{begin}{end}" for begin in ("Al", "Ber", "Car", "Dan", "Ed", "Fer") for end in ends]
    said = [{"role": "user", "content": f"My friend {name} likes tea."} for name in names]
    popular.record_many(said, conversation="friends")
    popular.mine()
    key = keyed.issue(owner="popular").key
    page = windows(keyed, extra_http_headers={"Authorization": f"Bearer {key}"}).open("graph")
    shown(page, "user")
    expect(boxes(page)).to_have_count(30)
    expect(rows(page)).to_have_count(len(names))
    expect(
        page.get_by_text(f"The nearest 29 are drawn, and {len(names) - 29} more are in the list.")
    ).to_be_visible()
    edges = (
        "all => all.map((one) => one.getBoundingClientRect()).map((at) => [at.x, at.y, at.right, at.bottom])"
    )
    places = boxes(page).locator("rect").evaluate_all(edges)
    for one, other in combinations(places, 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
