// What is asked, between three forms: the fields of the form, the address, and the question as the API takes it.

import { instant } from "../../core/format.js";

const MINUTE = 60_000;

/** The most results at once. */
export const MOST = 100;

/** What a search may be told, by the names that its fields and the address have. */
const FIELDS = [
  "q", "gate", "kind", "channel", "as", "in", "agent", "conversation", "since", "until", "as_of", "known_at", "sure",
  "top",
];
const MOMENTS = ["as_of", "known_at"];

/** What is in the form; what is empty is left out. */
export function entered(form) {
  const data = new FormData(form);
  const given = FIELDS.map((name) => [name, data.getAll(name).map((value) => value.trim()).join(",")]);
  return Object.fromEntries(given.filter(([, value]) => value));
}

/** Fill the form with what an address says. */
export function enter(form, asked) {
  for (const field of form.elements) {
    if (!FIELDS.includes(field.name)) continue;
    const value = asked[field.name] ?? "";
    if (field.type === "checkbox") field.checked = value.split(",").includes(field.value);
    else field.value = MOMENTS.includes(field.name) ? local(value) : value;
  }
}

/** What the address tells: moments in UTC, so that a link shows the same everywhere. */
export function kept(asked) {
  const moments = MOMENTS.filter((name) => asked[name]).map((name) => [name, new Date(asked[name]).toISOString()]);
  return { ...asked, ...Object.fromEntries(moments) };
}

/** Which of it narrows the search. */
export const narrowing = (asked) => FIELDS.filter((name) => asked[name] && !["q", "gate"].includes(name));

/** The question, and where it is asked from. Whoever looks makes nothing popular. */
export function question(asked) {
  const body = {
    query: asked.q ?? "", explain: true, count: false, kinds: asked.kind?.split(","), agent: asked.agent,
    conversation: asked.conversation, exclude_conversation: asked.in, since: instant(asked.since),
    until: instant(asked.until, 1), as_of: instant(asked.as_of), known_at: instant(asked.known_at),
    min_confidence: within(asked.sure, 0, 1), top_k: within(asked.top && Math.round(asked.top), 1, MOST),
    techniques: asked.gate === "off" ? { gate: false } : undefined,
  };
  return { body, from: { channel: asked.channel, agent: asked.as, conversation: asked.in } };
}

const within = (value, least, most) => (value ? Math.min(Math.max(Number(value), least), most) : undefined);

/** A moment as a field for one takes it. */
function local(value) {
  const at = new Date(value);
  return Number.isNaN(at.getTime()) ? "" : new Date(at - at.getTimezoneOffset() * MINUTE).toISOString().slice(0, 19);
}
