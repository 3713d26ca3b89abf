// What a score is made of: a bar of its parts, and the same in words and numbers.

import { h } from "../../core/dom.js";

const NAMES = {
  semantic: "meaning", text: "words", in_time: "time", conversation: "conversation", next_turn: "next turn",
  recency: "recency", rank: "rank", order: "order", weight: "weight", bm25: "BM25", rerank: "reranker",
};
const MEANT = {
  semantic: "How near its meaning is to that of the question",
  text: "How well its words match those of the question",
  in_time: "It is of a time that the question names",
  conversation: "Its conversation matches the question elsewhere",
  next_turn: "The turn after it matches as well",
  recency: "It is recent",
  rank: "Its places by meaning and by words",
  order: "What no longer holds counts less; what holds in its place, or was said anew, comes first",
};
const SMALL = 0.0005;

/** How a signal is called in front of people. */
export const named = (signal) => NAMES[signal] ?? signal.replaceAll("_", " ");

/** A score or a part of one. */
export const score = (value) => value.toFixed(3).replace("-", "−");

/** What is worth telling of `{signal: what it adds}`: what rounds to nothing is not. */
const told = (parts) => Object.entries(parts).filter(([, value]) => Math.abs(value) >= SMALL);

/** How much of the whole width the bar of a score takes. */
export const extent = (parts) => told(parts).reduce((sum, [, value]) => sum + Math.max(value, 0), 0);

/**
 * The parts of a score, which add up to it. Bars beside each other are on one scale: `most` is the extent of the
 * longest. The numbers say the same as the bar, which is for the eye alone.
 */
export function signals(parts, most = extent(parts)) {
  const segments = told(parts).filter(([, value]) => value > 0).map(([name, value]) => {
    const segment = h("i", { "data-signal": name });
    segment.style.setProperty("inline-size", `${(100 * value) / (most || 1)}%`);
    return segment;
  });
  const legend = told(parts).map(([name, value]) =>
    h("li", { title: MEANT[name], "data-signal": name }, named(name), " ", h("span.number", score(value))));
  return h("div.signals", h("div.signals-bar", { "aria-hidden": "true" }, segments),
    h("ul", { "aria-label": "What the score is made of" }, legend));
}
