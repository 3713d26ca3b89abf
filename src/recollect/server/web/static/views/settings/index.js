// What users set for their own memory, and what they can do with all of it at once.

import { get, patch } from "../../core/api.js";
import { h, refill } from "../../core/dom.js";
import { say, trying } from "../../parts/toast.js";
import { agents } from "./agents.js";
import { choice, line, worded } from "./choice.js";
import { channels, everything } from "./data.js";
import { retention } from "./retention.js";

export const title = "Settings";

/** What each setting does, in the order in which they are shown. */
const ABOUT = {
  enabled: ["Memory", "Off: nothing is recalled, and nothing is recorded or mined by itself. What is stored stays."],
  auto_mine: ["Learn from conversations", "Facts, people and topics are taken from what was said, in the background."],
  conclude: ["Summarise conversations", "What is over gets a summary, and a task that was done an episode."],
  pii: ["Sensitive data", "What learning does with addresses, card numbers and passwords: nothing (off), mark them "
    + "(tag), write the kind in their place (redact), or leave the memory out (drop). "
    + "What was said stays word for word."],
  top_k: ["Memories at a time", "How many are recalled for one question."],
  threshold: ["Least similarity", "How close in meaning a memory must be: 0 is unrelated, 1 is the same."],
  context_tokens: ["Room in the prompt", "About how many tokens memories may take in front of a model."],
  rerank: ["Second look", "The best finds are put in order once more, by a model made for it."],
  rerank_model: ["Model of the second look", "One of those that this server offers."],
  embedding_model: ["Model of meaning", "The one in use, for everybody here. Only who runs the server can change it."],
};

export async function show(place, params, { person, signal }) {
  const page = h("div.settings");
  place.append(page);
  const sections = [memory, agents, retention, channels, everything].map((section) => {
    const card = h("section.card");
    page.append(card);
    return trying(() => section(card, { person, signal }));
  });
  await Promise.all(sections);
}

async function memory(card, { signal }) {
  const lines = h("div");
  refill(card, h("h2", "Recalling and learning"),
    h("p.quiet", "What you set holds at once. What you leave is as this server has it for everybody."), lines);
  const draw = async () => {
    const { settings } = await get("settings/offered", {}, signal);
    refill(lines, Object.keys(ABOUT).map((name) => offered(name, settings[name], draw)));
  };
  await draw();
}

function offered(name, { value, deployed, own, allowed, least, most }, draw) {
  const id = `set-${name}`;
  const [called, about] = ABOUT[name];
  if (allowed && allowed.length < 2) { // nothing to choose
    return line({ name: called, about, control: h("span", worded(value ?? null)) });
  }
  const save = (chosen) => trying(async () => {
    await patch("settings", { [name]: chosen });
    await draw();
    document.getElementById(id)?.focus();
    say(chosen === null ? `${called}: as the server has it.` : `${called}: ${worded(chosen)}.`);
  });
  const control = choice({
    id, own: own ? value : undefined, allowed, least, most, step: Number.isInteger(deployed) ? 1 : "any", save,
    otherwise: `${worded(deployed ?? null)} (server's)`,
  });
  return line({ id, name: called, about, control });
}

