"""Pictures of the memory page with the demo in it, for the documentation: `make screenshots`.

All go to build/screenshots, light and dark, on a laptop and a phone; a chosen few to docs/images/page. A view
that fails is told in the end, and keeps no other from being pictured.
"""

import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright
from playwright.sync_api import Error as BrowserError

from recollect import Memory, ScopedMemory
from recollect.cli.models import weights
from recollect.demo import Then, load
from recollect.settings import load as settings
from tests.browser.browsing import LAPTOP, PHONE, chromium, launched, screenshot, window
from tests.interface import serving

ROOT = Path(__file__).parents[2]
ALL, CHOSEN_FOLDER = ROOT / "build" / "screenshots", ROOT / "docs" / "images" / "page"
CHOSEN = (
    "palace-laptop-light",
    "search-laptop-light",
    "knowledge-laptop-light",
    "graph-laptop-dark",
    "palace-phone-light",
    "search-phone-dark",
)
SIZES = {"laptop": (LAPTOP, 1.5), "phone": (PHONE, 2.0)}
"""Where it is looked at, and how many pixels there are to a point."""
SCHEMES = ("light", "dark")
COLOURS = 256
MOST = 3_000_000
"""Bytes that the chosen ones may take together."""
PAST = timedelta(days=300)
QUESTION = "Which seats do I prefer on a plane?"


@dataclass(frozen=True)
class Shot:
    """One picture: a view, what its address says, and what is done there before it is taken."""

    name: str
    view: str
    params: dict[str, str]
    before: Callable[[Page], None] = lambda page: None


def shots(mine: ScopedMemory) -> list[Shot]:
    """What there is to see of this memory."""
    found = mine.recall(QUESTION, kinds=["turn"]).hits
    cited = re.match(r"§ \S+", found[0].citation or "") if found else None
    drawer = {"at": cited.group()} if cited else {}
    home = next(fact for fact in mine.list("fact", limit=1000) if fact.content == "The user lives in Lisbon.")  # type: ignore[attr-defined]
    me = mine.list("entity", name="user")[0]
    then = f"{datetime.now(UTC) - PAST:%Y-%m-%d}"
    return [
        Shot("palace", "palace", drawer),
        Shot("search", "search", {"q": QUESTION}, _unfold),
        Shot("knowledge", "knowledge", {}),
        Shot("record", "knowledge", {"id": home.id}),
        Shot("graph", "graph", {"entity": me.id, "as_of": then}),
        Shot("activity", "activity", {}),
        Shot("settings", "settings", {}),
        Shot("keys", "keys", {}),
    ]


def _unfold(page: Page) -> None:
    """Show the block that a model gets to read, where it is folded."""
    expect(page.get_by_role("listitem").first).to_be_visible()
    if (folds := page.locator("main details:not([open], .search-filters) > summary")).count():
        folds.first.click()


@contextmanager
def demo() -> Iterator[serving.Served]:
    """A server without keys, whose one user has the demo."""
    embedder = "hashing" if weights(settings()) is None else settings().embedder
    with tempfile.TemporaryDirectory(prefix="recollect-screenshots-") as folder:
        path = Path(folder) / "memory.db"
        clock = Then(datetime.now(UTC))
        with Memory.open(path, embedder=embedder, clock=clock, miner="rules") as memory:
            load(memory, clock, "demo")
        with (
            Memory.open(path, embedder=embedder, user="demo", rate_limit=0) as memory,
            serving.served(memory, keyed=False) as server,
        ):
            yield server


@contextmanager
def locked() -> Iterator[serving.Served]:
    """A server that asks for keys, and has nothing else."""
    with (
        tempfile.TemporaryDirectory(prefix="recollect-screenshots-") as folder,
        Memory.open(Path(folder) / "memory.db", embedder="none") as memory,
        serving.served(memory) as server,
    ):
        yield server


def take(browser: Browser, url: str, shot: Shot) -> Iterator[str]:
    """Take a picture on each machine in each scheme; what went wrong."""
    for size, (viewport, scale) in SIZES.items():
        for scheme in SCHEMES:
            path = ALL / f"{shot.name}-{size}-{scheme}.png"
            options = {"viewport": viewport, "color_scheme": scheme, "device_scale_factor": scale}
            try:
                with window(browser, url, **options, reduced_motion="reduce") as site:
                    quoted = {name: quote(value) for name, value in shot.params.items()}
                    _settle(site.open(shot.view, **quoted))
                    shot.before(site.page)
                    _settle(site.page)
                    screenshot(site.page, path)
                    # Whoever is not signed in is told so with a 401, which the browser notes.
                    site.errors[:] = [error for error in site.errors if "401" not in error]
                    smaller(path)
            except (AssertionError, BrowserError) as error:
                yield f"{path.name}: {str(error).splitlines()[0]}"


def _settle(page: Page) -> None:
    """Wait until everything that was asked for is there and drawn."""
    expect(page.get_by_role("heading").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    busy: Locator = page.locator("[aria-busy=true]:visible")
    expect(busy).to_have_count(0)


def smaller(path: Path) -> None:
    """In few colours, which a page has; where Pillow is not installed it stays as it is."""
    try:
        from PIL import Image
    except ImportError:
        return
    with Image.open(path) as image:
        few = image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def choose() -> int:
    """Copy the chosen ones to where the documentation has them; how many bytes they take."""
    CHOSEN_FOLDER.mkdir(parents=True, exist_ok=True)
    for name in CHOSEN:
        if (taken := ALL / f"{name}.png").exists():
            shutil.copy(taken, CHOSEN_FOLDER)
    return sum(path.stat().st_size for path in CHOSEN_FOLDER.glob("*.png"))


def main() -> int:
    if (path := chromium()) is None:
        print("There is no Chromium here: install it, or name one with RECOLLECT_TEST_CHROMIUM.")
        return 1
    shutil.rmtree(ALL, ignore_errors=True)
    with sync_playwright() as playwright, demo() as server, locked() as door:
        browser = launched(playwright, path)
        there = [(server.url, shot) for shot in shots(server.memory.scope("demo"))]
        problems = [
            problem
            for url, shot in (*there, (door.url, Shot("sign-in", "", {})))
            for problem in take(browser, url, shot)
        ]
        browser.close()
    size = choose()
    taken = len([*ALL.glob("*.png")])
    print(f"{taken} pictures in {ALL.relative_to(ROOT)}; {size / 1e6:.1f} MB of them chosen.")
    if size > MOST:
        problems.append(f"The chosen ones take {size:,} bytes, more than {MOST:,}.")
    sys.stdout.writelines(f"{problem}\n" for problem in problems)
    return len(problems) > 0


if __name__ == "__main__":
    sys.exit(main())
