// Memories that contradict each other, side by side, until somebody says which one holds.

import { get, part, post, remove } from "../../core/api.js";
import { h, refill } from "../../core/dom.js";
import { counted, day, percent } from "../../core/format.js";
import { to } from "../../core/router.js";
import { sayForgotten } from "../../parts/actions.js";
import { said } from "../../parts/said.js";
import { say, trying } from "../../parts/toast.js";

const PAGE = 50;

/** A page of those that wait. */
export const waiting = (after, signal) => get("contradictions", { limit: PAGE, after }, signal);

/** All that wait, as cards; `settled(again)` is told whenever there may be fewer of them, or others. */
export function reviewing(first, settled) {
  const list = h("ol.pairs");
  const end = h("div.more");
  add(first);

  function add({ contradictions, next }) {
    list.append(...contradictions.map((pair) => card(pair, done, () => settled(true))));
    const none = "Nothing waits. Where memories contradict each other and it is left to you, they come here.";
    const more = async () => add(await trying(() => waiting(next)) ?? { contradictions: [], next });
    refill(end, !list.children.length && h("p.empty", none),
      next && h("button", { type: "button", onclick: more }, "Show more"));
  }

  /** The next one has the focus, so that one after the other can be settled by keyboard. */
  async function done(item) {
    const next = item.nextElementSibling ?? item.previousElementSibling;
    item.remove();
    next?.querySelector("button").focus();
    await settled(!next);
  }
  const told = h("p.quiet", "These contradict each other. Say which one holds; what was said stays word for word.");
  return [first.contradictions.length > 0 && told, list, end];
}

function card({ new: newer, old }, done, again) {
  const ways = [
    h("button.primary", { type: "button", onclick: () => settle("new", "The new one holds.") }, "Keep the new one"),
    h("button", { type: "button", onclick: keepOld }, "Keep the old one"),
    h("button", { type: "button", onclick: () => settle("both", "Both hold.") }, "Both hold"),
  ];
  const item = h("li.card", h("div.pair", side("New", newer), side("Old", old)), h("div.row", ways));

  /** Settle it once, however often it is clicked. */
  async function settling(work, told) {
    const chosen = document.activeElement;
    for (const way of ways) way.disabled = true;
    const answer = await trying(work);
    for (const way of ways) way.disabled = false;
    if (answer === undefined) return chosen.focus();
    told(answer);
    return done(item);
  }

  function settle(keep, told) {
    return settling(() => post(`contradictions/${part(newer.id)}`, { keep }), () => say(told));
  }

  function keepOld() { // what settling it so does, with a way back
    return settling(() => remove(`records/${part(newer.id)}`, { undo: true }),
      (gone) => sayForgotten("The old one holds, the new one is forgotten.", gone, again));
  }
  return item;
}

function side(name, memory) {
  const sources = counted(memory.sources.length, "source");
  return h("div", h("h2", name), h("p", said(memory.content)),
    h("p.quiet", `Since ${day(memory.valid_from)}, ${percent(memory.confidence)} sure, ${sources}. `,
      h("a", { href: to("knowledge", { id: memory.id }) }, "Details")));
}
