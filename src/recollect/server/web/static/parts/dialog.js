// Questions in front of the page. The browser's own dialog keeps the focus inside and gives it back.

import { h } from "../core/dom.js";
import { visible } from "../core/format.js";

/**
 * Ask before something is done. True when it was agreed to; with `typed`, only after that text was typed.
 * With `fields` (nodes of a form), what was entered by name, or null.
 */
export function ask({ title, body = [], fields = [], agree = "OK", danger = false, typed }) {
  return new Promise((resolve) => {
    const word = typed === undefined ? null
      : h("input", { name: "typed", required: true, autocomplete: "off", "aria-label": `Type ${typed}` });
    const agreed = h(danger ? "button.danger" : "button.primary", { type: "submit", disabled: word !== null }, agree);
    word?.addEventListener("input", () => { agreed.disabled = word.value !== typed; });
    const form = h("form", { method: "dialog", onsubmit: () => { dialog.returnValue = "agreed"; } },
      h("h2", { id: "asked" }, visible(title)), body, fields,
      word && h("label", h("span", "Type ", h("b", typed), " to go on"), word),
      h("div.actions", h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"), agreed));
    const dialog = h("dialog", { "aria-labelledby": "asked" }, form);
    dialog.addEventListener("close", () => {
      const entered = Object.fromEntries(new FormData(form));
      dialog.remove();
      const yes = dialog.returnValue === "agreed";
      resolve(fields.length ? (yes ? entered : null) : yes);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Put away whatever is asked or shown: whoever comes next is not to see it. */
export function putAway() {
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.close();
    dialog.remove();
  }
}

/** Show something in front of the page until it is closed. */
export function show(title, ...body) {
  const dialog = h("dialog.wide", { "aria-labelledby": "shown", onclose: () => dialog.remove() },
    h("div.head", h("h2", { id: "shown" }, title),
      h("button.quiet", { type: "button", "aria-label": "Close", onclick: () => dialog.close() }, "×")),
    body);
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
