// The page as a whole: who is looking, the ways to go, and the view that the address names.

import { get, remove, signedOut } from "./core/api.js";
import { h, refill } from "./core/dom.js";
import { visible } from "./core/format.js";
import { belong, claim, here, note, to, whose } from "./core/router.js";
import * as theme from "./core/theme.js";
import { putAway } from "./parts/dialog.js";
import { clear, hush, say } from "./parts/toast.js";
import * as activity from "./views/activity/index.js";
import * as graph from "./views/graph/index.js";
import * as keys from "./views/keys/index.js";
import * as knowledge from "./views/knowledge/index.js";
import * as palace from "./views/palace/index.js";
import * as search from "./views/search/index.js";
import * as settings from "./views/settings/index.js";
import * as signin from "./views/signin.js";

/**
 * A view has a `title` and `show(place, params, {person, signal})`, which fills the place it is given. The
 * signal is aborted when the view is left. Admins see only those that are for them: memories are not.
 */
const VIEWS = { palace, search, knowledge, graph, activity, settings, keys };
const FOR_ADMINS = ["activity", "keys"];

const page = document.getElementById("page");
const windows = new BroadcastChannel("recollect.session");
let person = null;
let wanted = null;
let leaving = new AbortController();

async function start() {
  theme.apply();
  tidy();
  try {
    person = await get("session");
  } catch (error) {
    return refill(page, h("main", { id: "main" }, failed(error, start)));
  }
  if (person.role === null) return enter();
  belong(person.user ?? "");
  if (wanted && (!wanted.user || wanted.user === person.user)) history.replaceState(null, "", wanted.hash);
  wanted = null;
  draw();
  await show({ arriving: false });
}

/** In place of what could not be shown: why, and a way to try again. */
const failed = (error, again) => h("div.card.empty", { role: "alert" },
  h("p", error.message), h("button", { type: "button", onclick: again }, "Try again"));

/**
 * Ask for a key. What the address told of whoever was here before is not for the next: only the same one comes back
 * to it, and who opened a link comes to where it leads, but for words that were searched for.
 */
function enter(told) {
  const { name, params: { q, ...params } } = here();
  const user = person?.user ?? whose();
  wanted = user ? { user, hash: location.hash } : { hash: to(name, params) };
  person = null;
  leaving.abort();
  belong(undefined);
  note("");
  tidy();
  document.title = "Sign in – Recollect";
  refill(page, h("main.narrow", { id: "main", tabindex: "-1" }, signin.form(changed, told)));
}

/** Nothing that was asked, shown or said in front of the page stays for whoever comes. */
function tidy() {
  putAway();
  clear();
}

/** Somebody came or left: the other windows of this browser show what is theirs, too. */
async function changed() {
  windows.postMessage("changed");
  await start();
}

/** Sign out. The view stops asking first: what it asks for without a session would be refused. */
async function leave() {
  leaving.abort();
  try {
    await remove("session");
  } catch (error) {
    await show({ arriving: false });
    return say(error.message, { problem: true });
  }
  note(""); // there is nothing to come back to
  return changed();
}

/** Which views there are for whoever is looking: operators see to keys and jobs, and only users have memories. */
const seen = () => (person.role === "admin" ? FOR_ADMINS : Object.keys(VIEWS));

function draw() {
  const links = seen().map((name) => h("a", { href: to(name), "data-view": name }, VIEWS[name].title));
  const who = h("span.who", visible(person.user ?? "admin"));
  const out = h("button.quiet", { type: "button", onclick: leave }, "Sign out");
  refill(page,
    h("header", h("a.brand", { href: to(seen()[0]) }, "Recollect"), h("nav", { "aria-label": "Views" }, links),
      h("div.aside", who, theme.toggle(), person.role !== "local" && out)),
    h("main", { id: "main", tabindex: "-1" }));
}

/** Show the view that the address names. Whoever comes from another one goes on at its beginning. */
async function show({ arriving = true } = {}) {
  if (!claim()) note(""); // whoever was there before, it is not for who came after
  if (!person) return;
  const { name, params } = here();
  const known = seen().includes(name) ? name : seen()[0];
  leaving.abort();
  hush();
  leaving = new AbortController();
  const { signal } = leaving;
  for (const link of page.querySelectorAll("nav a")) {
    if (link.dataset.view === known) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  page.querySelector("nav [aria-current]").scrollIntoView({ block: "nearest", inline: "center" }); // on a phone
  document.title = `${VIEWS[known].title} – Recollect`;
  const place = refill(document.getElementById("main"), h("h1", VIEWS[known].title));
  if (arriving) {
    scrollTo(0, 0);
    place.focus({ preventScroll: true });
  }
  try {
    await VIEWS[known].show(place, params, { person, signal });
  } catch (error) {
    if (error.name !== "AbortError" && !signal.aborted) place.append(failed(error, show));
  }
}

/** What follows the # names a view, so this cannot be left to the browser. */
function skip(event) {
  event.preventDefault();
  document.getElementById("main").focus();
}

document.querySelector(".skip").addEventListener("click", skip);
addEventListener("hashchange", () => show());
signedOut.addEventListener("signedout", () => person && enter("You were signed out. Sign in to go on."));
windows.addEventListener("message", () => { note(""); start(); });
start();
