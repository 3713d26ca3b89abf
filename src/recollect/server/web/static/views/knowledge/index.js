// What is known, kind by kind: looked through, put right, added to; and what contradicts itself.

import { get, part } from "../../core/api.js";
import { afterPause, h, isNarrow, refill } from "../../core/dom.js";
import { visible } from "../../core/format.js";
import { note, step } from "../../core/router.js";
import { channelField, channelNames } from "../../parts/channels.js";
import { isPreference } from "../../parts/kinds.js";
import { trying } from "../../parts/toast.js";
import { adding } from "./adding.js";
import { known } from "./known.js";
import { detail } from "./record.js";
import { reviewing, waiting } from "./review.js";
import { tabs } from "./tabs.js";

export const title = "Knowledge";

const PAUSE = 250; // milliseconds after the last key

const KINDS = [
  { name: "facts", title: "Facts", one: "fact",
    empty: "No facts yet. Talk to an agent, or write one down with “New fact”." },
  { name: "preferences", title: "Preferences", one: "preference", list: "facts", only: isPreference,
    empty: "No preferences yet. They are learnt from what is said, such as “I love green tea”." },
  { name: "procedures", title: "Procedures", one: "procedure",
    empty: "No procedures yet. They are learnt from tasks that went well." },
  { name: "episodes", title: "Episodes", one: "episode",
    empty: "No episodes yet. One is made of each conversation that has ended." },
  { name: "goals", title: "Goals", one: "goal",
    empty: "No goals yet. Add one with “New goal”." },
  { name: "reflections", title: "Reflections", one: "reflection",
    empty: "No reflections yet: lessons about the agent’s own answers." },
  { name: "review", title: "To review" },
];

export async function show(place, params, { signal }) {
  const channels = await channelNames(signal);
  const asked = {
    channel: params.channel ?? "", agent: params.agent ?? "", history: params.history === "1", text: params.q ?? "",
  };
  let tab = KINDS.find(({ name }) => name === params.tab) ?? KINDS[0];
  let opened = params.id;
  let rows = null;
  let asking = 0; // how often it was asked what is to be reviewed
  const list = h("div.list");
  const side = beside({ changed, left });
  const split = h("div.split", list, side.place);
  const tools = h("div.row.tools");
  const { row, panel, count } = tabs(KINDS, { label: "Kinds of knowledge", chosen: tab.name, choose });
  place.append(row, refill(panel, tools, split));

  function tell(how = note) {
    how("knowledge", { tab: tab === KINDS[0] ? "" : tab.name, channel: asked.channel, agent: asked.agent,
      history: asked.history ? 1 : "", q: asked.text, id: opened });
  }

  function choose(name) {
    tab = KINDS.find((one) => one.name === name);
    close();
    draw();
  }

  function draw() {
    refill(tools, tab.one && toolbar(tab, asked, channels, drawList, add));
    drawList();
  }

  function drawList() {
    tell();
    if (tab.name === "review") return review();
    rows = known(tab, asked, open, signal);
    refill(list, rows);
  }

  async function review() {
    const first = await recount();
    if (!first || tab.name !== "review") return;
    refill(list, reviewing(first, async (again) => (again ? review() : recount())));
  }

  /** What is to be reviewed; how much that is is told, unless it was asked anew meanwhile. */
  async function recount() {
    const turn = asking += 1;
    const found = await trying(() => waiting(undefined, signal));
    if (found && turn === asking) tally(found);
    return found;
  }

  function tally({ contradictions, next }) {
    count("review", contradictions.length ? `${contradictions.length}${next ? "+" : ""}` : "");
  }

  async function add() {
    const made = await adding(tab, asked.channel);
    if (!made || signal.aborted) return;
    drawList();
    open(made);
  }

  /** Show one record beside the list, or on a narrow screen in its place. */
  function open(record, how = step) {
    opened = record.id;
    tell(how);
    mark();
    side.put(record);
    if (isNarrow()) scrollTo(0, 0);
  }

  function close() {
    opened = undefined;
    side.put(null);
    mark();
    tell();
  }

  function left(record) {
    close();
    list.querySelector(line(record.id, " a"))?.focus();
  }

  function mark() {
    split.classList.toggle("open", opened !== undefined);
    for (const one of list.querySelectorAll("tr[data-id]")) one.classList.toggle("chosen", one.dataset.id === opened);
  }

  /** What was done with the open record is seen in the list too. */
  function changed(record, now) {
    if (signal.aborted) return; // it was taken back when nobody looks here any more
    const alike = now?.id === record.id && list.querySelector(line(record.id));
    if (!now || alike) rows?.redraw(record.id, now);
    else drawList();
    if (opened !== undefined && opened !== record.id) return; // somebody has gone on to another
    if (now) open(now, note);
    else close();
  }

  draw();
  if (params.id) {
    const record = await trying(() => get(`records/${part(params.id)}`, {}, signal));
    if (record && opened === params.id) open(record, note); // nobody has gone on to another
  }
  if (tab.name !== "review") await recount();
}

/** The place beside the list: `put(record)` shows one there, and null puts it away. */
function beside({ changed, left }) {
  const place = h("aside.side", { "aria-label": "The open record", hidden: true });
  function put(record) {
    const shut = () => left(record);
    place.hidden = !record;
    refill(place, record && [
      h("div.head", h("button.back", { type: "button", onclick: shut }, "← Back to the list"),
        h("button.quiet.shut", { type: "button", "aria-label": "Close", onclick: shut }, "×")),
      detail(record, { changed: (now) => changed(record, now) })]);
    place.querySelector("article")?.focus({ preventScroll: true });
  }
  return { place, put };
}

const line = (id, inside = "") => `[data-id="${CSS.escape(id)}"]${inside}`;

/** What narrows a list; `narrowed` is called when `asked` has changed. */
function toolbar(kind, asked, channels, narrowed, add) {
  const change = (name, value) => { asked[name] = value; narrowed(); };
  const soon = afterPause(PAUSE, () => find.isConnected && narrowed()); // nobody has gone on to another tab or view
  const typed = () => { asked.text = find.value; soon(); };
  const find = h("input", { type: "search", value: asked.text, dir: "auto", oninput: typed });
  return [
    h("label", "Find in the list", find),
    channelField(channels, { any: "All", value: asked.channel, chosen: (name) => change("channel", name) }),
    h("label.inline",
      h("input", { type: "checkbox", checked: asked.history,
        onchange: ({ target }) => change("history", target.checked) }),
      kind.name === "goals" ? "Also closed ones" : "Also what was corrected"),
    asked.agent && h("button.narrowing", { type: "button", onclick: ({ target }) => { target.remove(); change("agent", ""); } },
      `Only of ${visible(asked.agent)} ×`),
    h("button.primary.new", { type: "button", onclick: add }, `New ${kind.one}`),
  ];
}
