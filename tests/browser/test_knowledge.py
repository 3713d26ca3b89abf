"""What is known, in a browser: looked through, put right, added to, forgotten and taken back."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from recollect import Conflict, Invalid, Memory, ScopedMemory
from tests.browser.browsing import PHONE, TYPED_AND_LEFT, Site, hold
from tests.interface import serving
from tests.interface.serving import Served


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server without keys on which contradictions are kept."""
    path = tmp_path_factory.mktemp("known") / "memory.db"
    asked: dict[str, Any] = {"embedder": "hashing", "rate_limit": 0, "user": "local"}
    with (
        Memory.open(path, contradictions="flag_review", **asked) as memory,
        serving.served(memory, keyed=False) as server,
    ):
        yield server


@pytest.fixture
def mine(local: Served) -> ScopedMemory:
    """The memory that the page shows, with nothing in it."""
    local.memory.scope("local").forget(everything=True)
    return local.memory.scope("local")


def tab(page: Page, name: str) -> Locator:
    return page.get_by_role("tab", name=name)


def row(page: Page, text: str) -> Locator:
    return page.get_by_role("row").filter(has_text=text)


def opened(page: Page) -> Locator:
    return page.get_by_role("complementary", name="The open record")


def agree(page: Page, name: str) -> None:
    page.get_by_role("dialog").get_by_role("button", name=name, exact=True).click()


def said(page: Page) -> Locator:
    return page.locator("#said")


def test_every_kind_has_a_tab(site: Site, mine: ScopedMemory) -> None:
    mine.record("user", "I love green tea.", conversation="a")
    mine.mine()
    mine.remember("Rex is a dog", about=["Rex"], pinned=True)
    mine.remember("Tag, then promote", kind="procedure", successes=3, failures=1)
    mine.remember("Deployed", kind="episode", outcome="It runs", lessons="Tag first", success=True)
    mine.remember("Be brief", kind="reflection")
    mine.add_goal("Move to Porto", priority=2)
    page = site.open("knowledge")
    expect(row(page, "Rex is a dog")).to_contain_text("pinned")
    expect(row(page, "Rex is a dog").get_by_role("cell")).to_have_count(6)
    tab(page, "Facts").press("ArrowRight")
    expect(tab(page, "Preferences")).to_be_focused()
    expect(row(page, "green tea")).to_be_visible()
    expect(row(page, "Rex")).to_have_count(0)
    for name, told in (
        ("Procedures", "3 of 4"),
        ("Episodes", "It runs"),
        ("Goals", "Move to Porto"),
        ("Reflections", "Be brief"),
    ):
        tab(page, name).click()
        expect(page.get_by_role("table", name=name)).to_contain_text(told)
        assert not site.serious()
    tab(page, "Episodes").click()
    outcome = page.get_by_role("cell", name="It runs")
    assert (outcome.bounding_box() or {})["width"] > 150  # a sentence is not read a word a line
    outcome.click()  # wherever a row is clicked, it opens
    expect(page.get_by_role("complementary")).to_contain_text("Tag first")
    tab(page, "To review").click()
    expect(page.get_by_text("Nothing waits.")).to_be_visible()
    page.reload()
    expect(tab(page, "To review")).to_have_attribute("aria-selected", "true")


def test_a_long_list_is_narrowed(site: Site, mine: ScopedMemory, local: Served) -> None:
    mine.remember_many([f"Shelf {number}" for number in range(120)])
    local.memory.scope("local", "work").remember("Deploys on Fridays")
    page = site.open("knowledge")
    expect(row(page, "Shelf 119")).to_be_visible()
    row(page, "Shelf 75").scroll_into_view_if_needed()
    page.mouse.wheel(0, 20_000)
    expect(row(page, "Shelf 40")).to_have_count(1)
    page.get_by_label("Find in the list").fill("shelf 7")
    expect(page.get_by_role("row")).to_have_count(12)
    page.get_by_label("Find in the list").fill("no such thing")
    expect(page.get_by_text("Nothing in the list says that.")).to_be_visible()
    page.get_by_label("Find in the list").fill("")
    page.get_by_label("Channel").select_option("work")
    expect(page.get_by_role("row")).to_have_count(2)


def test_what_was_typed_holds_in_the_next_tab(site: Site, mine: ScopedMemory) -> None:
    mine.remember_many(["Rex is a dog", "Tom is a cat"])
    mine.remember("Feed the dog", kind="procedure")
    mine.remember("Feed the cat", kind="procedure")
    page = site.open("knowledge")
    expect(row(page, "Tom is a cat")).to_be_visible()
    page.evaluate(TYPED_AND_LEFT, ["input[type=search]", "dog", "#tab-procedures"])
    expect(row(page, "Feed the dog")).to_be_visible()
    expect(page.get_by_label("Find in the list")).to_have_value("dog")
    expect(row(page, "Feed the cat")).to_have_count(0)


def test_goals_are_listed_by_how_pressing_they_are_in_isolated_channels_too(
    site: Site, mine: ScopedMemory, local: Served
) -> None:
    due = datetime(2030, 1, 31, tzinfo=UTC)
    mine.add_goal("Tidy up")
    mine.add_goal("Learn the piano", deadline=due)
    mine.add_goal("Move to Porto", priority=2)
    mine.set_retention("secret", isolated=True)
    secret = local.memory.scope("local", "secret")
    secret.add_goal("Plan the party", priority=1)
    secret.remember("Ana turns forty")
    page = site.open("knowledge", tab="goals")
    links = page.get_by_role("table", name="Goals").get_by_role("link")
    expect(links).to_have_text(["Move to Porto", "Plan the party", "Learn the piano", "Tidy up"])
    page.get_by_label("Channel").select_option("secret")
    expect(links).to_have_text(["Plan the party"])


def test_a_late_answer_takes_the_place_of_nothing_newer(site: Site, mine: ScopedMemory) -> None:
    rex = mine.remember("Rex is a dog")
    mine.remember("Tom is a cat")
    for town in ("Lyon", "Porto"):
        mine.record("user", f"I live in {town}.", conversation=town)
        mine.mine()
    page = site.page
    late = hold(page, f"**/api/v1/records/{rex.id}")
    with page.expect_request(f"**/api/v1/records/{rex.id}"):
        site.open("knowledge", id=rex.id)
    page.get_by_role("link", name="Tom is a cat").click()
    expect(opened(page).get_by_role("article")).to_contain_text("Tom is a cat")
    counting = hold(page, "**/api/v1/contradictions?*")
    with (
        page.expect_request("**/api/v1/contradictions?*"),  # asked once that answer is there
        page.expect_response(f"**/api/v1/records/{rex.id}"),
    ):
        late[0].continue_()
    expect(opened(page).get_by_role("article")).to_contain_text("Tom is a cat")

    with page.expect_request("**/api/v1/contradictions?*"):
        tab(page, "To review").click()
    older, newer = counting
    newer.continue_()
    expect(tab(page, "To review")).to_contain_text("1")
    with page.expect_response("**/api/v1/contradictions?*"):
        older.fulfill(json={"contradictions": [], "next": None})
    page.evaluate("new Promise(requestAnimationFrame)")
    expect(tab(page, "To review")).to_contain_text("1")


def test_put_right_kept_and_shared(site: Site, mine: ScopedMemory, local: Served) -> None:
    work = local.memory.scope("local", "work")
    work.remember("Deploys on Fridays", about=["Derek"])
    page = site.open("knowledge")
    page.get_by_role("link", name="Deploys on Fridays").click()
    side = opened(page)
    side.get_by_role("button", name="Correct").click()
    page.get_by_label("What is so").fill("Deploys on Thursdays")
    page.get_by_label("Since").fill("2025-03-01")
    agree(page, "Correct")
    expect(side.get_by_role("article")).to_contain_text("Deploys on Thursdays")
    expect(side.get_by_role("heading", name="Versions")).to_be_visible()
    expect(side.get_by_role("link", name="Deploys on Fridays")).to_be_visible()
    expect(side.get_by_role("link", name="Derek")).to_have_attribute("href", "#/graph?entity=" + entity(mine))
    expect(row(page, "Fridays")).to_have_count(0)
    side.get_by_role("button", name="Pin", exact=True).click()
    expect(row(page, "Thursdays")).to_contain_text("pinned")
    expect(side.get_by_role("button", name="Unpin")).to_be_visible()
    side.get_by_role("button", name="Promote").click()
    expect(said(page)).to_contain_text("all channels")
    side.get_by_role("button", name="Demote").click()
    expect(said(page)).to_contain_text("Back in the channel work")
    assert not site.serious()
    page.get_by_label("Also what was corrected").check()
    expect(row(page, "Fridays")).to_contain_text("corrected")
    (fact,) = mine.list("fact", superseded_by=None)
    assert (fact.pinned, fact.channel, fact.valid_from.year) == (True, "work", 2025)  # type: ignore[attr-defined]


def entity(user: ScopedMemory) -> str:
    return user.list("entity")[0].id


def test_forgotten_with_what_it_came_from_and_taken_back(site: Site, mine: ScopedMemory) -> None:
    mine.record("user", "I have a dog called Rex.", conversation="a")
    mine.mine()
    before = sorted(mine.export())
    fact = mine.list("fact")[-1]
    page = site.open("knowledge", id=fact.id)
    side = opened(page)
    side.get_by_role("button", name="Forget").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Also the turns it came from").check()
    expect(dialog).to_contain_text("1 turn")
    expect(dialog).to_contain_text("I have a dog called Rex.")
    expect(dialog).to_contain_text("taken back for a minute")
    assert not site.serious()
    agree(page, "Forget")
    expect(said(page)).to_contain_text("Forgotten")
    expect(side).to_be_hidden()
    expect(page.get_by_role("link", name="Rex")).to_have_count(0)
    assert mine.counts().get("turn") is None
    expect(page.get_by_role("button", name="Undo")).to_be_focused()
    page.keyboard.press("Enter")
    expect(said(page)).to_contain_text("Taken back")
    expect(opened(page).get_by_role("article")).to_be_visible()
    assert sorted(mine.export()) == before


def test_what_cannot_be_taken_back_is_said_before(site: Site, mine: ScopedMemory, local: Served) -> None:
    from recollect.model.changes import Put
    from recollect.testing.store_samples import fact

    turns = mine.record_many(
        [{"role": "user", "content": f"turn {n}"} for n in range(1002)], conversation="a"
    )
    wide = fact("wide", "All of it", sources=tuple(turn.id for turn in turns))
    local.memory.store.user("local").apply([Put(wide, ())])
    page = site.open("knowledge", id="wide")
    opened(page).get_by_role("button", name="Forget").click()
    expect(page.get_by_role("dialog")).to_contain_text("taken back for a minute")
    page.get_by_label("Also the turns it came from").check()
    expect(page.get_by_role("dialog")).to_contain_text("This cannot be undone.")
    expect(page.get_by_role("dialog")).to_contain_text("1,002 turns")


def test_written_down_by_hand(site: Site, mine: ScopedMemory) -> None:
    page = site.open("knowledge", tab="episodes")
    page.get_by_role("button", name="New episode").click()
    page.get_by_label("What is so").fill("Booked the flights")
    page.get_by_label("Outcome").fill("Booked")
    page.get_by_label("How it went").select_option("Well")
    page.get_by_label("About").fill("Hawaii, Anna")
    agree(page, "Save")
    expect(opened(page).get_by_role("article")).to_contain_text("Booked the flights")
    tab(page, "Preferences").click()
    page.get_by_role("button", name="New preference").click()
    page.get_by_label("What is so").fill("Prefers aisle seats")
    agree(page, "Save")
    expect(row(page, "Prefers aisle seats")).to_be_visible()
    tab(page, "Goals").click()
    page.get_by_role("button", name="New goal").click()
    page.get_by_label("What is to be reached").fill("Fly to Hawaii")
    page.get_by_label("Deadline").fill("2030-01-31")
    agree(page, "Save")
    side = opened(page)
    side.get_by_role("button", name="Edit").click()
    page.get_by_label("Priority").fill("3")
    agree(page, "Save")
    expect(row(page, "Fly to Hawaii").get_by_role("cell").nth(2)).to_have_text("3")
    side.get_by_role("button", name="Complete").click()
    page.get_by_label("What came of it").fill("Sunburnt")
    agree(page, "Complete")
    expect(side.get_by_role("button", name="Open again")).to_be_visible()
    (goal,) = mine.goals("completed")
    assert (goal.priority, goal.result, goal.deadline and goal.deadline.year) == (3, "Sunburnt", 2030)
    (episode,) = mine.list("episode")
    assert (episode.success, len(episode.about)) == (True, 2)  # type: ignore[attr-defined]


def test_what_could_not_be_loaded_is_not_as_if_there_were_none(site: Site, mine: ScopedMemory) -> None:
    fact = mine.remember("Rex is a dog")
    said_in = f"**/records/{fact.sources[0]}"
    site.page.route(said_in, lambda route: route.abort())
    page = site.open("knowledge", id=fact.id)
    sources = opened(page).locator("section").filter(has_text="source")
    expect(sources.get_by_role("alert")).to_contain_text("The server does not answer.")
    page.unroute(said_in)
    sources.get_by_role("button", name="Try again").press("Enter")
    expect(sources.get_by_role("listitem")).to_contain_text("Rex is a dog")
    expect(opened(page).get_by_role("article")).to_be_focused()
    site.errors[:] = [error for error in site.errors if "ERR_FAILED" not in error]


def test_contradictions_are_settled(site: Site, mine: ScopedMemory) -> None:
    for town in ("Lyon", "Porto", "Faro", "Rome"):
        mine.record("user", f"I live in {town}.", conversation=town)
        mine.mine()
    page = site.open("knowledge")
    expect(tab(page, "To review")).to_contain_text("3")
    tab(page, "To review").click()
    cards = page.get_by_role("tabpanel").get_by_role("listitem")
    expect(cards).to_have_count(3)
    assert not site.serious()
    cards.filter(has_text="Rome").get_by_role("button", name="Keep the old one").click()
    expect(cards).to_have_count(2)
    page.get_by_role("button", name="Undo").click()
    expect(cards).to_have_count(3)
    cards.filter(has_text="Rome").get_by_role("button", name="Keep the old one").click()
    expect(cards).to_have_count(2)
    expect(tab(page, "To review")).to_contain_text("2")
    cards.filter(has_text="Faro").get_by_role("button", name="Both hold").click()
    expect(cards).to_have_count(1)
    cards.filter(has_text="Porto").get_by_role("button", name="Keep the new one").click()
    expect(page.get_by_text("Nothing waits.")).to_be_visible()
    held = sorted(f.content for f in mine.list("fact", superseded_by=None))  # type: ignore[attr-defined]
    assert held == ["The user lives in Faro.", "The user lives in Porto."]


def test_on_a_phone_a_record_has_the_screen_to_itself(
    local: Served, mine: ScopedMemory, windows: Callable[..., Site]
) -> None:
    mine.remember("Rex is a dog", about=["Rex"])
    site = windows(local, viewport=PHONE, color_scheme="dark")
    page = site.open("knowledge", tab="review")
    expect(tab(page, "To review")).to_be_in_viewport()
    tab(page, "Facts").click()
    expect(page.get_by_role("table", name="Facts").get_by_role("cell").first).to_be_visible()
    page.get_by_role("link", name="Rex is a dog").click()
    expect(page.get_by_role("table")).to_be_hidden()
    expect(opened(page)).to_contain_text("1 source")
    assert not site.serious()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Back to the list").click()
    expect(page.get_by_role("link", name="Rex is a dog")).to_be_focused()
    page.get_by_role("link", name="Rex is a dog").click()
    page.go_back()
    expect(page.get_by_role("table")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


HOSTILE = (
    "<script>document.title='gone'</script><img src=x onerror=\"document.title='gone'\">",
    "[press](javascript:alert(1)) javascript:alert(1) https://evil.example/x",
    "Pay \u202eeert\u202c and \u2066x\u2069 \x07\u200b \u200f",
    "x" * (2**20 - 1),
)


@pytest.mark.parametrize("told", HOSTILE, ids=["script", "link", "bidi", "long"])
def test_whatever_is_remembered_is_shown_as_text(
    site: Site, mine: ScopedMemory, local: Served, told: str
) -> None:
    name = told.replace("\x07", "")[:100]
    place = local.memory.scope("local", name, name)
    fact = place.remember(told, about=[name])
    mine.add_goal(told)
    place.remember(told, kind="episode", goal=told, steps=[told], outcome=told, lessons=told)
    page = site.open("knowledge")
    expect(page.get_by_role("table", name="Facts").get_by_role("link")).to_have_count(1)
    for tabbed in ("Episodes", "Goals", "Facts"):
        tab(page, tabbed).click()
        page.get_by_role("table", name=tabbed).get_by_role("link").first.click()
        expect(opened(page).get_by_role("article")).to_be_visible()
    expect(opened(page).get_by_role("heading", name="1 source")).to_be_visible()
    opened(page).get_by_role("button", name="Forget").click()
    expect(page.get_by_role("dialog")).to_contain_text("will be erased")
    text = page.locator("body").inner_text()
    assert "\u202e" not in text
    assert "\u2066" not in text
    assert told[:20].split("\u202e", maxsplit=1)[0] in text
    assert page.title() == "Knowledge – Recollect"
    assert page.locator("main script, main img, a[href*=javascript], a[href^=http]").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert len(text) < 100_000
    with pytest.raises((Conflict, Invalid)):
        mine.undo(fact.id)
