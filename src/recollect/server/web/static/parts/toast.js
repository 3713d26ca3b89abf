// What just happened, said at the edge of the page and to screen readers; with a way back while there is one.

import { h, refill } from "../core/dom.js";
import { visible } from "../core/format.js";

const SHOWN = 6_000;
const place = document.getElementById("said");
let passing = null; // the notice that gives way to the next

/**
 * Say something for a few seconds; gives the notice. With `undo`, a button beside it takes it back for `seconds`,
 * whatever else is said meanwhile: it stays until `undo` removes it.
 * A problem stays until something else is said, or the view is left.
 */
export function say(text, { undo, seconds = SHOWN / 1000, problem = false } = {}) {
  const close = () => notice.remove();
  const back = undo && h("button", { type: "button", onclick: oneAtATime(undo) }, "Undo");
  const shut = h("button.quiet", { type: "button", "aria-label": "Close", onclick: close }, "×");
  const notice = h(problem ? "div.toast.problem" : "div.toast", h("span", visible(text)), back, shut);
  passing?.remove();
  passing = undo ? null : notice;
  place.prepend(notice);
  if (!problem) setTimeout(close, seconds * 1000);
  return notice;
}

/** The same work, but not while it is being done: a second click on Undo would find it changed. */
function oneAtATime(work) {
  let busy = false;
  return async () => {
    if (busy) return;
    busy = true;
    try {
      await work();
    } finally {
      busy = false;
    }
  };
}

/** What went wrong in a view that was left is no news in the next. */
export function hush() {
  place.querySelector(".problem")?.remove();
}

/** Whoever comes next is told nothing of what was said, and takes nothing back. */
export function clear() {
  refill(place);
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
