// What narrows a search, and where it is seen from.

import { get } from "../../core/api.js";
import { h, refill } from "../../core/dom.js";
import { capital, visible } from "../../core/format.js";
import { calledMany } from "../../parts/kinds.js";
import { trying } from "../../parts/toast.js";
import { MOST } from "./asking.js";

const KINDS = ["turn", "fact", "procedure", "episode", "reflection", "entity"];
const LONGEST = 256;
const SUGGESTED = 200;
const WIDE = "(min-width: 60rem)";

/** The fields, folded away where there is no room; `clear` is called by the button that empties them. */
export function filters({ clear, signal }) {
  const known = (what) => h("datalist", { id: `known-${what}` });
  const lists = { channels: known("channels"), agents: known("agents"), conversations: known("conversations") };
  const emptied = h("button", { type: "button", onclick: clear }, "Clear filters");
  const count = h("span");
  const wide = matchMedia(WIDE);
  const place = h("details.card.search-filters", { open: wide.matches },
    h("summary", "Filters", count),
    kinds(), only(lists), times(), amounts(), seenFrom(lists), emptied, Object.values(lists));
  wide.addEventListener("change", () => { place.open = wide.matches; }, { signal });
  place.addEventListener("focusin", () => suggest(lists, signal), { once: true });

  /** Tell how many are set. */
  function told(active) {
    refill(count, active ? ` (${active})` : "");
    emptied.disabled = !active;
  }
  return { place, told };
}

function kinds() {
  const boxes = KINDS.map((kind) =>
    h("label.inline", h("input", { type: "checkbox", name: "kind", value: kind }), capital(calledMany(kind))));
  return h("fieldset", h("legend", "Kinds"), h("div.search-kinds", boxes));
}

function only(lists) {
  return h("fieldset", h("legend", "Only what belongs to"),
    name("agent", "Agent", lists.agents), name("conversation", "Conversation", lists.conversations));
}

function times() {
  return h("fieldset", h("legend", "Time"),
    field("since", "Said from", { type: "date" }), field("until", "Said until", { type: "date" }),
    field("as_of", "As of (true then)", { type: "datetime-local", step: 1 }),
    field("known_at", "Known at (known then)", { type: "datetime-local", step: 1 }));
}

function amounts() {
  return h("fieldset", h("legend", "How much"),
    field("sure", "Least confidence (0 to 1)", { type: "number", min: 0, max: 1, step: 0.05, placeholder: "0" }),
    field("top", "How many", { type: "number", min: 1, max: MOST, placeholder: "As set" }));
}

function seenFrom(lists) {
  return h("fieldset", h("legend", "Seen from"),
    h("p.quiet", "As an agent there would be answered. What is said in its conversation it has in front of it."),
    name("channel", "Channel", lists.channels), name("as", "As agent", lists.agents),
    name("in", "In conversation", lists.conversations));
}

const field = (name, label, attributes) => h("label", label, h("input", { name, ...attributes }));
const name = (name, label, { id }) =>
  field(name, label, { list: id, maxlength: LONGEST, autocomplete: "off", spellcheck: "false" });

/** Names to choose from, asked for when somebody comes near. */
function suggest(lists, signal) {
  return trying(async () => {
    const [{ channels }, { conversations }] = await Promise.all(
      [get("channels", {}, signal), get("conversations", { limit: SUGGESTED }, signal)]);
    const agents = new Set(conversations.map(({ agent }) => agent));
    refill(lists.channels, options(Object.keys(channels)));
    refill(lists.agents, options([...agents]));
    refill(lists.conversations, conversations.map(({ id, title }) =>
      h("option", { value: id }, title && visible(title))));
  });
}

const options = (names) => names.filter(Boolean).map((value) => h("option", { value }));
