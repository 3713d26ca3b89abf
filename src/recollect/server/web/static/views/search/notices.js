// What is said in place of results, or above them.

import { h } from "../../core/dom.js";
import { to } from "../../core/router.js";

const LOOKS_LIKE = {
  greeting: "small talk", tool: "a request to a tool", "general knowledge": "a question of general knowledge",
};
const NARROWED = "The filters may leave out what you look for.";
const WIDER = "Try other words, or a name that was mentioned. What came near it is told below.";

/** What could not be used, and why; the rest was searched all the same. */
export function troubles(problems) {
  return problems.map((problem) => h("p.card.search-notice", h("b.warn", "Not all was searched. "), problem));
}

/** Nothing was searched: why, and a way to do it anyhow where that helps. */
export function skipped(reason, anyhow) {
  const like = LOOKS_LIKE[reason];
  if (!like) {
    return h("div.card.search-notice", h("p", h("b", "An agent would be told nothing: "), `${reason}.`),
      h("p", h("a", { href: to("settings") }, "Change it in the settings")));
  }
  return h("div.card.search-notice", h("p", h("b", "An agent would not search here: "), `it looks like ${like}.`),
    h("button", { type: "button", onclick: anyhow }, "Search anyway"));
}

/** It was searched though the gate may have passed it over. */
export function ungated(gated) {
  return h("p.search-aside.quiet", "Searched without the gate, which passes over small talk and general knowledge. ",
    h("button.link", { type: "button", onclick: gated }, "As agents do"));
}

/** Before anything is asked. */
export function inviting() {
  return h("div.empty", h("p", "Ask as you would ask an agent, or type a few words: it is the same search."),
    h("p.search-keys", h("span", h("kbd", "/"), " this box"),
      h("span", h("kbd", "↓"), h("kbd", "↑"), " the results"), h("span", h("kbd", "Enter"), " open one")));
}

/** Nothing was found; what to try. */
export function nothing(narrowed, clear) {
  return h("div.card.empty", h("h2", "Nothing is remembered that bears on this"),
    h("p", narrowed ? NARROWED : WIDER),
    narrowed && h("button", { type: "button", onclick: clear }, "Search without filters"));
}
