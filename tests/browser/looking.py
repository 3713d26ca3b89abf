"""What must hold of the page whatever it shows, asked of the page itself."""

from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.browsing import Site, finish_fading

PRESSES = 400
"""Of Tab, after which whoever is still going round is caught."""

STRUCTURE = """() => {
  const shown = (one) => one.checkVisibility({ visibilityProperty: true });
  const wrong = [];
  const headings = [...document.querySelectorAll("h1, h2, h3, h4")].filter(shown);
  const levels = headings.map((one) => Number(one.tagName[1]));
  if (levels.filter((level) => level === 1).length !== 1) wrong.push(`h1: ${levels}`);
  if (levels.some((level, at) => level > (levels[at - 1] ?? 0) + 1)) wrong.push(`headings: ${levels}`);
  if ([...document.querySelectorAll("main")].filter(shown).length !== 1) wrong.push("main");
  if (!document.querySelector("[role=status], [aria-live]")) wrong.push("nothing is announced");
  const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
  wrong.push(...ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `id twice: ${id}`));
  return wrong;
}"""

OVERFLOW = """() => {
  const { scrollWidth: wide, clientWidth: seen } = document.documentElement;
  if (wide <= seen) return [];
  const beyond = (one) => one.getBoundingClientRect().right > seen + 1;
  const out = [...document.querySelectorAll("body *")].filter(beyond);
  const named = (one) => `${one.tagName}.${one.getAttribute("class") ?? ""}`;
  return [`${wide} > ${seen}: ${out.slice(0, 4).map(named)}`];
}"""

SPACED = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`p { margin-bottom: 2em !important }
    * { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important }`);
  document.adoptedStyleSheets = [sheet];
}"""

LARGER = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(":root { font-size: 200% !important }");
  document.adoptedStyleSheets = [sheet];
  dispatchEvent(new Event("resize"));
}"""

CUT = """() => [...document.querySelectorAll("body *")].filter((one) => {
  const { overflowX, overflowY, textOverflow, clipPath, display } = getComputedStyle(one);
  if (!one.checkVisibility() || clipPath !== "none" || display === "inline") return false;
  const wide = overflowX === "hidden" && textOverflow !== "ellipsis" && one.scrollWidth > one.clientWidth + 1;
  const high = ["hidden", "clip"].includes(overflowY) && one.scrollHeight > one.clientHeight + 2;
  return one.textContent.trim() && !one.closest("svg") && (wide || high);
}).map((one) => `cut: ${one.tagName}.${one.className} ${one.textContent.slice(0, 40)}`)"""

MOVING = """() => [...document.querySelectorAll("*")].filter((one) => {
  const { transitionDuration, animationName, scrollBehavior } = getComputedStyle(one);
  return transitionDuration !== "0s" || animationName !== "none" || scrollBehavior !== "auto";
}).map((one) => `moves: ${one.tagName}.${one.className}`)"""

WATCH = """() => {
  const stops = "a[href], button, input, select, textarea, summary, [tabindex]";
  const name = (one) => `${one.tagName}.${one.getAttribute("class") ?? ""} `
    + (one.getAttribute("aria-label") ?? one.name ?? "") + one.textContent.slice(0, 30);
  const ringed = (one) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(one);
    const box = one.querySelector(":scope > rect"); // a box of the drawing
    return (outlineStyle !== "none" && parseFloat(outlineWidth) >= 2)
      || (box && parseFloat(getComputedStyle(box).strokeWidth) >= 3);
  };
  const covered = (one) => {
    const { top, bottom, left, right } = one.getBoundingClientRect();
    const over = document.elementFromPoint((left + right) / 2, (top + bottom) / 2)?.closest("header, #said");
    return bottom < 0 || top > innerHeight || (over && !over.contains(one));
  };
  const start = document.querySelector(".skip");
  const visited = [start], wrong = new Set();
  start.focus();
  document.addEventListener("focusin", ({ target }) => {
    window.round ||= target === start;
    if (!visited.includes(target)) visited.push(target);
    if (!ringed(target)) wrong.add(`no ring: ${name(target)}`);
  });
  document.addEventListener("focusout", ({ relatedTarget }) => { window.round ||= relatedTarget === null; });
  window.seen = async () => { // scrolling there takes a few frames
    const focused = () => document.activeElement;
    const hidden = () => focused() !== start && focused() !== document.body && covered(focused());
    for (let frame = 0; frame < 100 && hidden(); frame += 1) await new Promise(requestAnimationFrame);
    if (hidden()) wrong.add(`covered: ${name(focused())}`);
  };
  const wanted = [...document.querySelectorAll(stops)].filter((one) => one.tabIndex >= 0 && !one.disabled
    && one.checkVisibility({ visibilityProperty: true }));
  window.round = false;
  window.missed = () => {
    const there = visited.filter((one) => one.isConnected);
    const back = there.filter((one, at) => at > 0
      && !(there[at - 1].compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING));
    const missed = wanted.filter((one) => one.isConnected && !visited.includes(one));
    return [...wrong, ...missed.map((one) => `missed: ${name(one)}`),
      ...back.map((one) => `out of order: ${name(one)}`)];
  };
}"""


def settle(page: Page) -> None:
    """Wait until everything that was asked for is there and drawn."""
    page.wait_for_load_state("networkidle")
    expect(page.locator("[aria-busy=true]:visible")).to_have_count(0)
    expect(page.get_by_text("Loading…").locator("visible=true")).to_have_count(0)


def axe(site: Site, *rules: str) -> list[str]:
    """What an automated check of accessibility finds wrong, but for what is of no weight."""
    from axe_playwright_python.sync_playwright import Axe

    options: dict[str, Any] = {"preload": False, "resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = {"type": "rule", "values": [*rules]}
    finish_fading(site.page)
    with site.unheard():
        found = Axe().run(site.page, options=options).response["violations"]
    return [
        f"{one['impact']} {one['id']}: {[node['target'] for node in one['nodes'][:3]]}"
        for one in found
        if one["impact"] != "minor"
    ]


def walked(page: Page) -> list[str]:
    """What is wrong with going through the page by Tab: missed, out of order, or the focus is not seen."""
    page.evaluate(WATCH)
    for press in range(PRESSES):
        page.keyboard.press("Tab")
        page.evaluate("seen()")
        if press % 10 == 0 and page.evaluate("round"):
            return page.evaluate("missed()")
    return [*page.evaluate("missed()"), "the Tab key leads in circles"]
