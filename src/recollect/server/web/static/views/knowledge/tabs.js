// Tabs, as the ARIA pattern has them: one is chosen, the arrows go to the others.

import { h } from "../../core/dom.js";

/**
 * A row of tabs over a panel: `tabs` are `{name, title}`, `choose(name)` fills the panel. Gives the two, and
 * `count(name, text)`, which tells how much waits behind a tab.
 */
export function tabs(list, { label, chosen, choose }) {
  const panel = h("div", { role: "tabpanel", id: "panel", tabindex: "-1" });
  const counts = new Map(list.map(({ name }) => [name, h("span.count", { hidden: true })]));
  const buttons = list.map(({ name, title }) => h("button.tab", {
    type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "panel", onclick: () => take(name),
  }, title, counts.get(name)));
  const row = h("div.tabs", { role: "tablist", "aria-label": label, onkeydown: move }, buttons);

  function mark(name) {
    list.forEach((tab, place) => {
      buttons[place].setAttribute("aria-selected", String(tab.name === name));
      buttons[place].tabIndex = tab.name === name ? 0 : -1;
    });
    panel.setAttribute("aria-labelledby", `tab-${name}`);
    const chosen = buttons[list.findIndex((tab) => tab.name === name)];
    requestAnimationFrame(() => chosen.scrollIntoView({ block: "nearest", inline: "nearest" }));
  }

  function take(name) {
    mark(name);
    choose(name);
  }

  function move(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = buttons.indexOf(document.activeElement);
    const last = buttons.length - 1;
    const next = { Home: 0, End: last }[event.key] ?? (step && (at + step + buttons.length) % buttons.length);
    if (next === undefined || at < 0) return;
    event.preventDefault();
    buttons[next].focus();
    take(list[next].name);
  }

  function count(name, text) {
    const place = counts.get(name);
    place.hidden = !text;
    place.textContent = text;
  }

  mark(chosen);
  return { row, panel, count };
}
