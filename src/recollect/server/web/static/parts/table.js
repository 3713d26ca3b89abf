// Tables of records, a page at a time.

import { h, refill } from "../core/dom.js";
import { number } from "../core/format.js";
import { trying } from "./toast.js";

/**
 * A table of `rows`, or one that is filled as it is scrolled, by `page(after)`, which gives `{rows, next}`;
 * `announce` has it say how much was found. `columns` are `{title, cell(row), class}`; one without a title has
 * buttons, and one with `names` tells what a row is about. `empty` is what is said when there is nothing;
 * a row is `open`ed, if that is given, wherever it is clicked. Roles are
 * told, for on a narrow screen it is laid out as cards. `redraw(id, row)` of what it gives shows a row anew, or
 * without a row no more.
 */
export function table({ caption, columns, rows, page = async () => ({ rows }), empty, announce, open, signal }) {
  const body = h("tbody", { role: "rowgroup" });
  const end = h("div.more");
  const head = h("tr", { role: "row" },
    columns.map(({ title, class: kind }) => h("th", { scope: "col", role: "columnheader", class: kind },
      title || h("span.hidden", "Actions"))));
  const whole = h("table", { role: "table" }, h("caption", caption), h("thead", { role: "rowgroup" }, head), body);
  const told = h("p.hidden", { role: "status" });
  const place = h("div.table", announce && told, whole, end);
  const chosen = (row) => (event) => {
    if (!event.target.closest("a, button, input, summary") && getSelection().isCollapsed) open(row);
  };
  const rowOf = (row) => h("tr", { role: "row", "data-id": row.id, onclick: open && chosen(row) },
    columns.map((column) => cellOf(column, row)));

  async function load(after) {
    refill(end, h("span.quiet", "Loading…"));
    const found = await trying(() => page(after));
    if (!found) return refill(end, h("button", { type: "button", onclick: () => load(after) }, "Try again"));
    body.append(...found.rows.map(rowOf));
    const count = body.children.length;
    refill(told, count ? `${number(count)} found${found.next ? " so far" : ""}` : "Nothing found");
    if (!found.next) return refill(end, !body.children.length && empty && h("p.empty", empty));
    const more = h("button", { type: "button", onclick: () => load(found.next) }, "Show more");
    refill(end, more);
    whenSeen(more, () => load(found.next), signal);
  }
  place.redraw = (id, row) => {
    const old = [...body.children].find((one) => one.dataset.id === id);
    old?.replaceWith(...(row ? [rowOf(row)] : []));
    if (!body.children.length && !end.children.length) refill(end, h("p.empty", empty));
  };
  load();
  return place;
}

function cellOf({ title, cell, class: kind, names }, row) {
  const is = names ? ["th", { scope: "row", role: "rowheader" }] : ["td", { role: "cell" }];
  return h(is[0], { ...is[1], class: kind, "data-title": title }, h("div", cell(row)));
}

/** Do something once when an element comes into view. */
function whenSeen(element, work, signal) {
  const watcher = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    watcher.disconnect();
    if (element.isConnected) work();
  }, { rootMargin: "200px" });
  watcher.observe(element);
  signal?.addEventListener("abort", () => watcher.disconnect());
}
