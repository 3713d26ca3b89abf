// What is kept for how long: the policy that holds for all of a user's, or in one channel, and who has set what.

import { get, patch } from "../../core/api.js";
import { h, refill } from "../../core/dom.js";
import { channelName, channelNames } from "../../parts/channels.js";
import { say, trying } from "../../parts/toast.js";
import { choice, line, worded } from "./choice.js";

const BY = {
  default: "as Recollect has it", deployment: "set by this server", user: "set by you", channel: "set by you, here",
};

const GROUPS = [
  ["Expiry", {
    expire: ["New memories expire", "Unless they are pinned."],
    ttl_days: ["After days", "How long a memory that expires is kept."],
    popular: ["Renewed after uses", "One that was recalled so often is kept for as long again."],
    turn_days: ["Erase what was said after days", "With what was learnt from it alone. 0 is never."],
  }],
  ["Fading", {
    decay: ["Fade with time", "What nobody speaks of, and what was merely inferred, counts for less."],
    decay_rate: ["Left after a day", "0.95 is half after about two weeks."],
    decay_idle_hours: ["Not before hours", "How long nobody must have spoken of something."],
    inferred_decay_days: ["Slower for what was inferred", "It takes so many days for what the rest does in one."],
    access_boost: ["Less when recalled", "What is recalled often fades less."],
    recency_boost: ["Less when just recalled", "And still less right after it was."],
  }],
  ["Tidying up", {
    archive: ["Archive old conversations", "They are still found, at a lower rank."],
    archive_days: ["After days", "In which nobody spoke."],
    prune_entities: ["Drop what has faded", "People and things that nothing is known of any more."],
    entity_salience: ["Below importance", "From 0 to 1."],
    entity_idle_days: ["And idle for days", "In which nobody spoke of them."],
  }],
  ["Limits", {
    turn_quota: ["Turns in all", "Further ones are refused. 0 is no limit."],
    memory_quota: ["Memories in all", "Of more, the least valuable learnt ones go. 0 is no limit."],
    channel_turn_quota: ["Turns in a channel", "0 is no limit."],
    channel_memory_quota: ["Memories in a channel", "0 is no limit."],
    quota_warning: ["Warn from a share of", "From 0 to 1."],
  }],
  ["Between channels", {
    promote: ["Share what matters everywhere", "Facts of one channel move to where all channels read them."],
    promote_confidence: ["From confidence", "From 0 to 1."],
    promote_count: ["After mentions", "How often it must have been said."],
    promote_conversations: ["In conversations", "In how many."],
    isolated: ["Keep apart", "Nothing is shared into or out of the channel."],
  }],
];
const OF_ALL = ["turn_quota", "memory_quota"];

export async function retention(card, { signal }) {
  const names = await channelNames(signal);
  const where = h("select", { id: "kept-in", onchange: elsewhere }, h("option", { value: "" }, "All of them"),
    names.map((name) => h("option", { value: name }, channelName(name))));
  const groups = h("div");
  const opened = new Set(["Expiry"]);
  refill(card, h("div.head", h("h2", "What is kept, and for how long"),
    h("div.within", h("label", { for: "kept-in" }, "Channel"), where)),
    h("p.quiet", "A pinned memory is exempt from all of it."), groups);
  async function draw() {
    const channel = where.value || undefined;
    const [policy, origins] = await Promise.all([
      get("retention", { channel }, signal), get("retention/origins", { channel }, signal)]);
    if (channel !== (where.value || undefined)) return; // another was chosen meanwhile
    refill(groups, GROUPS.map(([title, values]) => {
      const named = Object.entries(values).filter(([name]) => !(channel && OF_ALL.includes(name)));
      return h("details", { open: opened.has(title), ontoggle: ({ target }) => remember(title, target.open) },
        h("summary", title),
        named.map(([name, told]) => value(name, told, policy[name], origins[name], channel, draw)));
    }));
  }
  function elsewhere() { // nothing can be set any more for where it was
    refill(groups, h("p.quiet", "Loading…"));
    return trying(draw);
  }
  const remember = (title, open) => (open ? opened.add(title) : opened.delete(title));
  await draw();
}

function value(name, [called, about], holds, origin, channel, draw) {
  const id = `kept-${name}`;
  const own = origin === (channel ? "channel" : "user");
  const save = (chosen) => trying(async () => {
    await patch("retention", { [name]: chosen }, { channel });
    await draw();
    document.getElementById(id)?.focus();
    say(chosen === null ? `${called}: as before.` : `${called}: ${worded(chosen)}.`);
  });
  const flag = typeof holds === "boolean";
  const control = choice({
    id, own: own ? holds : undefined, allowed: flag ? [true, false] : undefined, save,
    otherwise: own ? "not set" : worded(holds),
  });
  return line({ id, name: called, about, control, beside: h("span.quiet", BY[origin]) });
}
