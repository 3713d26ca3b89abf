"""Chromium, and windows of it on a server."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.browsing import Site, chromium, launched, window
from tests.interface import serving
from tests.interface.serving import Served


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever is in this folder needs the browser."""
    for item in items:
        if "tests/browser/" in item.nodeid:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A file at a time: while it is open an event loop runs in this thread, and other tests run theirs."""
    path = chromium()
    if path is None:
        pytest.skip("there is no Chromium here: install it, or name one with RECOLLECT_TEST_CHROMIUM")
    with sync_playwright() as playwright:
        launched_browser = launched(playwright, path)
        yield launched_browser
        launched_browser.close()


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server without keys: whoever is on this machine is its one user, `local`."""
    path = tmp_path_factory.mktemp("local") / "memory.db"
    with serving.in_file(path, keyed=False, user="local") as server:
        yield server


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that asks for keys."""
    with serving.in_file(tmp_path_factory.mktemp("keyed") / "memory.db") as server:
        yield server


@pytest.fixture
def windows(browser: Browser) -> Iterator[Callable[..., Site]]:
    """Opens windows on a server: `windows(keyed, viewport=PHONE)`. Each is checked at the end."""
    with ExitStack() as opened:
        yield lambda server, **options: opened.enter_context(window(browser, server.url, **options))


@pytest.fixture
def site(local: Served, windows: Callable[..., Site]) -> Site:
    """A window on the server without keys."""
    return windows(local)
