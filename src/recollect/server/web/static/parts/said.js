// What was said, word for word: as text, in its own direction, and not more of it at once than a page can show.

import { h, refill } from "../core/dom.js";
import { short, visible } from "../core/format.js";

const SHOWN = 2000;

/** The text in an element of its own; the rest of a long one on request. */
export function said(text, limit = SHOWN) {
  const place = h("span.said", { dir: "auto" });
  if (text.length <= limit) return refill(place, visible(text));
  const more = h("button.link", { type: "button", onclick: () => refill(place, visible(text)) },
    `Show all ${short(text.length)} characters`);
  return refill(place, visible(text.slice(0, limit)), "… ", more);
}

/** The beginning of a text on one line. */
export function brief(text, limit = 160) {
  const line = text.slice(0, limit * 2).replace(/\s+/g, " ").trim();
  const cut = line.length > limit || text.length > limit * 2;
  return h("span.said.brief", { dir: "auto" }, visible(line.slice(0, limit)), cut && "…");
}
