// All there is, as a whole: its channels, a copy of it, and the end of it.

import { get, link, part, remove, upload } from "../../core/api.js";
import { h, refill } from "../../core/dom.js";
import { counted, isoDay, number } from "../../core/format.js";
import { channelName } from "../../parts/channels.js";
import { table } from "../../parts/table.js";
import { say, trying } from "../../parts/toast.js";
import { line } from "./choice.js";
import { erasing } from "./erasing.js";

export async function channels(card, { signal }) {
  const rows = h("div");
  refill(card, h("h2", "Channels"),
    h("p.quiet", "What each holds, and how much of what it may hold. What is shared is read in all of them."), rows);
  const draw = async () => {
    const { channels: found } = await get("channels", {}, signal);
    refill(rows, sizes(found, draw));
  };
  await draw();
}

function sizes({ "": whole, ...each }, draw) {
  const rows = Object.entries(each).map(([name, size]) => ({ name, ...size }));
  return table({
    caption: "Channels", rows: whole ? [...rows, whole] : rows, empty: "Nothing is recorded yet.",
    columns: [
      { title: "Channel", names: true, cell: ({ name }) => (name ? channelName(name) : "All together") },
      { title: "Turns", class: "number", cell: ({ turns, turn_quota: quota }) => filled(turns, quota) },
      { title: "Memories", class: "number", cell: ({ memories, memory_quota: quota }) => filled(memories, quota) },
      { title: "", class: "number", cell: ({ name }) => name && forget(name, draw) },
    ],
  });
}

function forget(name, draw) {
  const label = `Forget the channel ${channelName(name)}`;
  const onclick = () => erasing({ title: `${label}?`, path: `channels/${part(name)}`, done: draw });
  return h("button.danger", { type: "button", "aria-label": label, onclick }, "Forget…");
}

const filled = (held, quota) => (quota ? `${number(held)} of ${number(quota)}` : number(held));

export function everything(card, { person }) {
  const name = `recollect-${person.user}-${isoDay(Date.now())}.jsonl`;
  const file = h("input", {
    type: "file", hidden: true, accept: ".jsonl,.ndjson", "aria-label": "File to import", onchange: bring,
  });
  const erase = () => erasing({
    title: "Erase everything?", path: "everything", query: { confirm: person.user }, typed: person.user, done: leave,
  });
  async function leave() { // the key that opened this page went with the rest
    if (person.role !== "local") await remove("session");
    location.reload();
  }
  async function bring() {
    const [chosen] = file.files;
    file.value = "";
    say(`Importing ${chosen.name}…`, { seconds: 600 });
    const came = await trying(() => upload("import", chosen));
    const known = came?.unchanged ? `; ${number(came.unchanged)} were here already` : "";
    if (came) say(`Imported ${counted(total(came), "record")}${known}.`);
  }
  refill(card, h("h2", "All of it"),
    line({
      name: "Export", control: h("a.button", { href: link("export"), download: name }, "Export"),
      about: "Everything that is remembered of you, as a file of JSON lines. Import takes it back, here or elsewhere.",
    }),
    line({
      name: "Import", control: [h("button", { type: "button", onclick: () => file.click() }, "Import a file…"), file],
      about: "A file that was exported. What is here already is left as it is.",
    }),
    line({
      name: "Erase everything", control: h("button.danger", { type: "button", onclick: erase }, "Erase everything…"),
      about: "All that is remembered of you goes for good, with your settings and your keys. Export it first.",
    }));
}

const total = (came) => Object.values(came.counts).reduce((sum, count) => sum + count, 0);
