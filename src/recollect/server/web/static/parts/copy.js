// Copying a text, where the browser lets the page do so.

import { h } from "../core/dom.js";
import { say, trying } from "./toast.js";

/** The button that does it; nothing where it cannot be. */
export function copyButton(text, kind = "button") {
  const copy = () => trying(async () => {
    await navigator.clipboard.writeText(text);
    say("Copied.");
  });
  return navigator.clipboard ? h(kind, { type: "button", onclick: copy }, "Copy") : null;
}
