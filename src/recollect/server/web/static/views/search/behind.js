// What stands behind an answer: the block that an agent gets, what was left out, and what each step took.

import { get, part } from "../../core/api.js";
import { h, refill } from "../../core/dom.js";
import { counted, milliseconds, number, visible } from "../../core/format.js";
import { copyButton } from "../../parts/copy.js";
import { brief } from "../../parts/said.js";
import { trying } from "../../parts/toast.js";
import { opened } from "./result.js";
import { score } from "./signals.js";

const NO_BLOCK = "Where nothing is found no block is made: the model gets the question as it is.";
const IDS = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const NO_ROOM = "it is a hit, but the block has no room for it";

/** Three folds that stay as somebody left them; `fill(found)` shows another answer in them. */
export function behind() {
  const block = fold("search-block"), out = fold("search-out"), steps = fold("search-steps");
  function fill(found) {
    show(block, found && !found.skipped, () => context(found));
    show(out, found?.left_out.length, () => leftOut(found));
    show(steps, found?.used.length, () => taken(found.used));
  }
  fill(null);
  return { block: block.place, rest: [out.place, steps.place], fill };
}

function fold(kind) {
  const title = h("summary"), body = h("div");
  return { place: h(`details.card.${kind}`, title, body), title, body };
}

function show({ place, title, body }, wanted, made) {
  place.hidden = !wanted;
  const [heading, ...content] = wanted ? made() : [];
  refill(title, heading ?? "");
  refill(body, content);
}

/** The block, word for word: what a model reads, so nothing of it is cut or written otherwise. */
function context({ context, context_tokens: tokens, hits, left_out: out }) {
  if (!context) return ["What an agent would see: nothing", h("p.quiet", NO_BLOCK)];
  const fitting = hits.length - out.filter(({ reason }) => reason === NO_ROOM).length;
  return [`What an agent would see: about ${counted(tokens, "token")}`,
    h("div.head",
      h("p.quiet", `${number(fitting)} of ${counted(hits.length, "memory", "memories")} in one block, exactly so:`),
      copyButton(context)),
    h("pre.said", { dir: "auto", tabindex: 0, "aria-label": "The block" }, context)];
}

function leftOut({ left_out: out, hits }) {
  const places = new Map(hits.map((hit, place) => [hit.id, `result ${place + 1}`]));
  return [`Left out: ${number(out.length)}`, h("ul.search-list", out.map((one) => left(one, places)))];
}

/** One that is no hit, and why; its words on request. */
function left({ id, kind, score: value, reason }, places) {
  const words = h("span");
  const told = reason.replace(IDS, (known) => places.get(known) ?? "another");
  const look = () => trying(async () => {
    const record = await get(`records/${part(id)}`);
    refill(words, brief(record.content ?? record.name ?? ""));
  });
  refill(words, h("button.link", { type: "button", onclick: look, "aria-label": `Show the ${kind}` }, "Show"));
  return h("li", h("span.tag", kind), h("span.number", score(value)), h("span", { title: reason }, told), words,
    h("a", { href: opened({ id, kind }) }, "Open"));
}

function taken(used) {
  const most = Math.max(...used.map(({ ms }) => ms));
  const rows = used.map(({ name, ms, found, note }) => {
    const bar = h("i");
    bar.style.setProperty("inline-size", `${(100 * ms) / (most || 1)}%`);
    return h("li", h("span", name), h("span.search-bar", { "aria-hidden": "true" }, bar),
      h("span.number", milliseconds(ms)),
      h("span.quiet", [found ? `${number(found)} found` : "", visible(note)].filter(Boolean).join(", ")));
  });
  const all = used.reduce((sum, { ms }) => sum + ms, 0);
  return [`What it took: ${milliseconds(all)}`, h("ol.search-list", rows)];
}
