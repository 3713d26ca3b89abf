// Something new, written down by hand.

import { post } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { instant } from "../../core/format.js";
import { ask } from "../../parts/dialog.js";
import { goalFields, goalGiven } from "../../parts/goals.js";
import { say, trying } from "../../parts/toast.js";

const field = (label, name, options = {}) => h("label", label, h("input", { name, dir: "auto", ...options }));
const text = (label, name, options = {}) =>
  h("label", label, h("textarea", { name, rows: 2, dir: "auto", ...options }));

const MORE = {
  procedures: () => [text("When it applies", "context")],
  episodes: () => [text("Goal", "goal"), text("Outcome", "outcome"), text("Lessons", "lessons"),
    h("label", "How it went", h("select", { name: "success" }, h("option", { value: "" }, "Not known"),
      h("option", { value: "true" }, "Well"), h("option", { value: "false" }, "Not well")))],
};

/** Ask for a memory of the kind that a tab shows, or for a goal, and save it; what was saved, or nothing. */
export async function adding({ name, one }, channel) {
  const title = `New ${one}`;
  if (name === "goals") {
    const entered = await ask({ title, fields: goalFields(), agree: "Save" });
    return entered && saved("goals", goalGiven(entered), channel);
  }
  const entered = await ask({ title, fields: fields(name), agree: "Save" });
  return entered && saved(name === "preferences" ? "facts" : name, given(name, entered), channel);
}

function fields(name) {
  return [
    text("What is so", "content", { required: true, rows: 4 }),
    ...(MORE[name]?.() ?? []),
    field("About (names, with commas between)", "about"),
    field("Holds since", "since", { type: "date" }),
    field("Expires", "expires", { type: "date" }),
    h("label.inline", h("input", { type: "checkbox", name: "pinned" }), "Pin it: no retention policy touches it"),
  ];
}

function given(name, { content, about, since, expires, pinned, success, ...more }) {
  const told = Object.fromEntries(Object.entries(more).filter(([, value]) => value));
  const names = about.split(",").map((one) => one.trim()).filter(Boolean);
  return {
    ...told, content, about: names, valid_from: instant(since), expires_at: instant(expires), pinned: pinned === "on",
    success: success ? success === "true" : undefined,
    metadata: name === "preferences" ? { preference: true } : undefined,
  };
}

async function saved(path, body, channel) {
  const made = await trying(() => post(path, body, { channel }));
  if (made) say("Saved.");
  return made;
}
