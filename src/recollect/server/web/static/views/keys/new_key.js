// Making a key: what it is for, and showing it, this once.

import { post } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { DAY } from "../../core/format.js";
import { copyButton } from "../../parts/copy.js";
import { ask, show } from "../../parts/dialog.js";
import { trying } from "../../parts/toast.js";

const LASTING = [["", "Never"], ["30", "In 30 days"], ["90", "In 90 days"], ["365", "In a year"]];
const ROLES = [
  ["user", "A user: opens their memory"],
  ["service", "A service: acts for users that it names"],
  ["admin", "An admin: keys, quotas and jobs, nobody's memory"],
];
const FIRST = "This is the first key. From then on nobody gets in without one, on this machine too, and revoking it "
  + "does not change that. You are signed in with it here; programs need one as well.";

/** What key somebody wants, as the API takes it; null for none. */
export async function wanted(person) {
  const options = (given) => given.map(([value, text]) => h("option", { value }, text));
  const owner = person.user ?? "";
  const user = h("input", { name: "user", value: owner, maxlength: 200, autocomplete: "off", required: true });
  const whose = h("label", "Whose memory it opens", user);
  const roles = h("select", { name: "role", onchange: follow }, options(ROLES));
  function follow() {
    whose.hidden = roles.value !== "user";
    user.disabled = whose.hidden;
  }
  const asked = await ask({
    title: "New key", agree: "Make the key", body: person.role === "local" ? h("p", FIRST) : [],
    fields: [
      h("label", "What it is for", h("input", { name: "name", maxlength: 200, autocomplete: "off" })),
      person.role !== "user" && h("label", "Who uses it", roles), person.role !== "user" && whose,
      h("label", "When it ends", h("select", { name: "days" }, options(LASTING))),
    ],
  });
  if (!asked) return null;
  const { days, ...named } = asked;
  return { ...named, ...(days && { expires_at: new Date(Date.now() + days * DAY).toISOString() }) };
}

/** Show a new key until that is closed. Who was the one user of this machine goes on with it, signed in. */
export async function made(key, person) {
  const enters = person.role === "local" && key.role !== "service";
  if (enters) await trying(() => post("session", { key: key.key }));
  const field = h("input", {
    readonly: true, value: key.key, "aria-label": "The new key", onfocus: ({ target }) => target.select(),
  });
  const next = enters ? "You are signed in with this one."
    : ["Make one for yourself: ", h("code", `recollect keys create --user ${person.user}`)];
  const told = person.role === "local" && h("p", "From now on a key is needed here. ", next);
  const dialog = show("The new key",
    h("p", "Copy it now: it is shown this once, and nothing here can bring it back."),
    h("div.secret", field, copyButton(key.key, "button.primary")), told || []);
  await new Promise((closed) => dialog.addEventListener("close", closed, { once: true }));
}
