// Elements, built so that text stays text: nothing here or elsewhere turns a string into markup.

/**
 * An element: `h("button.quiet", {onclick: save, "aria-label": "Save"}, "Save")`.
 * Attributes that begin with `on` are listeners, `null`, `undefined` and `false` leave one out, `true` sets it.
 * Children are nodes, texts, or lists of them; `null` and `false` are left out.
 */
export function h(selector, ...rest) {
  const [name, ...classes] = selector.split(".");
  return fill(document.createElement(name), classes, rest);
}

const SVG = "http://www.w3.org/2000/svg";

/** The same for a part of a drawing. */
export function svg(selector, ...rest) {
  const [name, ...classes] = selector.split(".");
  return fill(document.createElementNS(SVG, name), classes, rest);
}

function fill(element, classes, [attributes, ...children]) {
  if (!isAttributes(attributes)) {
    children.unshift(attributes);
    attributes = {};
  }
  if (classes.length) element.classList.add(...classes);
  for (const [name, value] of Object.entries(attributes)) set(element, name, value);
  element.append(...nodes(children));
  return element;
}

function isAttributes(value) {
  return value !== null && typeof value === "object" && !(value instanceof Node) && !Array.isArray(value);
}

function set(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else if (name === "value") element.value = value;
  else element.setAttribute(name, value === true ? "" : String(value));
}

function nodes(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}

/** Put these children in place of what an element has. */
export function refill(element, ...children) {
  element.replaceChildren(...nodes(children));
  return element;
}

/** Whoever acted by keyboard goes on here, or in the view, when what they used is gone. */
export function keepFocus(place) {
  const next = place ?? document.getElementById("main");
  if (document.activeElement === document.body) next?.focus({ preventScroll: true });
}

/** Whether the screen is as narrow as the styles mean by it. */
export const isNarrow = () => matchMedia("(max-width: 48rem)").matches;

/** `work`, called when nobody has asked for it again for so many milliseconds. */
export function afterPause(milliseconds, work) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...given), milliseconds);
  };
}
