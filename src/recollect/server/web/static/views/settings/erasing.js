// Erasing many things at once: what would go is shown first, and asked about.

import { remove } from "../../core/api.js";
import { h, keepFocus } from "../../core/dom.js";
import { ask } from "../../parts/dialog.js";
import { countedKind } from "../../parts/kinds.js";
import { say, trying } from "../../parts/toast.js";

/** Ask whether what is at this path should go, and have it go. `typed` is what must be typed before. */
export async function erasing({ title, path, query = {}, typed, done }) {
  const would = await trying(() => remove(path, { ...query, dry_run: true }));
  if (!would) return;
  const kinds = Object.entries(would.counts).filter(([, count]) => count > 0);
  if (!kinds.length && typed === undefined) return say("There is nothing to forget.");
  const agreed = await ask({
    title, danger: true, typed, agree: typed === undefined ? "Forget" : "Erase everything",
    body: [h("p", "This goes for good, with all that was learnt from it alone:"), goes(kinds)],
  });
  if (!agreed) return;
  const gone = await trying(() => remove(path, query));
  if (!gone) return;
  await trying(done);
  keepFocus();
  say("Forgotten.");
}

function goes(kinds) {
  if (!kinds.length) return h("p", "There are no memories.");
  return h("ul", kinds.map(([kind, count]) => h("li", countedKind(count, kind))));
}
