// Light or dark: as the system says, until somebody chooses.

import { h } from "./dom.js";

const KEPT = "recollect.theme";
const system = () => (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
const dark = () => (document.documentElement.dataset.theme ?? system()) === "dark";

/** Have the page look as was chosen before. */
export function apply() {
  const chosen = localStorage.getItem(KEPT);
  if (chosen) document.documentElement.dataset.theme = chosen;
}

/** The button that changes it. */
export function toggle() {
  const label = () => (dark() ? "Use light colours" : "Use dark colours");
  const button = h("button.quiet", { type: "button", "aria-label": label(), title: label(), onclick: change }, "◐");
  function change() {
    const chosen = dark() ? "light" : "dark";
    document.documentElement.dataset.theme = chosen;
    localStorage.setItem(KEPT, chosen);
    button.setAttribute("aria-label", label());
    button.title = label();
  }
  return button;
}
