// What can be done with any record: put it right, keep it, share it, forget it and take that back.

import { part, patch, post, put, remove } from "../core/api.js";
import { h, keepFocus, refill } from "../core/dom.js";
import { instant } from "../core/format.js";
import { channelName, SHARED } from "./channels.js";
import { ask } from "./dialog.js";
import { goalActions } from "./goals.js";
import { called, countedKinds, isMemory, read, words } from "./kinds.js";
import { brief } from "./said.js";
import { say, trying } from "./toast.js";

const NAMED = 5; // of what else goes, so many are told by their words
const UNDO_SECONDS = 60;
const KEPT = ["settings", "audit"]; // nobody forgets these one by one

/**
 * The buttons that suit a record. `changed(record)` is told the record as it is afterwards (of a correction the
 * new one), or null once it is forgotten; when that is taken back, the record again.
 */
export function actions(record, { changed = () => {} } = {}) {
  const memory = isMemory(record);
  const held = memory && !record.superseded_by;
  const promoted = record.channel === SHARED && record.promoted_from && record.promoted_from !== SHARED;
  return h("div.row.doing", { role: "group", "aria-label": `What can be done with this ${called(record.kind)}` },
    record.kind === "goal" && goalActions(record, changed).map(({ label, work }) => button(label, work)),
    held && button("Correct", () => correcting(record, changed)),
    memory && button(record.pinned ? "Unpin" : "Pin", () => marking(record, { pinned: !record.pinned }, changed)),
    held && record.channel !== SHARED && button("Promote", () => marking(record, { promoted: true }, changed)),
    held && promoted && button("Demote", () => marking(record, { promoted: false }, changed)),
    !KEPT.includes(record.kind) && button("Forget", () => forgetting(record, changed), "button.danger"));
}

function button(label, work, kind = "button") {
  return h(kind, { type: "button", onclick: async () => { await work(); keepFocus(); } }, label);
}

async function correcting(record, changed) {
  const entered = await ask({
    title: `Correct this ${called(record.kind)}`,
    body: [h("p.quiet", "What it says now is kept as what held before.")],
    fields: [
      h("label", "What is so",
        h("textarea", { name: "content", required: true, rows: 5, dir: "auto", value: record.content })),
      h("label", "Since", h("input", { name: "since", type: "date", "aria-describedby": "since-when" })),
      h("small.quiet", { id: "since-when" }, "Left empty: from now on."),
    ],
    agree: "Correct",
  });
  if (!entered) return;
  const { content, since } = entered;
  const now = await trying(() => put(`records/${part(record.id)}`, { content, since: instant(since) }));
  if (!now) return;
  say("Corrected.");
  await changed(now);
}

async function marking(record, marks, changed) {
  const now = await trying(() => patch(`records/${part(record.id)}`, marks));
  if (!now) return;
  say(marked(marks, now));
  await changed(now);
}

function marked({ pinned, promoted }, now) {
  if (pinned !== undefined) return pinned ? "Pinned: no retention policy touches it." : "No longer pinned.";
  return promoted ? "Promoted: all channels read it." : `Back in the channel ${channelName(now.channel)}.`;
}

/** Forget a record once it was shown what goes with it. */
async function forgetting(record, changed = () => {}) {
  const place = where(record);
  const undo = record.kind !== "conversation" || undefined; // what is too much of is not taken back
  const shown = h("div.going", { "aria-live": "polite" });
  const both = h("input", { type: "checkbox", name: "with_sources", onchange: look });
  const chosen = () => ({ undo, with_sources: both.checked || undefined });
  function look() {
    return trying(async () => {
      const asked = chosen();
      const told = await going(record, await remove(place, { ...asked, dry_run: true }));
      return asked.with_sources === chosen().with_sources ? refill(shown, told) : shown;
    });
  }
  if (!await look()) return;
  const agreed = await ask({
    title: `Forget this ${called(record.kind)}?`,
    body: [h("p", brief(words(record))), shown],
    fields: isMemory(record) && record.sources.length ? [h("label.inline", both, "Also the turns it came from")] : [],
    agree: "Forget",
    danger: true,
  });
  const gone = agreed && await trying(() => remove(place, chosen()));
  if (!gone) return;
  const notice = sayForgotten(`Forgotten: ${countedKinds(gone.counts)}.`, gone, () => changed(record));
  await changed(null);
  notice.querySelector("button").focus();
}

function where(record) {
  return `${record.kind === "conversation" ? "conversations" : "records"}/${part(record.id)}`;
}

/** Say that something is forgotten, with a way back while there is one; `again` is called when it was taken. */
export function sayForgotten(text, { undo: token }, again) {
  if (!token) return say(text);
  async function undo() {
    const back = await trying(() => post("undo", { undo: token }));
    if (!back) return; // it can be tried again while there is time
    notice.remove();
    say(`Taken back: ${countedKinds(back)}.`);
    await again();
    keepFocus();
  }
  const notice = say(text, { undo, seconds: UNDO_SECONDS });
  return notice;
}

/** What else goes, in words, and whether it can be taken back. */
async function going(record, { counts, ids = [], undoable }) {
  const others = ids.filter((id) => id !== record.id);
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const named = (await Promise.all(others.slice(0, NAMED).map((id) => read(id)))).filter(Boolean);
  const rest = total - named.length - (ids.includes(record.id) ? 1 : 0);
  return [
    h("p", total > 1 ? `In all, ${countedKinds(counts)} will be erased.` : "Nothing else goes with it."),
    named.length > 0 && h("ul",
      named.map((one) => h("li", h("span.tag", called(one.kind)), " ", brief(words(one), 90))),
      rest > 0 && h("li.quiet", `and ${rest} more`)),
    undoable ? h("p.quiet", "It can be taken back for a minute; then it is gone for good.")
      : h("p.warn", "This cannot be undone."),
  ];
}
