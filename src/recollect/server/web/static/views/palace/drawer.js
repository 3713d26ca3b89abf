// A drawer of the palace: a turn among those around it, what was derived from it, and who has read it.

import { get, part } from "../../core/api.js";
import { h, refill } from "../../core/dom.js";
import { age, counted, day, moment } from "../../core/format.js";
import { to } from "../../core/router.js";
import { actions } from "../../parts/actions.js";
import { SHARED } from "../../parts/channels.js";
import { called, words } from "../../parts/kinds.js";
import { brief, said } from "../../parts/said.js";
import { trying } from "../../parts/toast.js";

const AROUND = 3; // turns before and after, at first
const MORE = 20;
const READERS = 20;
const TAGS = { "@p": "People", "@l": "Places", "@e": "Events", "@i": "Things", "@t": "Times" };
const SPEAKERS = { user: "User", assistant: "Assistant", system: "System", tool: "Tool", note: "Note" };
export const speaker = (role) => SPEAKERS[role] ?? role;

/** What is in a drawer; `changed(record)` as of the actions, `left` when it is put away. */
export function drawer(opened, { changed, left, signal }) {
  const { pointer, turn, closet } = opened;
  return h("article.drawer", { "aria-labelledby": "drawer-name" },
    h("div.head",
      h("div", h("h2", { id: "drawer-name", tabindex: "-1" }, pointer), where(closet)),
      away(left)),
    tags(opened.tags),
    h("section.card", { "aria-label": "What was said" }, conversation(turn, signal)),
    actions(turn, { changed }),
    derived(opened.derived),
    readers(turn, signal));
}

/** The button that puts it away. */
export const away = (left) => h("button.quiet.away", { type: "button", onclick: left },
  h("span.narrow-only", "‹ Back to the palace"),
  h("span.wide-only", { "aria-hidden": "true" }, "×"), h("span.wide-only.hidden", "Close"));

function where({ subject, title, conversation }) {
  const steps = [subject || "(erased)", conversation, title].filter(Boolean);
  return h("p.quiet.where", steps.flatMap((step, place) => [place > 0 && " › ", h("bdi", brief(step, 60))]));
}

function tags(given) {
  const known = Object.keys(TAGS).filter((tag) => given[tag]?.length);
  if (!known.length) return null;
  return h("dl.tags", known.flatMap((tag) => [
    h("dt", TAGS[tag], " ", h("code", tag)),
    h("dd", given[tag].map((name) => h("span.tag", brief(name, 60)))),
  ]));
}

// The conversation around it

function conversation(turn, signal) {
  const list = h("ol.turns", line(turn, true));
  const earlier = further(turn, -1, "Show earlier", (found) => list.prepend(...found), signal);
  const later = further(turn, 1, "Show later", (found) => list.append(...found), signal);
  return [earlier, list, later];
}

/** The button for more turns one way; they are asked for one step ahead, so that it is there while there are. */
function further(turn, way, label, put, signal) {
  let reached = turn.index;
  let ahead = [];
  let busy = true;
  const onclick = () => busy || trying(() => alone(grow));
  const button = h("button.link", { type: "button", hidden: true, onclick }, label);
  async function look(count) {
    const steps = Array.from({ length: count }, (_, place) => reached + way * (place + 1));
    const indexes = steps.filter((index) => index >= 0);
    ahead = indexes.length ? await turns(turn.conversation, indexes, signal) : [];
    reached += way * count;
  }
  async function grow() {
    put(ahead.map((one) => line(one, false)));
    ahead = []; // should asking for more fail, these are not put in again
    await look(MORE);
    button.hidden = !ahead.length;
  }
  async function alone(work) { // who is in a hurry would be shown the same turns twice
    busy = true;
    try {
      await work();
    } finally {
      busy = false;
    }
  }
  trying(() => alone(async () => { await look(AROUND); await grow(); }));
  return button;
}

async function turns(conversation, indexes, signal) {
  const where = JSON.stringify({ conversation, index: indexes });
  const { turns: found } = await get("turns", { where, limit: indexes.length, everywhere: true }, signal);
  return found.sort((one, other) => one.index - other.index);
}

function line(turn, cited) {
  const name = [h("b", speaker(turn.role)), turn.agent && h("span.quiet", brief(turn.agent, 40)),
    h("time.quiet", { datetime: turn.at, title: age(turn.at) }, moment(turn.at))];
  const kind = cited ? "li.turn.cited" : "li.turn";
  return h(kind, { "aria-current": cited && "true" }, h("div.by", name), said(turn.content));
}

// What came of it

function derived(records) {
  const told = records.map((record) => h("li",
    h("a", { href: to("knowledge", { id: record.id }) }, brief(words(record))), " ",
    h("span.tag.kind", called(record.kind)),
    record.recorded_at && h("span.quiet", ` learnt ${day(record.recorded_at)}`)));
  return h("section.card", { "aria-labelledby": "derived" }, h("h3", { id: "derived" }, "What was derived from it"),
    told.length ? h("ul.plain", told) : h("p.quiet", "Nothing was derived from it."));
}

function readers(turn, signal) {
  const place = h("div", h("p.quiet", "Loading…"));
  trying(async () => {
    const { readers: found } = await get(`records/${part(turn.id)}/readers`, { limit: READERS }, signal);
    refill(place, found.length ? read(found) : unread());
  });
  return h("section.card", { "aria-labelledby": "readers" }, h("h3", { id: "readers" }, "Who has read it"), place);
}

const read = (found) => h("ul.plain", found.map(({ operation, agent, channel, at }) =>
  h("li", h("b", agent ? brief(agent, 40) : "Somebody"), ` by ${operation}`,
    channel !== SHARED && [" in ", brief(channel, 40)], h("span.quiet", ` ${age(at)}`))));

const unread = () => h("p.quiet",
  "No read of it is on record. Which records are read is noted only at the audit level ", h("code", "verbose"),
  ", which whoever runs the server sets with ", h("code", "RECOLLECT_AUDIT=verbose"), ".");

/** "3 conversations · 40 turns · 3 Mar 2024 – 5 May 2025", as far as it is known. */
export function amount({ level, rooms, drawers, first, last }) {
  const days = [...new Set([day(first), day(last)])].join(" – ");
  const counts = [level === "wing" && counted(rooms, "conversation"), counted(drawers, "turn")];
  return [...counts, days].filter(Boolean).join(" · ");
}
