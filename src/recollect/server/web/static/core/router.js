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

// Whoever goes back is to find where they were, and nobody else: each entry of the history says whose it is.
let owner;

/** From now on this user goes about here; undefined: nobody does. */
export function belong(user) {
  owner = user;
}

/** Whose the present entry is, if anybody's. */
export const whose = () => history.state?.user;

/** Take the present entry for whoever goes about here; false when it is another's. */
export function claim() {
  const { user = owner, ...left } = history.state ?? {};
  if (user === owner) keep(left);
  return user === owner;
}

/** Leave something in the present entry, for when somebody comes back to it. */
export function keep(left) {
  history.replaceState({ ...left, user: owner }, "");
}

/** Have the address tell what a view shows now, without showing it anew. */
export function note(name, params) {
  history.replaceState({ user: owner }, "", to(name, params));
}

/** The same, with a way back to what it told before. */
export function step(name, params) {
  if (to(name, params) !== location.hash) history.pushState({ user: owner }, "", to(name, params));
}
