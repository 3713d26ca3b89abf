// What a user has set for one of their agents: whether it recalls, and whether is learnt from what it is told.

import { get, part, patch } from "../../core/api.js";
import { h, refill } from "../../core/dom.js";
import { visible } from "../../core/format.js";
import { to } from "../../core/router.js";
import { said } from "../../parts/said.js";
import { table } from "../../parts/table.js";
import { say, trying } from "../../parts/toast.js";
import { erasing } from "./erasing.js";

const LOOKED_AT = 200; // conversations, the first by name

export async function agents(card, { signal }) {
  const rows = h("div");
  const name = h("input", {
    name: "agent", required: true, maxlength: 200, "aria-label": "Name of an agent", placeholder: "Another agent",
  });
  let more = [];
  const draw = async () => refill(rows, listed(await known(more, signal), draw));
  async function add(event) {
    event.preventDefault();
    more = [...more, name.value.trim()];
    name.value = "";
    await trying(draw);
  }
  refill(card, h("h2", "Agents"),
    h("p.quiet", "Each can be kept from recalling, or from being learnt from, without the other."), rows,
    h("form.row", { onsubmit: add }, name, h("button", { type: "submit" }, "Add")));
  await draw();
}

/** Agents that something is set for, that one of some conversations names, or that were just named; with their switches. */
async function known(more, signal) {
  const [{ values }, { conversations }] = await Promise.all([
    get("settings", {}, signal), get("conversations", { limit: LOOKED_AT, everywhere: true }, signal)]);
  const set = values.agents ?? {};
  const names = new Set([...Object.keys(set), ...conversations.map(({ agent }) => agent).filter(Boolean), ...more]);
  return [...names].sort().map((name) => ({ name, recall: true, mining: true, ...set[name] }));
}

function listed(agents, draw) {
  return table({
    caption: "Agents", rows: agents,
    empty: "No agent has told its name yet. What you set for one holds from the start.",
    columns: [
      { title: "Agent", names: true, cell: ({ name }) => said(name) },
      { title: "Recalls", cell: (agent) => toggle(agent, "recall", "recalls", "no longer recalls") },
      { title: "Is learnt from", cell: (agent) => toggle(agent, "mining", "is learnt from", "is not learnt from") },
      { title: "", class: "number", cell: ({ name }) => [told(name), " ", forget(name, draw)] },
    ],
  });
}

const told = (agent) =>
  h("a.button", { href: to("knowledge", { agent }), "aria-label": `What ${visible(agent)} knows` }, "See");

function forget(name, draw) {
  const label = `Forget what ${visible(name)} was told`;
  const onclick = () => erasing({ title: `${label}?`, path: `agents/${part(name)}`, done: draw });
  return h("button.danger", { type: "button", "aria-label": label, onclick }, "Forget…");
}

function toggle({ name, ...set }, switched, does, doesNot) {
  const label = `${visible(name)} ${does}`;
  const box = h("input", { type: "checkbox", checked: set[switched], "aria-label": label, onchange: save });
  async function save() {
    const values = { agents: { [name]: { [switched]: box.checked ? null : false } } };
    if (await trying(() => patch("settings", values))) say(`${name} ${box.checked ? does : doesNot}.`);
    else box.checked = !box.checked;
  }
  return box;
}
