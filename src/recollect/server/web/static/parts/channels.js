// Channels, as they are named and chosen.

import { get } from "../core/api.js";
import { h } from "../core/dom.js";
import { visible } from "../core/format.js";

/** Where what all channels read lies. */
export const SHARED = "_global";

/** How a channel is called in front of people. */
export const channelName = (name) => (name === SHARED ? "Shared by all" : visible(name));

/** The names of the channels that anything is in, the shared one too. */
export async function channelNames(signal) {
  const { channels } = await get("channels", {}, signal);
  return Object.keys(channels).filter(Boolean).sort();
}

/** A list to choose one of these from; `any` is what no channel is called, `chosen(name)` is told which. */
export function channelField(names, { any, value = "", chosen, text = channelName, kind = "label" }) {
  const option = (name, shown) => h("option", { value: name, selected: name === value }, shown);
  return h(kind, "Channel", h("select", { name: "channel", onchange: ({ target }) => chosen(target.value) },
    option("", any), names.map((name) => option(name, text(name)))));
}
