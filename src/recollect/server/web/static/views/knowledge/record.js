// One record in full: what it says, how sure it is, when it holds, where it comes from, and what can be done with it.

import { get } from "../../core/api.js";
import { h, keepFocus, refill } from "../../core/dom.js";
import { age, counted, day, moment, percent } from "../../core/format.js";
import { to } from "../../core/router.js";
import { actions } from "../../parts/actions.js";
import { channelName, SHARED } from "../../parts/channels.js";
import { goalAround } from "../../parts/goals.js";
import { called, isMemory, isPreference, read, words } from "../../parts/kinds.js";
import { brief, said } from "../../parts/said.js";

const SOURCES = 20; // turns that are shown at once
const SHORT = 400; // characters of each
const VERSIONS = 50; // of a long history

/** The record, its sources and its versions; `changed` as for `actions`. */
export function detail(record, { changed } = {}) {
  const place = h("article.record", { "aria-label": called(record.kind), tabindex: "-1" },
    h("h2.what", h("span.tag.kind", isPreference(record) ? "preference" : called(record.kind)),
      record.pinned && h("span.tag", "pinned"), record.superseded_by && h("span.tag", "corrected")),
    h("div.content", said(words(record))),
    actions(record, { changed }),
    more(record),
    h("dl", values(record).map(([name, value]) => [h("dt", name), h("dd", value)])));
  place.append(...[entities, around, versions, sources].map((part) => part(record)).filter(Boolean));
  return place;
}

/** What records of its kind have besides. */
function more(record) {
  const parts = {
    procedure: [["When", record.context]],
    episode: [["Goal", record.goal], ["Outcome", record.outcome], ["Lessons", record.lessons]],
    goal: [["Result", record.result]],
    entity: [["Description", record.description]],
    summary: [["Asked", record.query], ["Result", record.result]],
  };
  const told = (parts[record.kind] ?? []).filter(([, text]) => text);
  const steps = record.steps?.map((step) => h("li", said(step))) ?? [];
  return [told.map(([name, text]) => [h("h3", name), h("p", said(text))]),
    steps.length > 0 && [h("h3", "Steps"), h("ol", steps)]];
}

function values(record) {
  const when = (at) => h("time", { datetime: at, title: moment(at) }, `${day(at)} (${age(at)})`);
  const went = { true: "well", false: "not well" }[record.success];
  const used = record.kind === "procedure"
    && `${counted(record.successes, "success", "successes")}, ${counted(record.failures, "failure")}`;
  const all = [
    ["Confidence", record.confidence !== undefined && percent(record.confidence)],
    ["Salience", record.salience !== undefined && percent(record.salience)],
    ["Holds", record.valid_from && (record.valid_to
      ? [when(record.valid_from), " – ", when(record.valid_to)] : ["since ", when(record.valid_from)])],
    ["Expires", record.expires_at ? when(record.expires_at) : isMemory(record) && "never"],
    ["Went", went], ["Tools", record.tools?.length > 0 && said(record.tools.join(", "))],
    ["Used", used],
    ["Status", record.status], ["Priority", record.priority], ["Deadline", record.deadline && when(record.deadline)],
    ["Said", record.at && when(record.at)], ["By", record.role],
    ["Recorded", record.recorded_at && when(record.recorded_at)],
    ["Type", record.type && said(record.type)],
    ["Also called", record.aliases?.length > 0 && said(record.aliases.join(", "))],
    ["Conversation", record.conversation && said(record.conversation)],
    ["Channel", record.channel && (channelName(record.channel))],
    ["Agent", record.agent && said(record.agent)],
    ["Origin", record.origin && said(record.origin)],
    ["Id", h("code", record.id)],
  ];
  return all.filter(([, value]) => value !== undefined && value !== null && value !== false && value !== "");
}

/** A part that `fill` gives the nodes of. What could not be loaded says so: it is not as if there were none. */
function section(title, fill) {
  const heading = title && h("h3", title);
  const place = h("section");
  async function draw() {
    refill(place, heading, h("p.quiet", "Loading…"));
    try {
      refill(place, heading, await fill());
    } catch (error) {
      refill(place, heading, h("p", { role: "alert" }, h("span.problem", error.message), " ", again));
    }
  }
  const again = h("button.link", { type: "button", onclick: retry }, "Try again");
  async function retry() {
    await draw();
    keepFocus(place.closest("article"));
  }
  draw();
  return place;
}

function entities(record) {
  const ids = record.kind === "relation" ? [record.source, record.target] : record.about ?? [];
  if (!ids.length) return null;
  return section("About", async () => {
    const known = (await Promise.all(ids.map((id) => read(id)))).filter(Boolean);
    const link = (entity) => h("a.tag", { href: to("graph", { entity: entity.id }) }, brief(entity.name));
    return h("p.row", known.map(link));
  });
}

function around(record) {
  if (record.kind !== "goal") return null;
  return section(null, () => goalAround(record));
}

/** What it replaced and what replaced it, newest first. */
function versions(record) {
  if (!record.supersedes && !record.superseded_by) return null;
  return section("Versions", async () => {
    const newer = await chain(record.superseded_by, "superseded_by");
    const older = await chain(record.supersedes, "supersedes");
    return h("ol.versions", [...newer.reverse(), record, ...older].map((one) => version(one, one === record)));
  });
}

function version(one, shown) {
  const text = brief(words(one));
  return h("li", { "aria-current": shown && "true" },
    h("span.quiet", `${day(one.valid_from)} – ${one.valid_to ? day(one.valid_to) : "now"} `),
    shown ? text : h("a", { href: to("knowledge", { id: one.id }) }, text));
}

async function chain(id, link) {
  const found = [];
  while (id && found.length < VERSIONS) {
    const one = await read(id);
    if (!one) break;
    found.push(one);
    id = one[link];
  }
  return found;
}

/** The turns behind it, each with its place in the palace. */
function sources(record) {
  if (!record.sources?.length) return null;
  return section(counted(record.sources.length, "source"), async () => {
    const turns = (await Promise.all(record.sources.slice(0, SOURCES).map((id) => read(id)))).filter(Boolean);
    const places = await pointers(turns);
    const hidden = record.sources.length - SOURCES;
    const line = (turn) => h("li", h("span.quiet", `${turn.role}, ${moment(turn.at)} `), said(turn.content, SHORT), " ",
      drawer(turn, places.get(turn.id)));
    return [h("ol.sources", turns.map(line)), hidden > 0 && h("p.quiet", `and ${counted(hidden, "more turn")}`)];
  });
}

function drawer(turn, pointer) {
  const channel = turn.channel === SHARED ? "" : turn.channel;
  return pointer ? h("a", { href: to("palace", { at: pointer, channel }) }, pointer)
    : h("a", { href: to("knowledge", { id: turn.id }) }, "Open the turn");
}

/** Where turns lie in the palace, by their ids; those that were not mined yet have no place. */
async function pointers(turns) {
  const talks = [...new Set(turns.map((turn) => turn.conversation))];
  if (!talks.length) return new Map();
  const where = JSON.stringify({ conversation: talks });
  const { closets } = await get("closets", { where, everywhere: true, limit: 1000 });
  const found = turns.map((turn) => [turn.id, closets.find((closet) =>
    closet.conversation === turn.conversation && closet.first <= turn.index && turn.index <= closet.last), turn.index]);
  return new Map(found.filter(([, closet]) => closet).map(([id, closet, index]) => [id, pointer(closet, index)]));
}

function pointer({ wing, room }, index) {
  const padded = (number, digits) => String(number).padStart(digits, "0");
  return `§ W-${padded(wing, 3)}/R-${padded(room, 2)}/D-${padded(index + 1, 3)}`;
}
