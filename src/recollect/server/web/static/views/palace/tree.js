// A tree of any size, loaded as it is opened and as it is scrolled. Only the rows that are seen are elements: rows
// are of one height, so what is seen follows from how far it is scrolled.
//
// It follows the ARIA tree pattern, flat (levels are told, not nested) and with the focus on the row itself: the
// arrow keys and type-ahead then work as in any tree, and with a screen reader a hundred thousand rows are one
// stop of the Tab key. Nested lists of buttons would make each row a stop, and could not be cut to what is seen.

import { h, refill } from "../../core/dom.js";
import { trying } from "../../parts/toast.js";

const ROW = 3.25; // rem: who has larger letters has higher rows
const BEYOND = 8; // rows that are kept above and below what is seen
const TYPED = 700; // milliseconds between letters of one word

/**
 * `load(node, after)` gives `{nodes, more}`: what is in a node (null: at the top) behind a number. A node has a
 * `number`, a `name`, and `leaf` when nothing is in it; `gone` when it is there no more. `face(node)` gives what its row shows, `chosen(node)` is
 * called for a leaf.
 */
export function tree({ label, load, face, chosen, signal }) {
  const root = { level: 0, node: null, open: true, seen: 0 };
  const rows = [];
  const shown = new Map();
  const list = h("div.rows", { role: "tree", "aria-label": label, onkeydown: press, onfocusin: focused });
  const box = h("div.tree", { onscroll: () => requestAnimationFrame(draw) }, list);
  const typed = { text: "", at: 0 };
  let active = null;
  let selected = null;
  let high = 1; // a row, in pixels
  let moved = 0; // how often somebody went somewhere
  new ResizeObserver(draw).observe(box);

  // Rows that are no node: what is still to be loaded, and what to do about what is not.
  const waiting = (parent, after) => ({ parent, level: parent.level + 1, label: "Loading…", waits: true, after });
  const offer = (parent, label, act) => ({ parent, level: parent.level + 1, label, act });

  async function bring(row) {
    row.asked = true;
    const { parent, after } = row;
    const found = await trying(() => load(parent.node, after));
    const at = rows.indexOf(row);
    if (at < 0 || signal.aborted) return; // it was closed meanwhile
    const again = () => renew(parent, after);
    const come = found ? below(parent, found) : [offer(parent, "This could not be loaded. Try again.", again)];
    const within = list.contains(document.activeElement) && active === row;
    if (active === row) active = come[0] ?? rows[at - 1] ?? null;
    rows.splice(at, 1, ...come);
    draw();
    if (within) focus(active);
  }

  function below(parent, { nodes, more }) {
    const level = parent.level + 1;
    const come = nodes.map((node) => ({ parent, level, node, open: false, position: (parent.seen += 1) }));
    parent.whole = !more && !parent.cut;
    if (more) come.push(waiting(parent, nodes.at(-1).number));
    if (!parent.seen && parent.node) come.push(offer(parent, "Nothing is left here.", () => {}));
    return come;
  }

  /** Load what is in a row anew, from behind a number. */
  function renew(parent, after) {
    const start = parent === root ? 0 : rows.indexOf(parent) + 1;
    const wait = waiting(parent, after);
    parent.seen = 0;
    parent.cut = Boolean(after);
    const first = parent.cut ? [offer(parent, "Show from the beginning", () => renew(parent)), wait] : [wait];
    rows.splice(start, end(parent) - start, ...first);
    if (!rows.includes(active)) active = parent === root ? rows[0] : parent;
    const brought = bring(wait);
    draw();
    return brought;
  }

  function end(parent) {
    let at = parent === root ? 0 : rows.indexOf(parent) + 1;
    while (at < rows.length && rows[at].level > parent.level) at += 1;
    return at;
  }

  function open(row) {
    row.open = true;
    return renew(row);
  }

  function close(row) {
    row.open = false;
    const start = rows.indexOf(row) + 1;
    rows.splice(start, end(row) - start);
    if (!rows.includes(active)) active = row;
    draw();
  }

  function use(row) {
    active = row;
    if (row.act) {
      row.act();
      focus(active); // what was used may be gone
    } else if (row.node?.leaf) choose(row);
    else if (row.node) row.open ? close(row) : open(row);
  }

  function choose(row) {
    selected = row;
    draw();
    chosen(row.node);
  }

  // What is seen

  function draw() {
    high = ROW * parseFloat(getComputedStyle(document.documentElement).fontSize);
    const first = Math.max(0, Math.floor(box.scrollTop / high) - BEYOND);
    const last = Math.min(rows.length, Math.ceil((box.scrollTop + box.clientHeight) / high) + BEYOND);
    active ??= rows[0] ?? null;
    const seen = Array.from({ length: Math.max(0, last - first) }, (_, place) => first + place);
    const held = rows.indexOf(active); // the focus stays on a row that is scrolled away
    if (held >= 0 && held < first) seen.unshift(held);
    if (held >= last) seen.push(held);
    const kept = new Set(seen.map((index) => rows[index]));
    for (const [row, element] of shown) if (!kept.has(row)) { element.remove(); shown.delete(row); }
    list.style.height = `${rows.length * high}px`;
    let next = list.firstElementChild;
    for (const index of seen) {
      const element = drawn(rows[index], index);
      if (element === next) next = next.nextElementSibling;
      else list.insertBefore(element, next);
    }
    for (const index of seen) if (rows[index].waits && !rows[index].asked) bring(rows[index]);
  }

  function drawn(row, index) {
    if (!shown.has(row)) shown.set(row, made(row));
    const element = shown.get(row);
    element.style.top = `${index * high}px`;
    element.tabIndex = row === active ? 0 : -1;
    if (row.node && !row.node.leaf) element.setAttribute("aria-expanded", String(row.open));
    if (row.node?.leaf) element.setAttribute("aria-selected", String(row === selected));
    if (row.position) {
      element.setAttribute("aria-posinset", String(row.position));
      element.setAttribute("aria-setsize", String(row.parent.whole ? row.parent.seen : -1));
    }
    return element;
  }

  function made(row) {
    const onclick = () => { moved += 1; use(row); focus(row); };
    const element = h("div.treeitem", { role: "treeitem", "aria-level": row.level, onclick },
      row.node ? face(row.node) : h("span.quiet", row.label));
    element.style.setProperty("--level", String(row.level));
    element.style.height = `${ROW}rem`;
    if (row.waits) element.setAttribute("aria-busy", "true");
    return element;
  }

  // Going about by keyboard

  function focused(event) {
    const row = [...shown].find(([, element]) => element === event.target)?.[0];
    if (!row || row === active) return;
    active = row;
    draw();
  }

  function focus(row) {
    if (!row || !rows.includes(row)) return;
    active = row;
    bringIntoView(rows.indexOf(row));
    draw();
    shown.get(row).focus({ preventScroll: true });
  }

  function bringIntoView(index) {
    const top = index * high;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + high > box.scrollTop + box.clientHeight) box.scrollTop = top + high - box.clientHeight;
  }

  const seenAtOnce = () => Math.max(1, Math.floor(box.clientHeight / high) - 1);
  const step = (by) => focus(rows[Math.min(rows.length - 1, Math.max(0, rows.indexOf(active) + by))]);
  const KEYS = {
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    PageDown: () => step(seenAtOnce()),
    PageUp: () => step(-seenAtOnce()),
    Home: () => focus(rows[0]),
    End: () => focus(rows.at(-1)),
    Enter: () => use(active),
    " ": () => use(active),
    ArrowRight: () => (active.open ? step(1) : active.node && !active.node.leaf && open(active)),
    ArrowLeft: () => (active.open ? close(active) : active.parent !== root && focus(active.parent)),
  };

  function press(event) {
    if (!active || event.ctrlKey || event.metaKey || event.altKey) return;
    moved += 1;
    if (KEYS[event.key]) KEYS[event.key]();
    else if (event.key.length === 1) look(event);
    else return;
    event.preventDefault();
  }

  /** To the next row whose name begins with what is typed. */
  function look({ key, timeStamp }) {
    typed.text = timeStamp - typed.at < TYPED ? typed.text + key.toLowerCase() : key.toLowerCase();
    typed.at = timeStamp;
    const from = rows.indexOf(active) + (typed.text.length === 1 ? 1 : 0);
    const order = [...rows.slice(from), ...rows.slice(0, from)];
    focus(order.find(({ node }) => node?.name.toLowerCase().startsWith(typed.text)));
  }

  /** Open the way along these numbers, level by level, to a row; true when it is there. Whoever goes their own way
   * meanwhile is not led on. */
  async function reveal(numbers) {
    let parent = root;
    const before = moved;
    const child = (number) => rows.find((row) => row.parent === parent && row.node?.number === number);
    for (const number of numbers) {
      if (!child(number)) await renew(parent, number > 1 ? number - 1 : undefined);
      const row = child(number);
      if (!row || signal.aborted || moved !== before) return false;
      if (!row.node.leaf && !row.open) await open(row);
      if (moved !== before) return false;
      if (row.node.leaf) selected = row;
      active = parent = row;
    }
    box.scrollTop = (rows.indexOf(active) - seenAtOnce() / 2) * high;
    draw();
    return true;
  }

  /** The rows along these numbers, and what is in the last of them, as they are now. */
  async function refresh(numbers) {
    const way = [root];
    for (const number of numbers) {
      const row = rows.find(({ parent, node }) => parent === way.at(-1) && node?.number === number);
      if (!row) break;
      way.push(row);
    }
    if (way.length > numbers.length && way.at(-1).open) await renew(way.at(-1));
    for (const row of way.slice(1).reverse()) await retell(row);
  }

  async function retell(row) {
    const { number } = row.node;
    const found = await trying(() => load(row.parent.node, number > 1 ? number - 1 : undefined));
    if (!found) return;
    const now = found.nodes.find((node) => node.number === number);
    row.node = now ?? { ...row.node, gone: true };
    if (shown.has(row)) refill(shown.get(row), face(row.node));
  }

  return {
    element: box,
    start: () => renew(root),
    reveal,
    focus: () => focus(active),
    isEmpty: () => !rows.length,
    refresh,
    clear: () => { selected = null; draw(); },
  };
}
