"""What users set for their own memory on the page holds, and all of it can be taken along or erased."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from recollect import Fact, ScopedMemory
from tests.browser.browsing import PHONE, Site
from tests.interface.serving import Served

Windows = Callable[..., Site]


def entered(keyed: Served, windows: Windows, user: str, **options: object) -> tuple[Site, ScopedMemory]:
    """A user who is signed in and has something to look at."""
    mine = keyed.memory.scope(user, channel="work", agent="scout", conversation=f"{user}-monday")
    mine.record("user", "I like green tea.")
    mine.remember("Likes green tea")
    site = windows(keyed, **options)
    site.sign_in(keyed.issue(owner=user).key)
    opened(site)
    return site, mine


def opened(site: Site) -> None:
    """The settings, with every card filled: one that comes late moves those below it."""
    page = site.open("settings")
    for label in ("Memory", "New memories expire"):
        expect(page.get_by_label(label, exact=True)).to_be_visible()
    for name in ("Agents", "Channels"):
        expect(page.get_by_role("table", name=name)).to_be_visible()


@pytest.mark.parametrize("options", [{}, {"viewport": PHONE, "color_scheme": "dark"}], ids=["light", "dark"])
def test_everything_is_there_and_can_be_used_by_everybody(
    keyed: Served, windows: Windows, options: dict[str, object]
) -> None:
    site, _ = entered(keyed, windows, "ana", **options)
    page = site.page
    for heading in ("Recalling and learning", "Agents", "What is kept", "Channels", "All of it"):
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
    expect(page.get_by_label("Memories at a time")).to_have_attribute("placeholder", "5 (server's)")
    expect(page.get_by_role("table", name="Channels")).to_contain_text("work")
    for summary in page.locator("summary").all()[1:]:
        summary.click()
    assert not site.serious()
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0


def test_what_is_set_holds_and_is_taken_back(keyed: Served, windows: Windows) -> None:
    site, mine = entered(keyed, windows, "ben")
    page, said = site.page, site.page.get_by_role("status")
    page.get_by_label("Memories at a time").fill("2")
    page.keyboard.press("Enter")
    expect(said).to_contain_text("Memories at a time: 2")
    page.get_by_label("Sensitive data").select_option("drop")
    expect(said).to_contain_text("Sensitive data: drop")
    page.get_by_label("Memory", exact=True).select_option("Off")
    expect(said).to_contain_text("Memory: Off")
    assert mine.settings().values == {"top_k": 2, "pii": "drop", "enabled": False}
    assert mine.recall("Which tea?").skipped == "memory is off"
    page.get_by_label("Memory", exact=True).select_option("On (server's)")
    expect(said).to_contain_text("as the server has it")
    assert "enabled" not in mine.settings().values
    page.get_by_role("checkbox", name="scout recalls").click()
    expect(said).to_contain_text("scout no longer recalls")
    assert mine.recall("Which tea?").skipped == "recall is off for this agent"
    assert mine.settings().values["agents"] == {"scout": {"recall": False}}
    page.reload()
    expect(page.get_by_label("Memories at a time")).to_have_value("2")
    expect(page.get_by_role("checkbox", name="scout recalls")).not_to_be_checked()


def test_how_long_what_is_kept_in_a_channel(keyed: Served, windows: Windows) -> None:
    site, mine = entered(keyed, windows, "cleo")
    page, said = site.page, site.page.get_by_role("status")
    page.get_by_label("New memories expire").select_option("On")
    expect(said).to_contain_text("New memories expire: On")
    page.get_by_label("Channel", exact=True).select_option("work")
    days = page.locator("#kept-ttl_days")
    days.fill("3")
    days.press("Enter")
    expect(said).to_contain_text("After days: 3")
    policy, origins = mine.retention(), mine.retention_origins()
    assert (policy.expire, policy.ttl_days) == (True, 3)
    assert (origins["expire"], origins["ttl_days"], origins["popular"]) == ("user", "channel", "default")
    expect(page.get_by_text("set by you, here")).to_be_visible()
    days.fill("")
    days.press("Enter")
    expect(page.get_by_text("set by you, here")).to_have_count(0)
    assert mine.retention().ttl_days == 15


def test_a_channel_is_forgotten_after_what_goes_is_told(keyed: Served, windows: Windows) -> None:
    site, mine = entered(keyed, windows, "dora")
    page = site.page
    page.get_by_role("button", name="Forget the channel work").click()
    expect(page.get_by_role("dialog")).to_contain_text("1 fact")
    page.get_by_role("button", name="Cancel").click()
    assert mine.counts()["fact"] == 1
    page.get_by_role("button", name="Forget the channel work").click()
    page.get_by_role("button", name="Forget", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("Forgotten")
    expect(page.get_by_role("main")).to_be_focused()
    assert not mine.counts().get("fact")


def test_all_of_it_goes_out_and_comes_back_and_is_erased(
    keyed: Served, windows: Windows, tmp_path: Path
) -> None:
    site, mine = entered(keyed, windows, "eve")
    page = site.page
    with page.expect_download() as downloading:
        page.get_by_role("link", name="Export").click()
    assert downloading.value.suggested_filename.startswith("recollect-eve-")
    file = tmp_path / "eve.jsonl"
    downloading.value.save_as(file)
    assert "I like green tea." in file.read_text("utf-8")
    assert all(json.loads(line) for line in file.read_text("utf-8").splitlines())

    page.get_by_role("button", name="Erase everything…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("1 conversation")
    erase = dialog.get_by_role("button", name="Erase everything")
    page.get_by_label("Type eve").fill("ev")
    expect(erase).to_be_disabled()
    page.get_by_label("Type eve").fill("eve")
    assert not site.serious()
    erase.click()
    expect(page.get_by_label("API key")).to_be_visible()
    assert not mine.counts()

    site.sign_in(keyed.issue(owner="eve").key)
    site.open("settings")
    page.get_by_label("File to import").set_input_files(file)
    expect(page.get_by_role("status")).to_contain_text("Imported")
    assert mine.counts()["fact"] == 1


def test_names_that_hide_or_turn_around_are_written_out(keyed: Served, windows: Windows) -> None:
    """Nobody forgets a channel, or revokes a key, that reads like another one."""
    odd = "w\u202ekro\u061c\U000e0041<b>\u00ad__proto__"
    shown = "w⟨U+202E⟩kro⟨U+061C⟩⟨U+E0041⟩<b>⟨U+00AD⟩__proto__"
    for name in (odd, "__proto__", "constructor"):
        other = keyed.memory.scope("odd", channel=name, agent=name, conversation=f"in {name}")
        other.record("user", "My sister Anna works at Acme.")
    keyed.memory.scope("odd", channel=odd).mine()
    keyed.issue(owner="odd", name=odd)
    site, _ = entered(keyed, windows, "odd")
    page = site.page
    for name in (shown, "__proto__", "constructor"):
        expect(page.get_by_role("button", name=f"Forget the channel {name}", exact=True)).to_be_visible()
        expect(page.get_by_role("checkbox", name=f"{name} recalls", exact=True)).to_be_visible()
    page.get_by_role("checkbox", name="__proto__ recalls", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("__proto__ no longer recalls")
    page.get_by_role("checkbox", name=f"{shown} recalls", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text(f"{shown} no longer recalls")
    expect(page.locator("#kept-in")).to_contain_text(shown)
    page.get_by_role("button", name=f"Forget what {shown} was told").click()
    expect(page.get_by_role("dialog")).to_contain_text(shown)
    page.get_by_role("button", name="Cancel").click()
    site.open("keys")
    expect(page.get_by_role("button", name=f"Revoke the key {shown}")).to_be_visible()
    site.open("palace")
    expect(page.get_by_label("Channel")).to_contain_text(shown)
    assert "\u202e" not in page.locator("body").inner_text()


def test_what_an_agent_knows_is_seen_and_cleared(keyed: Served, windows: Windows) -> None:
    site, mine = entered(keyed, windows, "eve")
    page = site.page
    mine.remember("The scout keeps the map")
    keyed.memory.scope("eve").remember("Nobody's in particular")
    page.get_by_role("link", name="What scout knows").click()
    expect(page.get_by_role("link", name="The scout keeps the map")).to_be_visible()
    expect(page.get_by_text("Nobody's in particular")).not_to_be_visible()
    page.get_by_role("button", name="Only of scout").click()
    expect(page.get_by_text("Nobody's in particular")).to_be_visible()
    opened(site)
    page.get_by_role("button", name="Forget what scout was told").click()
    page.get_by_role("button", name="Forget", exact=True).click()
    expect(page.get_by_role("status").filter(has_text="Forgotten")).to_be_visible()
    assert not mine.list("turn", agent="scout")
    assert [fact.content for fact in keyed.memory.scope("eve").list("fact") if isinstance(fact, Fact)] == [
        "Nobody's in particular"
    ]
