// What is said where nothing is remembered at all: how there comes to be something.

import { h } from "../core/dom.js";

export function bare() {
  return h("div.card.empty.bare", h("h2", "Nothing is remembered yet"),
    h("p", "Agents that use Recollect record what is said, and it appears here. To try it, say something yourself:"),
    h("pre", 'recollect record user "I moved to Porto last week"'),
    h("p", "Over the network that is ", h("code", "POST /api/v1/turns"), ", and ", h("a", { href: "docs" }, "/docs"),
      " has the rest. To look around first, load a year of somebody's life beside it:"),
    h("pre", "recollect demo --load"));
}
