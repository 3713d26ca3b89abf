// The palace: a wing for each subject, in it a room for each conversation, in it closets, and in those drawers,
// which are what was said. `#/palace?at=§ W-042/R-11/D-007` opens a drawer.

import { get, post } from "../../core/api.js";
import { h, refill } from "../../core/dom.js";
import { counted, moment } from "../../core/format.js";
import { go, keep, note, step, to } from "../../core/router.js";
import { bare } from "../../parts/bare.js";
import { channelField, channelName, SHARED } from "../../parts/channels.js";
import { brief } from "../../parts/said.js";
import { say, trying } from "../../parts/toast.js";
import { amount, away, drawer, speaker } from "./drawer.js";
import { tree } from "./tree.js";

export const title = "Palace";

const PAGE = 50;
const NUMBERS = /\d+/g;

export async function show(place, params, { signal }) {
  let latest; // the drawer that was last asked for
  const { at } = params;
  const cite = () => get("palace/drawer", { pointer: at }, signal);
  const [{ channels }, cited] = await Promise.all([get("channels", {}, signal), at && trying(cite)]);
  const channel = seenFrom(cited, params.channel);
  const beside = h("div.beside");
  const wings = tree({ label: "Palace", load, face, chosen: ({ place }) => choose(place), signal });
  const view = h("div.palace", { "data-open": "" }, h("div.stand", wings.element), beside);
  place.append(head(channels, channel), view);

  async function load(node, after) {
    const inside = node ? { wing: node.wing, room: node.room, closet: node.closet } : {};
    const { places } = await get("palace", { ...inside, channel, limit: PAGE, after }, signal);
    return { nodes: places.map((found) => nodeOf(found, node)), more: places.length === PAGE };
  }

  /** Show a drawer, and have the address say so; going back from the first leads to the tree again. */
  async function choose(pointer) {
    latest = pointer;
    const opened = view.dataset.open !== "";
    const found = await trying(() => get("palace/drawer", { pointer }, signal));
    if (!found || pointer !== latest) return false;
    if (!opened) {
      keep({ opened: pathTo(found) });
      step("palace", { at: pointer, channel });
    } else note("palace", { at: pointer, channel });
    put(found);
    return found;
  }

  function put(found) {
    view.dataset.open = found.pointer;
    refill(beside, drawer(found, { changed: (record) => changed(found, record), left, signal }));
    beside.scrollTop = 0;
    const alone = getComputedStyle(wings.element.parentElement).display === "none";
    if (alone) document.getElementById("drawer-name").focus();
  }

  function left() {
    note("palace", { channel });
    view.dataset.open = "";
    refill(beside, hint());
    wings.clear();
    wings.focus();
  }

  /** What was in a drawer is forgotten (null) or brought back; it may have been put away meanwhile. */
  async function changed(found, record) {
    if (signal.aborted) return;
    const isShown = () => view.dataset.open === found.pointer;
    if (!record && isShown()) {
      note("palace", { channel });
      refill(beside, h("div.drawer", h("div.head", h("p", "What was in this drawer is forgotten."), away(left))));
    }
    await wings.refresh(pathTo(found));
    if (record && isShown()) await choose(found.pointer);
  }

  await wings.start();
  if (signal.aborted) return;
  if (wings.isEmpty()) {
    const again = () => show(refill(place, h("h1", title)), params, { signal });
    if (channels[channel ?? SHARED]?.turns) return refill(view, unsorted(again));
    return channels[""]?.turns ? refill(view, elsewhere(channels)) : refill(place, h("h1", title), bare());
  }
  refill(beside, hint());
  if (at) note("palace", { at: cited && at, channel });
  if (cited) put(cited);
  const way = cited ? [...pathTo(cited), cited.turn.index + 1] : history.state?.opened;
  if (way) await wings.reveal(way);
}

/** The channel whose tree has a drawer in it. Each has what all share, too. */
const seenFrom = (cited, channel) => (cited && cited.turn.channel !== SHARED ? cited.turn.channel : channel);

const pathTo = ({ closet }) => [closet.wing, closet.room, closet.number];

/** A place as the tree goes on from it. */
function nodeOf(found, parent) {
  const numbers = [...found.place.matchAll(NUMBERS)].map(Number);
  const [wing, room] = numbers;
  const closet = found.level === "closet" ? found.number : parent?.closet;
  return { ...found, wing, room, closet, leaf: found.level === "drawer" };
}

const LEVELS = { wing: "Wing", room: "Room", closet: "Closet" };

function face(found) {
  if (found.leaf) {
    return [h("span.name", h("b", `${speaker(found.type)} `), brief(found.name)),
      h("span.about", h("code", found.place), ` · ${moment(found.first)}`)];
  }
  const kind = found.level === "wing" && found.type !== "topic" ? found.type : "";
  return [h("span.turner", { "aria-hidden": "true" }),
    h("span.name", brief(found.name || "Without a title"), kind && h("span.tag.kind", kind)),
    h("span.about", h("span.hidden", `${LEVELS[found.level]}: `), found.gone ? "Nothing is left" : amount(found))];
}

function head(channels, channel) {
  const named = Object.keys(channels).filter((name) => name && name !== SHARED).sort();
  const text = (name) => `${channelName(name)} (${counted(channels[name].turns, "turn")})`;
  const chosen = (name) => go("palace", { channel: name });
  return h("div.row.lead",
    h("p.quiet", "What was said, by subject, conversation and topic: ",
      counted(channels[""]?.turns ?? 0, "turn"), " in all. ",
      h("a", { href: to("settings") }, "Forget a channel or an agent")),
    named.length > 0
      && channelField(named, { any: channelName(SHARED), value: channel, chosen, text, kind: "label.inline" }));
}

const hint = () => h("p.empty", "Open a drawer to read what was said, where it was said, and what came of it.");

/** All that was said lies in channels other than this one. */
function elsewhere(channels) {
  const others = Object.keys(channels).filter((name) => name && channels[name].turns).sort();
  const link = (name) => h("a", { href: to("palace", { channel: name === SHARED ? "" : name }) }, channelName(name));
  return h("div.empty", h("p", "Nothing was said in this channel. There is something in:"),
    h("ul.plain", others.map((name) => h("li", link(name)))));
}

function unsorted(again) {
  const sort = async (event) => {
    event.target.disabled = true;
    const mined = await trying(() => post("mine"));
    event.target.disabled = false;
    if (!mined) return;
    say("What was said is sorted in.");
    await again();
  };
  return h("div.empty", h("p", "What was said is not sorted in yet. That happens by itself after a while."),
    h("button", { type: "button", onclick: sort }, "Sort it in now"));
}
