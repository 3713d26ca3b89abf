// Where the page is: `#/search?q=tea`. What follows the # is never sent to a server, and so is in no log.

import { address } from "./api.js";

/** The place that the address names: the name of a view and what it is told. */
export function here() {
  const [, path, query = ""] = location.hash.match(/^#?\/?([^?]*)\??(.*)$/s); // a question may have more of them
  return { name: path || "palace", params: Object.fromEntries(new URLSearchParams(query)) };
}

/** The address of a view, told these values; empty ones are left out. */
export const to = (name, params) => `#/${address(name, params)}`;

export function go(name, params) {
  location.hash = to(name, params);
}

/** Have the address tell what a view shows now, without showing it anew. */
export function note(name, params) {
  history.replaceState(null, "", to(name, params));
}

/** The same, with a way back to what it told before. */
export function step(name, params) {
  if (to(name, params) !== location.hash) history.pushState(null, "", to(name, params));
}
