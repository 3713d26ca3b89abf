// Lists of what is known: which rows, and which columns for each kind.

import { get } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { age, day, moment, percent } from "../../core/format.js";
import { to } from "../../core/router.js";
import { SHARED } from "../../parts/channels.js";
import { isOpen } from "../../parts/goals.js";
import { words } from "../../parts/kinds.js";
import { brief } from "../../parts/said.js";
import { table } from "../../parts/table.js";

const PAGE = 50;
const LOOKED = 500; // rows read at once when only some of them are wanted
const GOALS = 1000; // read at once
const READS = 10; // of those pages, before somebody is asked whether to look further

/**
 * The table of a kind of knowledge. `asked` is `{channel, agent, history, text}`; `open(row)` shows one in full.
 */
export function known(kind, asked, open, signal) {
  const wanted = asked.text.toLowerCase();
  const fits = (row) => (!kind.only || kind.only(row)) && (!wanted || words(row).toLowerCase().includes(wanted));
  const some = Boolean(kind.only || wanted);
  return table({
    caption: kind.title,
    columns: columns(kind, open),
    open,
    page: (after) => (kind.name === "goals" ? goals(asked, fits, signal)
      : found(kind, asked, { fits, some }, after, signal)),
    empty: wanted ? "Nothing in the list says that." : kind.empty,
    announce: true,
    signal,
  });
}

/** A page of those that fit; when only some do, so many are looked through at a time. */
async function found(kind, { channel, agent, history }, { fits, some }, after, signal) {
  const path = kind.list ?? kind.name;
  const narrowed = { ...(channel && { channel }), ...(agent && { agent }) };
  const where = Object.keys(narrowed).length ? JSON.stringify(narrowed) : undefined;
  const asked = { limit: some ? LOOKED : PAGE, where, history: history || undefined };
  const rows = [];
  for (let read = 0; read < (some ? READS : 1) && rows.length < PAGE; read += 1) {
    const page = await get(path, { ...asked, after }, signal);
    rows.push(...page[path].filter(fits));
    after = page.next;
    if (!after) break;
  }
  return { rows, next: after };
}

/** All goals, those of isolated channels too: the most pressing first, as agents are told them. */
async function goals({ channel, agent, history }, fits, signal) {
  const all = [];
  let after;
  do {
    const page = await get("records", { kind: "goal", everywhere: true, limit: GOALS, after }, signal);
    all.push(...page.records);
    after = page.next;
  } while (after);
  all.sort(pressing);
  const open = (goal) => history || isOpen(goal);
  const here = (goal) => (!channel || goal.channel === channel) && (!agent || goal.agent === agent);
  return { rows: all.filter((goal) => open(goal) && fits(goal) && here(goal)) };
}

/** By priority, then deadline, then age. */
function pressing(one, other) {
  const due = ({ deadline }) => (deadline ? Date.parse(deadline) : Number.MAX_VALUE);
  return other.priority - one.priority || due(one) - due(other) || (one.id < other.id ? -1 : 1);
}

const numbers = [
  { title: "Confidence", class: "number", cell: (row) => percent(row.confidence) },
  { title: "Salience", class: "number spare", cell: (row) => percent(row.salience) },
];
const times = [
  { title: "Holds", class: "when", cell: holds },
  { title: "Expires", class: "when spare", cell: (row) => when(row.pinned ? null : row.expires_at, "never") },
  { title: "Sources", class: "number spare", cell: (row) => String(row.sources.length) },
];
const OWN = {
  procedures: [{ title: "Went well", class: "number", cell: ({ successes, failures }) =>
    (successes + failures ? `${successes} of ${successes + failures}` : h("span.quiet", "not tried")) }],
  episodes: [{ title: "Outcome", class: "tale", cell: (row) => [went(row), row.outcome && brief(row.outcome, 60)] },
    { title: "Lessons", class: "tale spare", cell: (row) => (row.lessons ? brief(row.lessons, 60) : "") }],
};

function columns(kind, open) {
  const what = { title: "What", class: "what", cell: (row) => said(row, open) };
  if (kind.name !== "goals") return [what, ...(OWN[kind.name] ?? []), ...numbers, ...times];
  return [what, { title: "Status", cell: (goal) => h("span.tag", goal.status) },
    { title: "Priority", class: "number", cell: (goal) => String(goal.priority) },
    { title: "Deadline", class: "when", cell: (goal) => when(goal.deadline, "none") },
    { title: "Added", class: "when spare", cell: (goal) => when(goal.created_at) }];
}

function said(row, open) {
  const take = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a window of its own
    event.preventDefault();
    open(row);
  };
  return [h("a", { href: to("knowledge", { id: row.id }), onclick: take }, brief(words(row))),
    row.pinned && h("span.tag", "pinned"), row.superseded_by && h("span.tag", "corrected"),
    row.channel !== SHARED && h("span.tag", brief(row.channel, 30))];
}

function went({ success }) {
  if (success === undefined) return null;
  return h(success ? "span.tag.good" : "span.tag.warn", success ? "well" : "not well");
}

function when(at, otherwise) {
  return at ? h("time", { datetime: at, title: `${moment(at)}, ${age(at)}` }, day(at)) : h("span.quiet", otherwise);
}

function holds({ valid_from, valid_to }) {
  return valid_to ? ["until ", when(valid_to)] : ["since ", when(valid_from)];
}
