// How the deployment is doing, for those who run it: of everybody together, and nothing of anybody's memory.

import { get, post } from "../../core/api.js";
import { h, keepFocus, refill } from "../../core/dom.js";
import { age, counted, DAY, dayUtc, milliseconds, moment, number, percent } from "../../core/format.js";
import { table } from "../../parts/table.js";
import { say, trying } from "../../parts/toast.js";
import { chart, sparkline } from "./chart.js";

const DAYS = 30;
const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];
const EMBEDDER = {
  ready: "The embedding model is ready.",
  loading: "The embedding model is being loaded.",
  degraded: "The embedding model fails: recall goes by words.",
  none: "There is no embedding model: recall goes by words.",
};

const QUOTAS = {
  turn_quota: "Turns of a user", memory_quota: "Memories of a user",
  channel_turn_quota: "Turns in a channel", channel_memory_quota: "Memories in a channel",
};

/** Adds the operators' part to the page; beside a user's `own` part it says whose it is. */
export async function operating(place, { own, signal }) {
  const part = h("section.operating", { "aria-label": "Deployment" }, h("p.quiet", { role: "status" }, "Loading…"));
  place.append(part);

  async function fill() {
    const asked = [get("figures", { days: DAYS }, signal), get("receipts", {}, signal)];
    const [found, { receipts }] = await Promise.all(asked);
    const run = h("button", { type: "button", onclick: () => trying(tend) }, "Run the jobs now");
    refill(part,
      h("div.head", h("h2", own ? "The deployment, everybody together" : "The deployment"), run), health(found),
      h("div.charts", h("div.card", times(found)), h("div.card", daily(found))),
      h("h3", "Jobs"), jobs(found), waiting(found), parked(found), h("h3", "Quotas"),
      quotas(found), h("h3", "Receipts of erasures"), erased(receipts));
  }

  async function tend() {
    const { outcomes } = await post("jobs/run", {}, {}, signal);
    const done = outcomes.reduce((sum, outcome) => sum + outcome.done, 0);
    say(`The jobs ran: ${counted(done, "row")} put right.`);
    await fill();
    keepFocus(part.querySelector("button")); // the same one, drawn anew
  }
  await fill();
}

function health({ readiness, rows, bytes, cache }) {
  const fine = readiness.status === "ready";
  const state = fine ? h("b.good", "✓ Ready.") : h("b.problem", "✗ Not ready.");
  const told = [...(readiness.problems ?? []), EMBEDDER[readiness.embedder]];
  const facts = {
    Turns: number(rows.turns), Memories: number(rows.memories), Users: number(rows.users), Size: size(bytes),
    "Searches answered from memory": cache.rate === null ? "–" : percent(cache.rate),
  };
  const shown = Object.entries(facts).map(([name, value]) => h("div", h("dt", name), h("dd", value)));
  return h("div.card.health", h("p", state, " ", told.join(" ")), h("dl.facts", shown));
}

function size(bytes) {
  const unit = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${number(Math.round((bytes / 1024 ** unit) * 10) / 10)} ${UNITS[unit]}`;
}

function times({ recall_by_day: recalls, today, days }) {
  const title = "Time to recall";
  const none = !recalls.some(({ count }) => count);
  if (none) return [h("h3", title), h("p.quiet", `Nothing was recalled in ${days} days.`)];
  const labels = recalls.map((_, place) => dayUtc(Date.parse(today) - (days - 1 - place) * DAY));
  const line = (share, name) => ({ name, values: recalls.map((one) => one[share] ?? null) });
  const series = [line("p50_ms", "Half within (p50)"), line("p95_ms", "95 % within (p95)")];
  return chart({ title, labels, series, write: (value) => (value ? milliseconds(value) : "0") });
}

/** What happened day by day, each a line as small as a word. */
function daily({ daily: counts, days }) {
  const rows = Object.entries(counts).map(([name, values]) => ({ name, values }));
  const columns = [
    { title: "What", cell: ({ name }) => name.replaceAll("_", " ") },
    { title: "By day", cell: ({ values }) => sparkline(values) },
    { title: "Today", class: "number", cell: ({ values }) => number(values.at(-1)) },
    { title: "In all", class: "number", cell: ({ values }) => number(values.reduce((sum, value) => sum + value, 0)) },
  ];
  const heading = `What happened, ${days} days`;
  return [h("h3", heading), table({ caption: heading, columns, rows, empty: "Nothing yet." })];
}

function jobs({ jobs: rows, tend_seconds: every }) {
  const columns = [
    { title: "Job", cell: ({ name }) => name },
    { title: "Last run", cell: ({ at }) => h("time", { datetime: at, title: moment(at) }, age(at)) },
    { title: "Took", class: "number", cell: ({ seconds }) => `${number(Math.round(seconds * 100) / 100)} s` },
    { title: "Done", class: "number", cell: ({ done }) => number(done) },
    { title: "In all", class: "number", cell: ({ total }) => number(total) },
    { title: "Next run", cell: (job) => next(job, every) },
    { title: "Problem", cell: ({ problem }) => problem && h("span.problem", problem) },
  ];
  const empty = "No job has run yet: a server runs them in the background, and so does recollect tend.";
  return table({ caption: "Jobs of the background", columns, rows, empty });
}

function next({ at, progress }, every) {
  if (progress) return `under way, ${counted(progress, "row")} so far`;
  const seconds = Math.ceil((Date.parse(at) - Date.now()) / 1000 + every);
  return seconds > 0 ? `within ${number(seconds)} s` : "when a worker comes round";
}

function waiting({ waiting: chores, lag_seconds: lags, rows }) {
  const minutes = (chore) => Math.floor(lags[chore] / 60);
  const late = (chore) => (minutes(chore) ? `, the oldest for ${counted(minutes(chore), "minute")}` : "");
  const told = Object.entries(chores).filter(([, { conversations }]) => conversations)
    .map(([chore, { conversations }]) => `${counted(conversations, "conversation")} to ${chore}${late(chore)}`);
  const texts = rows.chunks_waiting_for_a_vector;
  if (texts) told.push(`${counted(texts, "text")} to embed`);
  return h("p", h("b", "Waiting: "), told.join("; ") || "nothing", ".");
}

/** What failed so often that it was put aside. */
function parked({ parked: { chunks, mining, chores } }) {
  const told = Object.entries(mining).map(([why, count]) => `${counted(count, "conversation")} to mine (${why})`);
  if (chunks) told.push(`${counted(chunks, "text")} to embed`);
  for (const [chore, reasons] of Object.entries(chores)) {
    told.push(...Object.entries(reasons).map(([why, count]) => `${chore} for ${counted(count, "user")} (${why})`));
  }
  if (!told.length) return h("p", h("b", "Parked: "), "nothing.");
  const retry = h("code", "recollect tend --retry");
  return h("p.warn", h("b", "Parked: "), told.join("; "), ". Put that right, then run ", retry, ".");
}

/** How many have come near what they may have, by this server's policy; not who. */
function quotas({ quotas: rows, quota_warning: share }) {
  const count = (value) => ({ most, ...found }) => (most ? number(found[value]) : "–");
  const columns = [
    { title: "Quota", names: true, cell: ({ quota }) => QUOTAS[quota] },
    { title: "At most", class: "number", cell: ({ most }) => (most ? number(most) : "no limit") },
    { title: "The fullest has", class: "number", cell: ({ fullest }) => number(fullest) },
    { title: `At ${percent(share)} or more`, class: "number", cell: count("near") },
    { title: "Full", class: "number", cell: count("full") },
  ];
  const about = "By this server's retention policy. Who has set limits of their own is counted by these all the same.";
  return [h("p.quiet", about), table({ caption: "Quotas", columns, rows })];
}

function erased(rows) {
  const much = (counts) => Object.entries(counts).map(([kind, count]) => `${number(count)} × ${kind}`).join(", ");
  const columns = [
    { title: "When", cell: ({ at }) => h("time", { datetime: at }, moment(at)) },
    { title: "What", cell: ({ what }) => what },
    { title: "How much", cell: ({ counts }) => much(counts) },
    { title: "Receipt", cell: ({ id }) => h("code", id) },
  ];
  return table({ caption: "Receipts of erasures", columns, rows, empty: "No user was erased." });
}
