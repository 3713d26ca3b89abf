"""What was done, how the memory grew, what it costs; and for operators how the deployment is doing."""

import re
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from recollect.ports.store import Spent
from tests.browser.browsing import PHONE, Site
from tests.interface import serving
from tests.interface.serving import Served

V1 = "/api/v1"
HOSTILE = "<b>talk</b> & more"


@pytest.fixture(scope="module", autouse=True)
def done(local: Served) -> None:
    """Turns in two conversations, a correction, something forgotten, recalls, calls of a model."""
    memory = local.memory
    mine, today = memory.scope("local"), datetime.now(UTC).date()
    mine.record("user", "I live in Porto.", conversation="talk-1")
    mine.record("user", "I moved to Lisbon.", conversation=HOSTILE)
    mine.mine()
    tea = mine.remember("Likes green tea")
    mine.correct(tea.id, "Likes black tea")
    mine.forget(mine.remember("A secret").id)
    mine.recall("Where do I live?")
    memory.store.user("local").spend(
        [
            Spent(today, "mining", "gpt-4o-mini", 3, 1000, 200),
            Spent(today, "gateway", "gpt-4o-mini", 1, 500, 34),
        ]
    )
    memory.tend()


def deeds(page: Page) -> Locator:
    return page.get_by_role("region", name="What was done").locator("tbody tr")


def numbers(page: Page, title: str) -> Locator:
    """The table of a chart, opened."""
    figure = page.get_by_role("figure").filter(has=page.get_by_role("heading", name=title))
    figure.get_by_text("The numbers").click()
    return figure.get_by_role("table", name=title)


def test_what_was_done_is_told_in_words_and_filtered(site: Site) -> None:
    page = site.open("activity")
    expect(deeds(page).filter(has_text="Recorded 1 turn")).to_have_count(2)
    expect(deeds(page).filter(has_text="Forgot 1 fact, 1 turn")).to_have_count(1)
    expect(deeds(page).filter(has_text=re.compile("Mined 1 turn: 2 learnt, 1 corrected"))).to_have_count(1)
    corrected = deeds(page).filter(has_text="Corrected 1 fact").get_by_role("link")
    expect(corrected).to_have_attribute("href", re.compile("^#/knowledge[?]id=[0-9a-f-]{36}$"))

    page.get_by_role("combobox", name="What").select_option("Corrected")
    expect(deeds(page)).to_have_count(1)
    expect(page).to_have_url(re.compile("operation=correct"))
    page.reload()
    expect(deeds(page)).to_have_count(1)
    page.get_by_role("button", name="Clear").click()
    expect(deeds(page).filter(has_text="Recorded")).to_have_count(2)

    page.get_by_role("button", name=HOSTILE).first.click()
    expect(page.get_by_role("textbox", name="Conversation")).to_have_value(HOSTILE)
    expect(deeds(page).filter(has_text="Recorded")).to_have_count(1)
    page.get_by_role("combobox", name="Of").select_option("turns")
    expect(deeds(page)).to_have_count(1)
    page.get_by_label("To", exact=True).fill("2020-01-01")
    expect(page.get_by_text("Nothing like that was done.")).to_be_visible()


def opened(site: Site) -> tuple[Page, dict[str, Any]]:
    """The page, and what it was told: another day may have begun since something was done, and when it is
    asked again."""
    page, asked = site.page, ("growth", "usage", "figures")
    with ExitStack() as waiting:
        told = {name: waiting.enter_context(page.expect_response(f"**{V1}/{name}*")) for name in asked}
        site.open("activity")
    return page, {name: answer.value.json() for name, answer in told.items()}


def named(page: Page, day: str) -> str:
    """A day of UTC, as the page calls it."""
    options = "{ dateStyle: 'medium', timeZone: 'UTC' }"
    return page.evaluate(f"day => new Date(day).toLocaleDateString(undefined, {options})", day)


def test_charts_have_the_numbers_of_the_api(site: Site) -> None:
    page, answers = opened(site)
    grown: list[dict[str, Any]] = answers["growth"]["growth"]
    known = numbers(page, "What is known").get_by_role("row")
    expect(known).to_have_count(1 + len(grown))
    heads = known.first.get_by_role("columnheader").all_text_contents()
    cells = [int(cell) for cell in known.last.get_by_role("cell").all_text_contents()]
    last = grown[-1]["counts"]
    plural = {"fact": "Facts", "entity": "Entities", "relation": "Relations"}
    assert dict(zip(heads[1:], cells, strict=True)) == {plural[kind]: last[kind] for kind in plural}
    expect(numbers(page, "What was said").get_by_role("row").last).to_contain_text(str(last["turn"]))

    spent = answers["usage"]["usage"]
    tokens = {one["source"]: one["prompt"] + one["completion"] for one in spent}
    assert (tokens["mining"], tokens["gateway"]) == (1200, 534)
    then = page.get_by_role("rowheader", name=named(page, spent[0]["day"]), exact=True)
    used = numbers(page, "Tokens of models").get_by_role("row").filter(has=then)
    told = used.get_by_role("cell").all_text_contents()
    assert [int(one.replace(",", "")) for one in told] == [tokens[source] for source in sorted(tokens)]

    (recalled,) = [one for one in answers["figures"]["recall_by_day"] if one["count"]]
    times = numbers(page, "Time to recall").get_by_role("row").filter(has_text="ms").get_by_role("cell")
    milliseconds = recalled["p95_ms"]
    written = f"{milliseconds:.1f} ms" if milliseconds < 10 else f"{round(milliseconds)} ms"
    expect(times.last).to_have_text(written)


def test_days_are_called_the_same_wherever_one_is(local: Served, windows: Callable[..., Site]) -> None:
    page, answers = opened(windows(local, timezone_id="Pacific/Kiritimati"))  # 14 hours ahead of UTC
    said, recalled = numbers(page, "What was said"), numbers(page, "Time to recall")
    first, today = answers["growth"]["growth"][0]["day"], answers["figures"]["today"]
    expect(said.get_by_role("rowheader").first).to_have_text(named(page, first))
    expect(recalled.get_by_role("rowheader").last).to_have_text(named(page, today))


def test_from_and_to_are_days_where_one_is(local: Served, windows: Callable[..., Site]) -> None:
    page = windows(local, timezone_id="Pacific/Kiritimati").open("activity")
    expect(deeds(page).filter(has_text="Recorded")).to_have_count(2)
    page.get_by_label("From", exact=True).fill("2020-01-01")
    with page.expect_request(re.compile("audit[?].*until=")) as asked:
        page.get_by_label("To", exact=True).fill("2020-01-01")
    query = parse_qs(urlsplit(asked.value.url).query)
    assert (query["since"], query["until"]) == (["2019-12-31T10:00:00.000Z"], ["2020-01-01T09:59:59.999Z"])
    expect(page.get_by_text("Nothing like that was done.")).to_be_visible()


def test_every_deed_has_words(tmp_path: Path, windows: Callable[..., Site]) -> None:
    options = {"audit": "reads", "retention": "turn_quota=3", "contradictions": "flag_review"}
    path = tmp_path / "memory.db"
    with serving.in_file(path, keyed=False, user="local", miner="rules", **options) as server:
        mine = server.memory.scope("local")
        for text in ("I live in Porto.", "I live in Rome."):
            mine.record("user", text, conversation="home")
        mine.record("user", "I work at Acme.", conversation="work")
        mine.mine()
        mine.settle(mine.contradictions()[0].new.id, "new")
        mine.palace()
        mine.drawer("W-1/R-1/D-1")
        mine.conversation("home")
        mine.summaries("home")
        mine.goals()
        mine.profile()
        server.memory.tend()
        server.memory.flush()
        done = {entry.operation for entry in mine.audit(limit=1000)}
        assert {"settle", "palace", "drawer", "goals", "profile", "quota_warning"} <= done
        page = windows(server).open("activity")
        full = deeds(page).filter(has_text="Nearly full: 3 turns of the user")
        expect(full).to_be_visible()
        expect(full.get_by_role("link")).to_have_count(0)
        what = page.get_by_role("combobox", name="What")
        offered = what.locator("option").evaluate_all("options => options.map(({ value }) => value)")
        assert done <= {*offered}


def test_operators_see_jobs_and_run_them(site: Site) -> None:
    page = site.open("activity")
    jobs = page.get_by_role("table", name="Jobs of the background")
    expect(jobs.get_by_role("row").filter(has_text="mine")).to_contain_text(
        re.compile("just now|minutes? ago")
    )
    expect(page.get_by_text("✓ Ready.")).to_be_visible()
    expect(page.get_by_text("Parked: nothing.")).to_be_visible()
    page.get_by_role("button", name="Run the jobs now").press("Enter")
    expect(page.get_by_role("status").filter(has_text="The jobs ran")).to_be_visible()
    expect(page.get_by_role("button", name="Run the jobs now")).to_be_focused()


def test_an_admin_sees_jobs_and_nobodys_memory(keyed: Served, windows: Callable[..., Site]) -> None:
    keyed.memory.scope("ana").record("user", "I live in Faro.", conversation="ana-only")
    keyed.memory.scope("zoe").remember("Likes tea")
    keyed.memory.scope("zoe").forget(everything=True)
    asked: list[str] = []
    key = keyed.issue("admin").key
    site = windows(keyed, extra_http_headers={"Authorization": f"Bearer {key}"})
    site.page.on("request", lambda request: asked.append(request.url.partition(V1)[2]))
    page = site.open("activity")
    expect(page.get_by_role("heading", name="The deployment")).to_be_visible()
    receipts = page.get_by_role("table", name="Receipts of erasures")
    expect(receipts.get_by_role("row").last).to_contain_text("1 × fact")
    expect(page.get_by_role("region", name="What was done")).to_have_count(0)
    expect(page.get_by_text("ana")).to_have_count(0)
    assert {one.partition("?")[0] for one in asked if one} == {"/session", "/figures", "/receipts"}


def test_an_admin_sees_how_far_quotas_are_used_up(tmp_path: Path, windows: Callable[..., Site]) -> None:
    policy = "turn_quota=4, memory_quota=0, channel_turn_quota=5"
    with serving.in_file(tmp_path / "memory.db", retention=policy) as server:
        for user, turns in (("ana", 4), ("ben", 1)):
            for number in range(turns):
                text = f"Number {number} of many"
                server.memory.scope(user, channel="secrets").record("user", text, conversation="c")
        site = windows(server)
        page = site.sign_in(server.issue("admin").key)
        quotas = page.get_by_role("table", name="Quotas")
        expect(quotas.get_by_role("columnheader").nth(3)).to_have_text("At 80 % or more")
        for name, cells in (
            ("Turns of a user", ["4", "4", "1", "1"]),
            ("Memories of a user", ["no limit", "0", "–", "–"]),
            ("Turns in a channel", ["5", "4", "1", "0"]),
        ):
            expect(quotas.get_by_role("row", name=name).get_by_role("cell")).to_have_text(cells)
        expect(page.get_by_role("main")).not_to_contain_text(re.compile("ana|ben|secrets"))
        assert not site.serious()


def test_a_user_sees_their_own_alone(keyed: Served, windows: Callable[..., Site]) -> None:
    key = keyed.issue(owner="ben").key
    site = windows(keyed, extra_http_headers={"Authorization": f"Bearer {key}"})
    page = site.open("activity")
    expect(page.get_by_text("Nothing is stored yet.")).to_be_visible()
    expect(page.get_by_text("Nothing like that was done.")).to_be_visible()
    expect(page.get_by_role("region", name="Deployment")).to_have_count(0)


def test_everybody_can_use_it(local: Served, windows: Callable[..., Site]) -> None:
    site = windows(local, viewport=PHONE, color_scheme="dark")
    page = site.open("activity")
    expect(page.get_by_role("heading", name="Receipts of erasures")).to_be_visible()
    expect(deeds(page).first).to_be_visible()
    numbers(page, "What is known")
    assert not site.serious()
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= page.evaluate("innerWidth"), "it does not scroll sideways"
