// What records are called, and what they say, whatever their kind.

import { get, part } from "../core/api.js";
import { counted, visible } from "../core/format.js";

const CALLED = {
  turn: ["turn"], fact: ["fact"], procedure: ["procedure"], episode: ["episode"], reflection: ["reflection"],
  entity: ["entity", "entities"], relation: ["relation"], closet: ["closet"], goal: ["goal"],
  tool_invocation: ["tool call"], summary: ["summary", "summaries"], response: ["response"],
  conversation: ["conversation"], profile: ["profile"], settings: ["set of settings", "sets of settings"],
  audit: ["audit entry", "audit entries"],
};
const MEMORIES = ["fact", "procedure", "episode", "reflection"];

/** Whether it is something known, which can be corrected, pinned and promoted. */
export const isMemory = (record) => MEMORIES.includes(record.kind);

/** Whether it is about what somebody likes or wants: as mining tells it, or whoever wrote it; a correction of one
 * answers the same. */
export function isPreference({ metadata = {}, slot }) {
  return metadata.mined?.preference === true || metadata.preference === true || slot?.split("|")[1] === "likes";
}

/** Every kind that there is. */
export const KINDS = Object.keys(CALLED);

/** "tool call" */
export const called = (kind) => (CALLED[kind] ?? ["record"])[0];

/** "tool calls" */
export const calledMany = (kind) => CALLED[kind]?.[1] ?? `${called(kind)}s`;

/** "2 facts" */
export const countedKind = (count, kind) => counted(count, called(kind), calledMany(kind));

/** "2 facts, 1 turn" */
export const countedKinds = (counts) =>
  Object.entries(counts).map(([kind, count]) => countedKind(count, kind)).join(", ");

/** LOCATED_IN as people read it. */
export const relationWords = (type) => visible(type).replaceAll("_", " ").toLowerCase();

/** The words by which people know a record again. */
export function words(record) {
  if (record.kind === "relation") return relationWords(record.type);
  const text = record.content ?? record.name ?? record.description ?? record.title ?? record.summary ?? record.tool;
  return text || record.goal || record.subject || record.id;
}

/** A record by its id; null when it is there no more. */
export async function read(id, signal) {
  try {
    return await get(`records/${part(id)}`, {}, signal);
  } catch (error) {
    if (error.status === 404) return null;
    throw error;
  }
}
