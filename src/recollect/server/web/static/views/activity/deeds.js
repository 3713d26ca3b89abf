// What the audit tells, in words that people use.

import { number } from "../../core/format.js";
import { calledMany, countedKind, KINDS } from "../../parts/kinds.js";

/** What an operation is called in a list, and how an entry of it begins. */
const DEEDS = {
  record: ["Recorded", "Recorded"],
  remember: ["Saved", "Saved"],
  mine: ["Mined", "Mined"],
  correct: ["Corrected", "Corrected"],
  pin: ["Pinned", "Pinned"],
  unpin: ["Unpinned", "Unpinned"],
  promote: ["Promoted", "Shared with all channels:"],
  demote: ["Demoted", "Took back to its channel:"],
  forget: ["Forgotten", "Forgot"],
  replace: ["Replaced", "Let go of what something took the place of:"],
  undo: ["Brought back", "Brought back"],
  unmine: ["Unmined", "Took back what was mined:"],
  end: ["Ended", "Ended"],
  settle: ["Contradiction settled", "Settled what contradicted"],
  merge: ["Merged", "Merged"],
  split: ["Split", "Split"],
  add_goal: ["Goal set", "Set"],
  update_goal: ["Goal changed", "Changed"],
  complete_goal: ["Goal closed", "Closed"],
  record_tool: ["Tool recorded", "Recorded"],
  record_summary: ["Summary recorded", "Recorded"],
  update_profile: ["Profile changed", "Changed"],
  update_settings: ["Settings changed", "Changed"],
  import: ["Imported", "Imported"],
  export: ["Exported", "Exported"],
  recall: ["Recalled", "Recalled"],
  get: ["Looked at", "Looked at"],
  list: ["Listed", "Listed"],
  timeline: ["Timeline read", "Read the timeline:"],
  neighbours: ["Graph read", "Read the graph:"],
  palace: ["Palace read", "Read the palace:"],
  drawer: ["Drawer opened", "Opened a drawer:"],
  conversation: ["Conversation read", "Read a conversation:"],
  summaries: ["Summaries read", "Read"],
  goals: ["Goals read", "Looked through"],
  contradictions: ["Contradictions read", "Looked for contradictions:"],
  profile: ["Profile read", "Read"],
};

/** The same of what the background alone does. */
const CHORES = {
  conclude: ["Concluded", "Drew conclusions from"],
  learn: ["Learnt from episodes", "Learnt"],
  consolidate: ["Consolidated", "Took for one with another:"],
  decay: ["Decayed", "Let fade"],
  expire: ["Expired", "Let expire"],
  renew: ["Renewed", "Kept for longer:"],
  erase: ["Removed by retention", "Removed, as the retention policy says:"],
  evict: ["Evicted", "Removed to make room:"],
  archive: ["Archived", "Archived"],
  unarchive: ["Unarchived", "Took out of the archive:"],
  prune: ["Pruned", "Cleared away"],
  quota_warning: ["Nearly full", "Nearly full:"],
};
const WORDS = { ...DEEDS, ...CHORES };
const ERASING = ["forget", "replace", "erase", "expire", "evict", "prune", "unmine", "consolidate"];
const FULL = "quota_warning"; // its subject is how much there is, such as "turns of the channel"

/** `[value, text]` of the operations and of the kinds that may be chosen. */
export const operations = Object.entries(WORDS).map(([operation, [name]]) => [operation, name]);
export const kinds = KINDS.filter((kind) => kind !== "audit").map((kind) => [kind, calledMany(kind)]);

/** An entry as a sentence. */
export function told({ operation, count, memory_kind: kind, subject, details }) {
  if (operation === "mine") return mined(details);
  const begins = WORDS[operation]?.[1] ?? operation.replaceAll("_", " ");
  if (operation === FULL) return `${begins} ${number(count)} ${subject}`;
  const each = Object.entries(details.kinds ?? {}).map(([one, times]) => countedKind(times, one));
  return `${begins} ${each.join(", ") || countedKind(count, kind ?? subject.split(" ")[0])}`;
}

function mined({ turns = 0, added, superseded, reinforced, entities, relations }) {
  const came = [
    added && `${added} learnt`, superseded && `${superseded} corrected`, reinforced && `${reinforced} confirmed`,
    entities && countedKind(entities, "entity"), relations && countedKind(relations, "relation"),
  ];
  return `Mined ${countedKind(turns, "turn")}: ${came.filter(Boolean).join(", ") || "nothing new"}`;
}

/** Who did it, as far as that is known. */
export const actor = ({ operation, agent }) => agent ?? (operation in CHORES ? "the background" : "");

/** The id of the record that it was about, if there is one that may still be there. */
export function about({ operation, subject }) {
  return [...ERASING, FULL].includes(operation) ? undefined : subject.split(" ")[1];
}
