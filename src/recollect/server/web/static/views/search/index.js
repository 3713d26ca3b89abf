// Searching as agents do: the same pipeline, with what it found, why, and what a model would get to read.

import { get, post } from "../../core/api.js";
import { afterPause, h, refill } from "../../core/dom.js";
import { counted, milliseconds } from "../../core/format.js";
import { note } from "../../core/router.js";
import { bare } from "../../parts/bare.js";
import { trying } from "../../parts/toast.js";
import { enter, entered, kept, narrowing, question } from "./asking.js";
import { behind } from "./behind.js";
import { filters } from "./filters.js";
import { inviting, nothing, skipped, troubles, ungated } from "./notices.js";
import { results } from "./result.js";

export const title = "Search";

const PAUSE = 250;
const TITLES = ".hit h2 a";

export async function show(place, params, { signal }) {
  const box = h("input", {
    type: "search", name: "q", "aria-label": "Search what is remembered", placeholder: "Where do I live?",
    autocomplete: "off", spellcheck: "false",
  });
  const gate = h("input", { type: "hidden", name: "gate" });
  const count = h("p.search-count.quiet", { role: "status" });
  const notices = h("div"), list = h("ol.hits", { "aria-label": "Results" }), folds = behind();
  const aside = filters({ clear, signal });
  const form = h("form", { novalidate: true, role: "search", onsubmit: submitted, oninput: changed },
    h("div.search-box", box, gate, h("button.primary", { type: "submit" }, "Search")), aside.place);
  const found = h("div.search-found", count, notices, folds.block, list, folds.rest);
  let asking = new AbortController();
  let empty = false;

  async function ask() {
    if (signal.aborted) return; // something was changed, or taken back, when nobody looks any more
    asking.abort();
    asking = new AbortController();
    const asked = entered(form);
    note("search", kept(asked));
    aside.told(narrowing(asked).length);
    if (!asked.q) { draw(asked, null); return; }
    list.setAttribute("aria-busy", "true"); // what was found before stays until the answer is there
    const { body, from } = question(asked);
    const current = AbortSignal.any([signal, asking.signal]);
    const answer = await trying(() => post("recall", body, from, current));
    if (current.aborted) return; // a newer question is on its way
    list.removeAttribute("aria-busy");
    if (answer) draw(asked, answer);
  }

  function draw(asked, answer) {
    list.removeAttribute("aria-busy");
    folds.fill(answer);
    refill(notices, told(asked, answer));
    refill(list, answer ? results(answer.hits, ask) : []);
    refill(count, answer && summed(answer));
  }

  function told(asked, answer) {
    if (!answer) return empty ? bare() : inviting();
    if (answer.skipped) return skipped(answer.skipped, () => gated("off"));
    const none = !answer.hits.length && (empty ? bare() : nothing(narrowing(asked).length > 0, clear));
    return [troubles(answer.problems), asked.gate === "off" && ungated(() => gated("")), none];
  }

  function gated(how) {
    gate.value = how;
    box.focus();
    return ask();
  }

  function clear() {
    enter(form, { q: box.value, gate: gate.value });
    box.focus();
    return ask();
  }

  const soon = afterPause(PAUSE, ask);
  function changed(event) {
    if (event.target === box) gate.value = ""; // that was about another question
    soon();
  }
  function submitted(event) {
    event.preventDefault();
    ask();
  }

  document.addEventListener("keydown", (event) => slashed(event, box), { signal });
  signal.addEventListener("abort", () => asking.abort());
  const stops = () => [box, ...list.querySelectorAll(TITLES)];
  place.append(h("div.search", { onkeydown: (event) => moved(event, stops()) }, form, found));
  enter(form, params);
  if (!params.q) box.focus();
  const [known] = await Promise.all([get("stats", {}, signal), ask()]);
  empty = !Object.values(known.counts).some(Boolean);
  if (empty) await ask();
}

function summed({ hits, used, skipped }) {
  if (skipped) return "Not searched";
  return `${counted(hits.length, "memory", "memories")}, ${milliseconds(used.reduce((sum, { ms }) => sum + ms, 0))}`;
}

/** From the box to the results, and among them, by arrow keys. */
function moved(event, stops) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const at = stops.indexOf(document.activeElement);
  if (!step || at < 0 || !stops[at + step]) return;
  event.preventDefault();
  stops[at + step].focus();
}

const FIELDS = "input, textarea, select, [contenteditable]";

/** `/` leads to the box from anywhere but a field. */
function slashed(event, box) {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest(FIELDS) || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  box.focus();
  box.select();
}
