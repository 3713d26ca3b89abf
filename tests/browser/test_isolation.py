"""Two people on one server: whatever a view shows, and whatever an address names, is one's own."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from recollect import Fact
from tests.browser.browsing import Site
from tests.interface.serving import Served

ANAS = ("I live in Zanzibar.", "My sister Carla lives in Zanzibar.", "Carla works at Acme.")
BENS = ("I live in Porto.",)
HERS = re.compile("Zanzibar|Carla|Acme")
LAST = f"§ W-001/R-01/D-{len(ANAS):03}"
"""A drawer that only the longer of two conversations has."""


@dataclass(frozen=True)
class Others:
    """What somebody else has, by the ids of it."""

    fact: str
    turn: str
    entity: str


@pytest.fixture(scope="module")
def hers(keyed: Served) -> Others:
    """Ana's, who has more than Ben."""
    for user, said in (("ana", ANAS), ("ben", BENS)):
        mine = keyed.memory.scope(user)
        for text in said:
            mine.record("user", text, conversation="home")
        mine.mine()
    ana = keyed.memory.scope("ana")
    assert HERS.search(ana.drawer(LAST).turn.content)
    (fact, *_) = [one for one in ana.list("fact") if isinstance(one, Fact) and HERS.search(one.content)]
    entities = {one.name: one.id for one in ana.list("entity")}  # type: ignore[attr-defined]
    return Others(fact.id, ana.list("turn")[0].id, entities["Zanzibar"])


@pytest.fixture
def bens(keyed: Served, hers: Others, windows: Callable[..., Site]) -> Site:
    site = windows(keyed)
    site.sign_in(keyed.issue(owner="ben").key)
    return site


def nothing_of_hers(page: Page) -> None:
    """Not even where it is hidden."""
    page.wait_for_load_state("networkidle")
    assert not HERS.search(page.content())


def not_found(site: Site) -> None:
    """It was asked for and is not there, as if it had never been: the browser notes that as an error."""
    assert site.errors
    assert all("404" in error for error in site.errors), site.errors
    site.errors.clear()


def test_every_view_shows_ones_own(bens: Site) -> None:
    page = bens.open("palace", at=quote("§ W-001/R-01/D-001"))
    expect(page.get_by_role("article").locator("[aria-current=true]")).to_contain_text("Porto")
    nothing_of_hers(page)
    page = bens.open("search", q=quote("Where do I live, in Zanzibar with Carla?"))
    expect(page.get_by_role("list", name="Results").get_by_role("listitem").first).to_contain_text("Porto")
    assert not HERS.search(page.get_by_role("list", name="Results").inner_text())
    page = bens.open("knowledge")
    expect(page.get_by_role("row").filter(has_text="Porto")).to_be_visible()
    nothing_of_hers(page)
    page = bens.open("graph")
    expect(page.get_by_role("region", name="Relations").locator("tbody tr")).to_have_count(1)
    expect(page.get_by_role("region", name="Timeline")).to_contain_text("Porto")
    nothing_of_hers(page)
    page = bens.open("activity")
    expect(page.get_by_role("region", name="What was done").locator("tbody tr")).not_to_have_count(0)
    nothing_of_hers(page)


@pytest.mark.parametrize("name", ["fact", "turn", "entity"])
def test_anothers_id_opens_nothing(bens: Site, hers: Others, name: str) -> None:
    page = bens.open("knowledge", id=getattr(hers, name))
    expect(page.locator("#said")).to_contain_text("There is nothing with the id")
    nothing_of_hers(page)
    not_found(bens)


def test_anothers_pointer_opens_nothing(bens: Site) -> None:
    page = bens.open("palace", at=quote(LAST))
    expect(page.locator("#said")).to_contain_text("There is no drawer")
    nothing_of_hers(page)
    not_found(bens)


@pytest.mark.parametrize("entity", ["entity", "Zanzibar"])
def test_anothers_entity_is_in_no_graph(bens: Site, hers: Others, entity: str) -> None:
    page = bens.open("graph", entity=getattr(hers, entity, entity))
    expect(page.locator("#said .problem")).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert not re.search("Carla|Acme", page.content())
    not_found(bens)
