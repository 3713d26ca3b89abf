// Who or what an entity is, and the two ways to put that right: two that are one, and one that is two.

import { post } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { day, visible } from "../../core/format.js";
import { ask } from "../../parts/dialog.js";
import { brief, said } from "../../parts/said.js";
import { say, trying } from "../../parts/toast.js";

const SELF = "user"; // how whoever speaks is called in what is mined

/** What is known of the entity, seen from a channel; `changed(id)` is told which one there is to look at after a
 * change. */
export function identity(entity, entities, { channel, changed }) {
  const { name, type, aliases, description, first_seen: first } = entity;
  const button = (text, work) => h("button", { type: "button", onclick: () => trying(work) }, text);
  return [
    h("div.head", h("h2", { tabindex: "-1" }, brief(name, 80), " ", h("span.tag.kind", visible(type))),
      h("div.row", entities.length > 1 && button("Merge…", () => merge(entity, entities, { channel, changed })),
        aliases.length > 0 && button("Split…", () => split(entity, { channel, changed })))),
    description && h("p", said(description, 400)),
    h("p.quiet", name === SELF && "This is you. ", aliases.length > 0 && ["Also called ", aliases.map(named), ". "], `First spoken of on ${day(first)}.`),
  ];
}

const named = (alias, number) => [number > 0 && ", ", brief(alias, 60)];

async function merge(entity, entities, { channel, changed }) {
  const others = entities.filter(({ id }) => id !== entity.id);
  const option = ({ id, name, type }) => h("option", { value: id }, `${visible(name)} (${visible(type)})`);
  const into = h("select", { name: "into", required: true }, others.map(option));
  const body = h("p", "What is known of ", brief(entity.name, 80),
    " will be known of the one you choose, which is then also called so. Relations between the two go for good. ",
    "“Split…” makes the name an entity of its own again.");
  const agreed = await ask({ title: "Merge", agree: "Merge", body, fields: [h("label", "The same as", into)] });
  if (!agreed) return;
  const kept = await post("entities/merge", { entity: entity.id, into: agreed.into }, { channel });
  say(`${visible(entity.name)} and ${visible(kept.name)} are one now.`);
  await changed(kept.id);
}

async function split(entity, { channel, changed }) {
  const options = entity.aliases.map((one) => h("option", { value: one }, visible(one)));
  const alias = h("select", { name: "alias", required: true }, options);
  const body = h("p", "One of the names of ", brief(entity.name, 80),
    " becomes an entity of its own, with what was said under that name.");
  const agreed = await ask({ title: "Split", agree: "Split", body, fields: [h("label", "Which name", alias)] });
  if (!agreed) return;
  const other = await post("entities/split", { entity: entity.id, alias: agreed.alias }, { channel });
  say(`${visible(other.name)} is on its own now.`);
  await changed(other.id);
}
