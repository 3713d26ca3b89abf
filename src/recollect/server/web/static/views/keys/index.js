// Keys: a user's own, or for operators everybody's; and where one is signed in.

import { get, part, post, remove } from "../../core/api.js";
import { h, keepFocus, refill } from "../../core/dom.js";
import { age, day, visible } from "../../core/format.js";
import { ask } from "../../parts/dialog.js";
import { table } from "../../parts/table.js";
import { say, trying } from "../../parts/toast.js";
import { made, wanted } from "./new_key.js";

export const title = "Keys";

const FIRST = "No key was made yet, so everything on this machine can read this memory. With the first key that ends, "
  + "for good: this page and every program needs one from then on.";

const ABOUT = "A program sends one with each request; with one you sign in here. Each is shown once, when it is made.";

const tag = (text) => [" ", h("span.tag.kind", text)];

export function show(place, params, { person, signal }) {
  const page = h("div.settings");
  place.append(page);
  const draw = () => refill(page, keys(person, signal, again), person.role !== "local" && sessions(signal, again));
  function again() {
    draw();
    keepFocus(page.querySelector("button"));
  }
  draw();
}

function keys(person, signal, draw) {
  const operator = person.role !== "user";
  async function make() {
    const asked = await wanted(person);
    if (!asked) return;
    const key = await trying(() => post("keys", asked));
    if (!key) return;
    await made(key, person);
    if (person.role === "local") location.reload();
    else draw();
  }
  const columns = [
    { title: "Name", cell: ({ name, current }) => h("span", named(name), current && tag("in use here")) },
    operator && { title: "Opens", cell: opens },
    { title: "Made", cell: ({ created_at }) => day(created_at) },
    { title: "Last used", cell: ({ used_at }) => (used_at ? age(used_at) : "never") },
    { title: "Ends", cell: ({ expires_at }) => (expires_at ? day(expires_at) : "never") },
    { title: "State", cell: state },
    { title: "", cell: (key) => !ended(key) && revoking(key, draw) },
  ].filter(Boolean);
  return h("section.card",
    h("div.head", h("h2", operator ? "Keys to this server" : "Your keys"),
      h("button.primary", { type: "button", onclick: make }, "New key…")),
    h("p.quiet", person.role === "local" ? FIRST : ABOUT),
    table({
      caption: "Keys", columns, signal, empty: "There are no keys.",
      page: async (after) => {
        const found = await get("keys", { after }, signal);
        return { rows: found.keys, next: found.next };
      },
    }));
}

const named = (name) => (name ? visible(name) : h("i.quiet", "none"));

const ended = ({ revoked_at, expires_at }) => revoked_at || (expires_at && new Date(expires_at) <= Date.now());

function state(key) {
  if (key.revoked_at) return h("span.quiet", `revoked ${age(key.revoked_at)}`);
  return ended(key) ? h("span.quiet", "expired") : h("span.good", "valid");
}

function opens({ role, user }) {
  if (role === "user") return `${visible(user)}'s memory`;
  return role === "service" ? "the memory of whom it names" : "keys, quotas and jobs, nobody's memory";
}

function revoking(key, draw) {
  const called = visible(key.name) || `made on ${day(key.created_at)}`;
  async function revoke() {
    const here = key.current ? " You came with this one, and are signed out then." : "";
    const agreed = await ask({
      title: "Revoke this key?", agree: "Revoke", danger: true,
      body: h("p", `Whatever uses the key ${called} is locked out within seconds, and nothing brings it back.${here}`),
    });
    if (!agreed || !(await trying(() => remove(`keys/${part(key.id)}`)))) return;
    say("The key opens nothing any more.");
    draw();
  }
  return h("button.danger", { type: "button", "aria-label": `Revoke the key ${called}`, onclick: revoke }, "Revoke…");
}

function sessions(signal, draw) {
  const columns = [
    { title: "Since", cell: ({ created_at, current }) => h("span", age(created_at), current && tag("this one")) },
    { title: "Last used", cell: ({ used_at }) => (used_at ? age(used_at) : "never") },
    { title: "Ends", cell: ({ expires_at }) => age(expires_at) },
    { title: "", cell: (session) => !session.current && ending(session, draw) },
  ];
  const page = async () => ({ rows: (await get("sessions", {}, signal)).sessions });
  return h("section.card", h("h2", "Signed in"),
    h("p.quiet", "Windows of this page that are open to you. Each ends by itself, and with its key."),
    table({ caption: "Signed in", columns, page, signal, empty: "Nobody is." }));
}

function ending(session, draw) {
  const end = () => trying(async () => {
    await remove(`keys/${part(session.id)}`);
    say("Signed out there.");
    draw();
  });
  const label = `Sign out the session of ${age(session.created_at)}`;
  return h("button", { type: "button", "aria-label": label, onclick: end }, "Sign out");
}
