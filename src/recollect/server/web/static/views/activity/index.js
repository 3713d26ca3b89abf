// What was done with the memory, how it grew and what it costs; and, for operators, how the deployment is doing.

import { get } from "../../core/api.js";
import { afterPause, h, refill } from "../../core/dom.js";
import { capital, counted, DAY, dayUtc, instant, isoDay, moment, number } from "../../core/format.js";
import { note, to } from "../../core/router.js";
import { SHARED } from "../../parts/channels.js";
import { calledMany } from "../../parts/kinds.js";
import { brief } from "../../parts/said.js";
import { table } from "../../parts/table.js";
import { chart } from "./chart.js";
import { about, actor, kinds, operations, told } from "./deeds.js";
import { operating } from "./operating.js";

export const title = "Activity";

const PAUSE = 300;
const DAYS = 30;
const PAGE = 50;
const SHORT = 40; // characters of a name
const KNOWN = ["fact", "procedure", "episode", "reflection", "entity", "relation"];
const money = (value) => value.toLocaleString(undefined, { maximumSignificantDigits: 3 });

export async function show(place, params, { person, signal }) {
  const own = person.role !== "admin";
  const operator = person.role === "admin" || person.role === "local";
  const charts = h("div.charts", h("p.quiet", { role: "status" }, "Loading…"));
  const grown = h("section", { "aria-label": "Your memory" }, h("h2", "Your memory"), charts);
  if (own) place.append(grown, deeds(params, signal));
  await Promise.all([own && figures(charts, signal), operator && operating(place, { own, signal })]);
}

async function figures(place, signal) {
  const since = isoDay(Date.now() - (DAYS - 1) * DAY);
  const [{ growth }, { usage }] = await Promise.all([get("growth", {}, signal), get("usage", { since }, signal)]);
  refill(place, grown(growth), h("div.card", spent(usage, since)));
}

/** How much there was over time: what was said apart from what is known, for there is much more of it. */
function grown(growth) {
  if (!growth.length) return h("div.card.empty", "Nothing is stored yet. What you record or save will show here.");
  const labels = growth.map((point) => dayUtc(point.day));
  const line = (kind, name) => ({ name, values: growth.map(({ counts }) => counts[kind] ?? 0) });
  const stored = KNOWN.filter((kind) => growth.at(-1).counts[kind]);
  const known = stored.map((kind) => line(kind, capital(calledMany(kind))));
  return [
    h("div.card", chart({ title: "What was said", labels, series: [line("turn", "Turns")] })),
    known.length > 0 && h("div.card", chart({ title: "What is known", labels, series: known })),
  ];
}

/** What models were asked for, by what it was for: in money where prices are set, else in tokens. */
function spent(usage, since) {
  if (!usage.length) return [h("h3", "Use of models"), h("p.quiet", `No model was asked since ${dayUtc(since)}.`)];
  const priced = usage.some(({ cost }) => cost !== undefined);
  const days = Array.from({ length: DAYS }, (_, place) => isoDay(Date.parse(since) + place * DAY));
  const worth = (row) => (priced ? row.cost ?? 0 : row.prompt + row.completion);
  const on = (date, source) => total(usage.filter((row) => row.day === date && row.source === source), worth);
  const sources = [...new Set(usage.map(({ source }) => source))].sort();
  const series = sources.map((source) => ({ name: source, values: days.map((date) => on(date, source)) }));
  const heading = `${priced ? "Cost" : "Tokens"} of models, ${DAYS} days`;
  const drawn = { title: heading, labels: days.map(dayUtc), series, write: priced ? money : number, stacked: true };
  return [chart(drawn), models(usage)];
}

const total = (rows, worth) => rows.reduce((sum, row) => sum + worth(row), 0);

/** The same in sums, by what it was for and by model. */
function models(usage) {
  const groups = Object.groupBy(usage, ({ source, model }) => JSON.stringify([source, model]));
  const cost = (rows) => (rows[0].cost === undefined ? "–" : money(total(rows, (row) => row.cost)));
  const columns = [
    { title: "For", cell: ([{ source }]) => source },
    { title: "Model", cell: ([{ model }]) => brief(model, SHORT) },
    { title: "Calls", class: "number", cell: (rows) => number(total(rows, ({ calls }) => calls)) },
    { title: "Tokens", class: "number", cell: (rows) => number(total(rows, (row) => row.prompt + row.completion)) },
    { title: "Cost", class: "number", cell: cost },
  ];
  return table({ caption: "Use of models", columns, rows: Object.values(groups) });
}

/** What was done, newest first, as far as it is asked for. */
function deeds(params, signal) {
  const list = h("div");
  const fields = filters(params);
  const form = h("form.row.filters", { "aria-label": "Filter", onsubmit: (event) => event.preventDefault() },
    fields.map(({ label }) => label), h("button", { type: "button", onclick: () => choose({}) }, "Clear"));
  form.addEventListener("input", afterPause(PAUSE, fill));

  function fill() {
    if (signal.aborted) return; // somebody typed and went on
    const asked = Object.fromEntries(fields.map(({ name, input }) => [name, input.value.trim()]));
    note("activity", asked);
    const since = instant(asked.since);
    const until = instant(asked.until && `${asked.until}T23:59:59.999`);
    const page = async (after) => {
      const { audit: rows, next } = await get("audit", { ...asked, since, until, limit: PAGE, after }, signal);
      return { rows, next };
    };
    const empty = "Nothing like that was done.";
    refill(list, table({ caption: "What was done", columns: columns(choose), page, signal, empty, announce: true }));
  }

  function choose(values) {
    for (const { name, input } of fields) input.value = values[name] ?? "";
    fill();
  }
  fill();
  return h("section.deeds", { "aria-label": "What was done" }, h("h2", "What was done"), form, list);
}

function filters(params) {
  const field = (name, title, input) => {
    input.name = name;
    input.value = params[name] ?? "";
    return { name, input, label: h("label", title, input) };
  };
  const select = (...options) => h("select", options.map(([value, text]) => h("option", { value }, text)));
  return [
    field("operation", "What", select(["", "Everything"], ...operations)),
    field("kind", "Of", select(["", "Every kind"], ...kinds)),
    field("since", "From", h("input", { type: "date" })),
    field("until", "To", h("input", { type: "date" })),
    field("conversation", "Conversation", h("input", { autocomplete: "off", placeholder: "Its name" })),
  ];
}

function columns(choose) {
  const only = (conversation) => {
    const onclick = () => choose({ conversation });
    return h("button.link", { type: "button", title: "Only this conversation", onclick }, brief(conversation, SHORT));
  };
  const where = ({ conversation, channel }) => [
    conversation && only(conversation),
    channel !== SHARED && [" ", h("span.tag", brief(channel, SHORT))],
  ];
  return [
    { title: "When", class: "when", cell: ({ at }) => h("time", { datetime: at }, moment(at)) },
    { title: "What", cell: what },
    { title: "Conversation", cell: where },
    { title: "By", cell: (entry) => brief(actor(entry), SHORT) },
    { title: "Details", cell: details },
  ];
}

function what(entry) {
  const id = about(entry);
  const failed = entry.success === false && h("span.problem", ` – failed: ${entry.error}`);
  return [id ? h("a", { href: to("knowledge", { id }) }, told(entry)) : told(entry), failed];
}

/** What it was decided by. */
function details({ details: given, latency_ms: milliseconds }) {
  const all = Object.entries(milliseconds === undefined ? given : { ...given, milliseconds });
  if (!all.length) return "";
  const text = (value) => brief(typeof value === "string" ? value : JSON.stringify(value), 200);
  return h("details", h("summary", counted(all.length, "detail")),
    h("dl", all.map(([name, value]) => [h("dt", name.replaceAll("_", " ")), h("dd", text(value))])));
}
