// Controls for one setting: what is chosen is saved at once, and nothing chosen is as somebody else says.

import { h } from "../../core/dom.js";
import { number } from "../../core/format.js";

const WORDS = new Map([[true, "On"], [false, "Off"], [null, "none"]]);

/** A value as people read it. */
export const worded = (value) => WORDS.get(value) ?? (typeof value === "number" ? number(value) : String(value));

/**
 * A list to choose from, or a number to enter. `own` is what was chosen, `undefined` for nothing; `otherwise`
 * says what holds then. `save(value)` is called with `null` for nothing.
 */
export function choice({ id, own, allowed, otherwise, least, most, step = "any", save }) {
  if (!allowed) {
    return h("input", {
      id, type: "number", value: own ?? "", min: least, max: most, step, placeholder: otherwise,
      onchange: ({ target }) => target.reportValidity() && save(target.value === "" ? null : Number(target.value)),
    });
  }
  const options = [undefined, ...allowed];
  const chosen = options.indexOf(own);
  return h("select", { id, onchange: ({ target }) => save(options[target.value] ?? null) },
    options.map((value, index) => h("option", { value: index, selected: index === chosen },
      value === undefined ? otherwise : worded(value))));
}

/** A line of settings: what it is called, what it does, and its control; without an id, what nobody can change. */
export function line({ id, name, about, control, beside }) {
  const called = id ? h("label", { for: id }, name) : h("h3", name);
  return h("div.setting", h("div", called, h("p.quiet", about)), h("div.control", control, beside));
}
