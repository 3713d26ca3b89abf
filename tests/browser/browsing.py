"""A browser on the memory page of a real server: it notes what goes wrong, and what leaves the machine."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, Playwright, Route, expect

PATIENCE = 60_000
"""Milliseconds that something has to appear in."""
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
)
LAPTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
TYPED_AND_LEFT = """([field, text, next]) => {
  const typed = document.querySelector(field);
  typed.value = text;
  typed.dispatchEvent(new Event("input", { bubbles: true }));
  document.querySelector(next).click();
}"""
"""At once: before the view has followed what was typed."""


def chromium() -> str | None:
    """Where the browser is, if there is one; RECOLLECT_TEST_CHROMIUM names another."""
    return (
        os.environ.get("RECOLLECT_TEST_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    )


def launched(playwright: Playwright, path: str) -> Browser:
    expect.set_options(timeout=PATIENCE)
    return playwright.chromium.launch(executable_path=path, args=[*FLAGS])


@dataclass
class Site:
    """The page in one browser window of its own, with its own cookies."""

    page: Page
    url: str
    errors: list[str] = field(default_factory=list[str])
    elsewhere: list[str] = field(default_factory=list[str])
    """Addresses on other hosts that it asked for."""

    def open(self, view: str = "", **params: str) -> Page:
        """A view of the page, as its address names it."""
        query = "&".join(f"{name}={value}" for name, value in params.items())
        self.page.goto(f"{self.url}/memory#/{view}{'?' + query if query else ''}")
        return self.page

    def sign_in(self, key: str) -> Page:
        """With a key; the page is open afterwards."""
        self.page.goto(f"{self.url}/memory")
        self.page.get_by_label("API key").fill(key)
        self.page.get_by_role("button", name="Sign in").click()
        expect(self.page.get_by_role("navigation", name="Views")).to_be_visible()
        return self.page

    def serious(self) -> list[str]:
        """What an automated check of accessibility finds wrong here, of what matters."""
        from axe_playwright_python.sync_playwright import Axe

        finish_fading(self.page)
        with self.unheard():
            found = Axe().run(self.page, options={"preload": False}).response["violations"]
        return [
            f"{one['id']}: {one['help']} ({one['nodes'][0]['target']})"
            for one in found
            if one["impact"] in ("serious", "critical")
        ]

    @contextmanager
    def unheard(self) -> Iterator[None]:
        """For a check that is run in the page: it is not as careful as the page, and what it writes to the
        console meanwhile is no error of the page."""
        before = [*self.errors]
        yield
        self.page.evaluate("new Promise(requestAnimationFrame)")  # what it had to say has come by now
        self.errors[:] = before

    def check(self) -> None:
        """Nothing went wrong, and nobody else was asked for anything."""
        assert not self.errors, self.errors
        assert not self.elsewhere, self.elsewhere


@contextmanager
def window(browser: Browser, url: str, **options: Any) -> Iterator[Site]:
    """A window, checked when it is closed; `options` are Playwright's of a context."""
    context = browser.new_context(**{"viewport": LAPTOP, "locale": "en-GB", "timezone_id": "UTC", **options})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    site = Site(page, url)
    page.on("console", lambda message: site.errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: site.errors.append(str(error)))
    page.on("request", lambda request: _note(site, request.url))
    try:
        yield site
        site.check()
    finally:
        context.close()


def _note(site: Site, url: str) -> None:
    asked, own = urlsplit(url), urlsplit(site.url)
    if asked.scheme not in ("data", "blob") and asked.netloc != own.netloc:
        site.elsewhere.append(url)


def finish_fading(page: Page) -> None:
    """What is half transparent for a moment has no contrast to measure."""
    page.evaluate("document.getAnimations().forEach((one) => one.finish())")


def screenshot(page: Page, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=path, full_page=False, animations="disabled")


def hold(page: Page, address: str) -> list[Route]:
    """Hold back what is asked for there: each is answered when it is let go on."""
    held: list[Route] = []
    page.route(address, lambda route: held.append(route))  # noqa: PLW0108 - it cannot take a builtin
    return held
