// Who and what is known, and how they are related: around one entity, at a time of one's choice.

import { get } from "../../core/api.js";
import { afterPause, h, isNarrow, refill } from "../../core/dom.js";
import { counted, day, dayUtc } from "../../core/format.js";
import { note, step, to } from "../../core/router.js";
import { channelField, channelName, channelNames, SHARED } from "../../parts/channels.js";
import { read, relationWords } from "../../parts/kinds.js";
import { brief } from "../../parts/said.js";
import { table } from "../../parts/table.js";
import { trying } from "../../parts/toast.js";
import { drawing } from "./drawing.js";
import { identity } from "./identity.js";
import { dayOf, moments } from "./moments.js";

export const title = "Graph";

const MOST = 200; // entities that are asked for
const LEGIBLE = 30; // and drawn
const LEGIBLE_NARROW = 14;
const LISTED = 1000;
const EVENTS = 1000;
const LOOKED_AT = 8; // relations that are told of a box
const CITED = 3;
const SHOWN = 50; // events that are shown at first
const PAUSE = 120;
const HINT = "Point at a relation, or go to a box, to see since when and who says so.";
const MARKS = { learnt: "Learnt", corrected: "Corrected", began: "Began", ended: "Ended", said: "Said" };

/** What held on a day: what began on it too. */
const endOf = (date) => (date ? `${date}T23:59:59.999Z` : undefined);

export async function show(place, params, { signal }) {
  place.append(h("p.quiet", { role: "status" }, "Loading…"));
  const [found, related, names] = await Promise.all([get("entities", { limit: LISTED, everywhere: true }, signal),
    get("relations", { limit: LISTED, everywhere: true }, signal), channelNames(signal)]);
  const entities = connected(found.entities, related.relations);
  const asked = params.entity && !entities.some(called(params.entity)) && await read(params.entity, signal);
  if (asked?.kind === "entity") entities.push(asked); // there are more than are listed
  place.lastChild.remove();
  if (!entities.length) return place.append(nothing());
  const channels = names.filter((name) => name !== SHARED);
  const view = new Around(place, { entity: params.entity ?? entities[0].id, hops: params.hops === "2" ? 2 : 1,
    as_of: date(params.as_of), channel: params.channel }, { entities, channels, signal });
  await view.start();
}

/** Whether an entity is the one of an id, or called so. */
const called = (text) => ({ id, name, aliases }) =>
  [id, name, ...aliases].some((one) => one.toLowerCase() === text.toLowerCase());

const date = (text) => (text && !Number.isNaN(Date.parse(text)) ? text.slice(0, 10) : undefined);

function nothing() {
  return h("div.card.empty", h("p", "Nobody and nothing is known yet."),
    h("p", "People, places and things appear here once conversations that speak of them are mined. ",
      h("a", { href: to("palace") }, "See what was said"), "."));
}

/** The entities, those with the most relations first, then the newest. */
function connected(entities, relations) {
  const bonds = new Map();
  const ends = relations.flatMap(({ source, target }) => [source, target]);
  for (const end of ends) bonds.set(end, (bonds.get(end) ?? 0) + 1);
  return entities.sort((one, other) => (bonds.get(other.id) ?? 0) - (bonds.get(one.id) ?? 0));
}

/** One entity and what is around it: what is asked for, and the parts of the page that show the answer. */
class Around {
  constructor(place, asked, { entities, channels, signal }) {
    Object.assign(this, { asked, entities, channels, signal, place });
    this.said = h("p.quiet", { role: "status" });
    this.who = h("div.card.who-is");
    this.slider = h("div");
    this.list = h("section", { "aria-label": "Relations" });
    this.told = h("div.told", { "aria-live": "polite" }, h("span.quiet", HINT));
    this.events = h("section.card", { "aria-label": "Timeline" });
    const choose = ({ id }) => this.centre(id, this.drawn.focus);
    this.drawn = drawing({ words: relationWords, choose, look: (found) => this.look(found) });
    this.heading = () => this.who.querySelector("h2").focus();
    this.later = afterPause(PAUSE, () => trying(() => this.neighbours()));
  }

  start() {
    Object.assign(this.asked, this.meant(this.asked.entity));
    const picture = h("section.picture.card", { "aria-label": "Drawing" }, this.drawn.node, this.told);
    refill(this.place, this.place.querySelector("h1"), this.choices(), this.who, this.slider, this.said,
      h("div.around", this.list, picture), this.events);
    return trying(() => this.centred());
  }

  /** What is looked at: the entity by its name, how far around it, and from which channel. */
  choices() {
    this.name = h("input", { name: "entity", list: "entities", autocomplete: "off", required: true });
    this.name.value = this.entities.find(({ id }) => id === this.asked.entity)?.name ?? "";
    const option = ([value, text]) => h("option", { value }, text);
    const names = [...new Set(this.entities.map(({ name }) => name))].map((name) => h("option", { value: name }));
    const hops = h("select", { name: "hops", onchange: () => this.ask({ hops: Number(hops.value) }) },
      [["1", "Direct relations"], ["2", "And theirs"]].map(option));
    hops.value = String(this.asked.hops);
    const chosen = (name) => this.seenFrom(name || undefined);
    const channel = channelField(this.channels, { any: channelName(SHARED), value: this.asked.channel, chosen });
    this.from = channel.querySelector("select");
    const choose = (event) => {
      event.preventDefault();
      const typed = this.name.value.trim();
      const { entity } = this.meant(typed);
      this.name.value = this.entities.find(({ id }) => id === entity)?.name ?? typed;
      this.centre(entity);
    };
    return h("form.row.choices", { onsubmit: choose, onchange: (event) => event.target === this.name && choose(event) },
      h("label", "Entity", this.name), h("datalist", { id: "entities" }, names), h("label", "How far", hops),
      this.channels.length > 0 && channel, h("button", { type: "submit" }, "Go"));
  }

  /** Who is meant by an id or a name, the nearest to the chosen channel, and the channel to see them from: their own,
   * for elsewhere their relations are not read. */
  meant(entity) {
    const all = [...this.entities, ...this.near ?? []].filter(called(entity));
    const inside = (place) => all.find(({ channel }) => channel === place);
    const known = inside(this.asked.channel) ?? inside(SHARED) ?? all[0];
    const own = known && known.channel !== SHARED ? known.channel : this.asked.channel;
    return { entity: known?.id ?? entity, channel: own };
  }

  /** Have another entity in the middle, and the focus there; the way back leads to the one before. */
  async centre(entity, focus) {
    const wanted = this.meant(entity);
    if (!entity || wanted.entity === this.asked.entity) return;
    if (await this.turn(wanted, step) && wanted.entity === this.asked.entity) focus?.();
  }

  /** From another channel, where the entity of one channel alone may have a namesake. */
  seenFrom(channel) {
    const { name, channel: own } = this.entity ?? {};
    const alike = (one) => one.channel === (channel ?? SHARED) && one.name === name;
    const there = own !== SHARED && this.entities.find(alike);
    return this.turn({ channel, ...(there && { entity: there.id }) }, note);
  }

  /** Show something else. When that cannot be, what is shown is again what is asked for. */
  async turn(changed, tell) {
    const asked = { ...this.asked, ...changed };
    this.asked = asked;
    this.from.value = asked.channel ?? "";
    tell("graph", asked);
    const done = await trying(async () => { await this.centred(); return true; });
    if (done || asked !== this.asked || !this.shown || this.signal.aborted) return done;
    this.asked = this.shown;
    this.from.value = this.asked.channel ?? "";
    note("graph", this.asked);
    return false;
  }

  ask(changed) {
    Object.assign(this.asked, changed);
    note("graph", this.asked);
    this.later();
  }

  async centred() {
    const { entity, channel } = this.asked;
    const told = get("timeline", { entity, channel, limit: EVENTS, latest: true }, this.signal);
    this.neighbours();
    const [, { events }] = await Promise.all([this.arrived(), told]);
    if (entity !== this.asked.entity || channel !== this.asked.channel) return; // it was left meanwhile
    this.shown = this.asked;
    const days = events.map(({ at }) => dayOf(at));
    const first = Math.min(dayOf(this.entity.first_seen), ...days);
    const changed = (date) => this.ask({ as_of: date ?? undefined });
    refill(this.slider, moments({ first, changes: days, value: this.asked.as_of, changed }));
    this.timeline(events);
  }

  /** Ask who is around it, instead of what was asked before. */
  neighbours() {
    this.leaving?.abort();
    this.leaving = new AbortController();
    this.coming = this.bring(AbortSignal.any([this.signal, this.leaving.signal]));
    return this.coming;
  }

  /** Wait until they are there, also when they are asked for at another time or further around meanwhile. */
  async arrived() {
    const last = this.coming;
    try {
      await last;
    } catch (error) {
      if (last === this.coming) throw error;
    }
    if (last !== this.coming) await this.arrived();
  }

  async bring(signal) {
    const { entity, hops, channel, as_of: then } = this.asked;
    const around = await get("graph", { entity, hops, channel, as_of: endOf(then), limit: MOST }, signal);
    this.near = around.entities;
    [this.entity] = around.entities;
    this.names = new Map(around.entities.map(({ id, name }) => [id, name]));
    if (document.activeElement !== this.name) this.name.value = this.entity.name; // nobody is typing there
    refill(this.who, identity(this.entity, this.entities, { channel, changed: (id) => this.changed(id) }));
    this.relations(around.relations);
    this.picture(around);
  }

  /** After entities became one, or one became two. */
  async changed(id) {
    ({ entities: this.entities } = await get("entities", { limit: LISTED, everywhere: true }, this.signal));
    this.asked = { ...this.asked, ...this.meant(id) };
    this.place.querySelector(".choices").replaceWith(this.choices());
    step("graph", this.asked);
    await this.centred();
  }

  picture({ entities, relations }) {
    const most = isNarrow() ? LEGIBLE_NARROW : LEGIBLE;
    const drawn = entities.slice(0, most);
    const inside = new Set(drawn.map(({ id }) => id));
    this.drawn.draw(drawn, relations.filter(({ source, target }) => inside.has(source) && inside.has(target)));
    const when = this.asked.as_of ? `on ${dayUtc(this.asked.as_of)}` : "today";
    const others = `${counted(entities.length - 1, "other")}${entities.length >= MOST ? " or more" : ""}`;
    const more = entities.length - most;
    const known = relations.length ? `${counted(relations.length, "relation")} to ${others}` : "No relations";
    refill(this.said, `${known} ${when}.`,
      more > 0 && ` The nearest ${most - 1} are drawn, and ${more} more are in the list.`);
  }

  relations(relations) {
    const here = this.entity.id;
    const link = (id) => h("button.link", { type: "button", onclick: () => this.centre(id, this.heading) },
      brief(this.names.get(id), 60));
    const bond = ({ source, target, type }) => {
      if (target === here) return ["← ", relationWords(type)];
      return source === here ? relationWords(type) : [link(source), " ", relationWords(type)];
    };
    const columns = [
      { title: "Relation", cell: bond },
      { title: "Entity", cell: ({ source, target }) => link(target === here ? source : target) },
      { title: "Since – until", cell: validity },
      { title: "Said in", cell: ({ sources }) => citations(sources) },
    ];
    refill(this.list, table({ caption: "Relations", empty: "None at this time.", rows: relations, columns }));
  }

  look(relations) {
    if (!relations.length) return;
    const name = (id) => brief(this.names.get(id), 60);
    const item = (bond) => h("li", name(bond.source), " ", h("b", relationWords(bond.type)), " ", name(bond.target),
      h("span.quiet", ` · ${validity(bond)} · said in `), citations(bond.sources));
    const more = relations.length - LOOKED_AT;
    refill(this.told, h("ul", relations.slice(0, LOOKED_AT).map(item)),
      more > 0 && h("p.quiet", `And ${more} more, in the list.`));
  }

  timeline(events, most = SHOWN) {
    const latest = events.toReversed();
    const whole = () => this.timeline(events, latest.length);
    const all = h("button", { type: "button", onclick: whole }, `Show all ${latest.length}`);
    refill(this.events, h("h2", "Timeline"), !latest.length && h("p.empty", "Nothing yet."),
      h("ol.events", latest.slice(0, most).map(eventOf)), latest.length > most && all);
  }
}

function validity({ valid_from: from, valid_to: until }) {
  return until ? `${day(from)} – ${day(until)}` : `since ${day(from)}`;
}

/** The turns that say so. */
function citations(sources) {
  const name = (number) => (sources.length === 1 ? "this turn" : `turn ${number + 1}`);
  const link = (id, number) => [number > 0 && ", ", h("a", { href: to("knowledge", { id }) }, name(number))];
  if (!sources.length) return "nothing that is still there";
  return [sources.slice(0, CITED).map(link), sources.length > CITED && ` and ${sources.length - CITED} more`];
}

function eventOf({ at, what, kind, id, content }) {
  const text = kind === "relation" ? content.replace(/ ([A-Z][A-Z_]*) /, (found) => relationWords(found)) : content;
  return h("li", h("time.quiet", { datetime: at }, day(at)), h(`span.tag.${what}`, MARKS[what]),
    h("a", { href: to("knowledge", { id }) }, brief(text)));
}
