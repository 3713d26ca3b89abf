// Goals: reached or given up, changed, and those around them.

import { get, part, patch, post } from "../core/api.js";
import { h } from "../core/dom.js";
import { instant } from "../core/format.js";
import { to } from "../core/router.js";
import { ask } from "./dialog.js";
import { brief } from "./said.js";
import { say, trying } from "./toast.js";

/** Whether there is still something to do about it. */
export const isOpen = (goal) => ["active", "blocked"].includes(goal.status);

/** What can be done with a goal, as `{label, work}`. */
export function goalActions(goal, changed) {
  const again = () => closing(goal, { status: "active" }, "Open again.", changed);
  if (!isOpen(goal)) return [{ label: "Open again", work: again }];
  return [
    { label: "Complete", work: () => completing(goal, changed) },
    { label: "Edit", work: () => editing(goal, changed) },
    { label: "Give up", work: () => closing(goal, { status: "abandoned" }, "Given up.", changed) },
  ];
}

async function closing(goal, body, told, changed) {
  const now = await trying(() => post(`goals/${part(goal.id)}/complete`, body));
  if (!now) return;
  say(told);
  await changed(now);
}

async function completing(goal, changed) {
  const entered = await ask({
    title: "Complete this goal",
    body: [h("p", brief(goal.description))],
    fields: [h("label", "What came of it", h("textarea", { name: "result", rows: 3, dir: "auto" }))],
    agree: "Complete",
  });
  if (entered) await closing(goal, { status: "completed", result: entered.result || undefined }, "Completed.", changed);
}

/** The fields of a goal's form, filled with what it has. */
export function goalFields({ description = "", priority = 0, deadline } = {}) {
  return [
    h("label", "What is to be reached",
      h("textarea", { name: "description", required: true, rows: 3, dir: "auto", value: description })),
    h("label", "Priority", h("input", { name: "priority", type: "number", step: 1, value: String(priority) })),
    h("label", "Deadline", h("input", { name: "deadline", type: "date", value: deadline ? dateOf(deadline) : "" })),
  ];
}

function dateOf(at) {
  const day = new Date(at);
  return [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
}

/** What a form of `goalFields` says, as the API takes it. */
export function goalGiven({ description, priority, deadline }) {
  return { description, priority: Number(priority), deadline: instant(deadline) ?? null };
}

async function editing(goal, changed) {
  const entered = await ask({ title: "Edit this goal", fields: goalFields(goal), agree: "Save" });
  const now = entered && await trying(() => patch(`goals/${part(goal.id)}`, goalGiven(entered)));
  if (!now) return;
  say("Saved.");
  await changed(now);
}

/** The goals around one: what it is a part of, its parts, what it waits for, what waits for it. */
export async function goalAround(goal) {
  const state = await get(`goals/${part(goal.id)}`);
  const around = [["Part of", state.parent ? [state.parent] : []], ["Parts", state.subgoals],
    ["Waits for", state.blockers], ["Waited for by", state.blocks]];
  const link = (one) => h("a", { href: to("knowledge", { tab: "goals", id: one.id }) }, brief(one.description));
  return around.filter(([, goals]) => goals?.length).map(([name, goals]) =>
    [h("h3", name), h("ul", goals.map((one) => h("li", link(one), " ", h("span.tag", one.status))))]);
}
