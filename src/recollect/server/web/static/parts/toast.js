// What just happened, said at the edge of the page and to screen readers; with a way back while there is one.

import { h, refill } from "../core/dom.js";
import { visible } from "../core/format.js";

const SHOWN = 6_000;
let leaving;

/**
 * Say something for a few seconds. With `undo`, a button beside it takes it back for `seconds`.
 * A problem stays until something else is said, or the view is left.
 */
export function say(text, { undo, seconds = SHOWN / 1000, problem = false } = {}) {
  clearTimeout(leaving);
  const place = document.getElementById("said");
  const close = () => refill(place);
  const back = undo && h("button", { type: "button", onclick: () => { close(); undo(); } }, "Undo");
  const shut = h("button.quiet", { type: "button", "aria-label": "Close", onclick: close }, "×");
  refill(place, h(problem ? "div.toast.problem" : "div.toast", h("span", visible(text)), back, shut));
  if (!problem) leaving = setTimeout(close, seconds * 1000);
}

/** What went wrong in a view that was left is no news in the next. */
export function hush() {
  const place = document.getElementById("said");
  if (place.querySelector(".problem")) refill(place);
}

/** Do something, and say it when that fails. */
export async function trying(work) {
  try {
    return await work();
  } catch (error) {
    if (error.name !== "AbortError") say(error.message, { problem: true });
    return undefined;
  }
}
