// One memory that was found: its words, where they come from, and why it is here.

import { get, part } from "../../core/api.js";
import { h, refill } from "../../core/dom.js";
import { age, capital, counted, day, moment, percent, visible } from "../../core/format.js";
import { to } from "../../core/router.js";
import { actions } from "../../parts/actions.js";
import { SHARED } from "../../parts/channels.js";
import { called } from "../../parts/kinds.js";
import { brief, said } from "../../parts/said.js";
import { trying } from "../../parts/toast.js";
import { extent, named, score, signals } from "./signals.js";

const BEHIND = ["bm25", "weight", "rerank"];

/** The hits as items of a list, their bars on one scale; `changed` is called when one was changed. */
export function results(hits, changed) {
  const most = Math.max(...hits.map((hit) => extent(hit.parts)));
  return hits.map((hit, place) => result(hit, place, most, changed));
}

/** The address of what was found: a turn that has its place in the palace is there, anything else by itself. */
export const opened = ({ kind, id, citation }) =>
  kind === "turn" && citation ? to("palace", { at: citation }) : to("knowledge", { id });

function result(hit, place, most, changed) {
  const words = `hit-${place}`;
  return h("li.card.hit", { "data-id": hit.id },
    h("div.hit-head",
      h("div",
        h("h2", h("a", { href: opened(hit), "aria-describedby": words }, capital(called(hit.kind)))),
        hit.role && h("span.tag", hit.role), when(hit), hit.valid_to && ended(hit.valid_to),
        hit.went && h("span.tag", hit.went)),
      h("span.hit-score", { title: "Its score" }, h("span.hidden", "Score "), score(hit.score))),
    h("p.hit-words", { id: words }, excerpt(hit)),
    signals(hit.parts, most),
    source(hit), why(hit), doing(hit, changed));
}

function when({ at }) {
  return h("time.quiet", { datetime: at, title: moment(at) }, `${day(at)}, ${age(at)}`);
}

function ended(at) {
  const past = new Date(at) <= Date.now();
  return h(past ? "span.tag.ended" : "span.tag", `${past ? "held" : "holds"} until ${day(at)}`);
}

/** The part that was found; the rest on request. */
function excerpt(hit) {
  if (hit.excerpt === hit.content) return said(hit.content);
  const place = h("span");
  const whole = h("button.link", { type: "button", onclick: () => refill(place, said(hit.content)) }, "Show all of it");
  return refill(place, "… ", said(hit.excerpt), " … ", whole);
}

function source(hit) {
  const from = hit.sources.length, says = hit.says.length;
  const told = [
    hit.conversation && ["conversation ", name(hit.conversation)],
    hit.agent && ["agent ", name(hit.agent)],
    hit.channel !== SHARED && ["channel ", name(hit.channel)],
    hit.confidence < 1 && `${percent(hit.confidence)} sure`,
    hit.citation && h("a", { href: to("palace", { at: hit.citation }) }, hit.citation),
    !hit.citation && hit.kind !== "turn" && (from ? `from ${counted(from, "turn")}` : "told as it is"),
    says > 0 && `also tells ${counted(says, "fact")}`,
  ];
  return h("ul.hit-source.quiet", { "aria-label": "Source" }, told.filter(Boolean).map((one) => h("li", one)));
}

const name = (text) => h("span.said", { dir: "auto" }, visible(text));

function why(hit) {
  const paths = hit.paths.map((path) => h("li", brief(path)));
  const raw = BEHIND.filter((signal) => signal in hit.signals);
  const behind = raw.map((signal) => [h("dt", named(signal)), h("dd", score(hit.signals[signal]))]);
  return h("details.hit-why", h("summary", "How it was found"),
    h("ul", { "aria-label": "Found by" }, paths), h("dl", behind),
    h("p.quiet", "Id ", h("code", hit.id)));
}

/** What can be done with it; the record is asked for when somebody wants to. */
function doing(hit, changed) {
  const place = h("div");
  const fill = () => trying(async () => refill(place, actions(await get(`records/${part(hit.id)}`), { changed })));
  return h("details.hit-do", { ontoggle: (event) => event.target.open && fill() }, h("summary", "Actions"), place);
}
