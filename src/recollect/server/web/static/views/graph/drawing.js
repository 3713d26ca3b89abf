// A graph as a drawing that is moved and zoomed: by pointer and wheel, by keys, and by the buttons beside it.

import { h, refill, svg } from "../../core/dom.js";
import { visible } from "../../core/format.js";
import { layout } from "./force.js";

const NAMED = 24; // characters of a name
const HEIGHT = 40;
const LABELLED = 16; // of more relations than that, names are shown for those that are looked at
const STEP = 60; // pixels that a key moves the drawing by
const CLOSER = 1.25;
const NARROW = 480; // pixels; there, the rings are taller than wide
const TALL = { x: 120, y: 150 };
const measured = document.createElement("canvas").getContext("2d");

/**
 * The drawing: `{node, draw(entities, relations)}`. `choose(entity)` is called for a box that is clicked on or
 * entered, `look(relations)` with those that are pointed at or of the box that has the focus.
 */
export function drawing({ words, choose, look }) {
  const canvas = svg("svg.graph", { role: "group", tabindex: "0",
    "aria-label": "Drawing of the relations. Arrow keys move it, plus and minus zoom, 0 shows all of it." });
  const view = camera(canvas);
  let places = new Map();
  let centre = null;

  function draw(entities, relations) {
    const same = entities[0].id === centre;
    centre = entities[0].id;
    const boxes = entities.map(boxOf);
    const links = relations.map(({ source, target }) => [source, target]);
    places = layout(boxes, links, same ? places : undefined, canvas.clientWidth < NARROW ? TALL : undefined);
    const at = new Map(boxes.map((box) => [box.id, { ...box, ...places.get(box.id) }]));
    const lines = edges(relations, at).map((edge) => line(edge, { words, look, named: relations.length <= LABELLED }));
    const lit = (id) => relations.filter(({ source, target }) => source === id || target === id);
    const light = (id, on) => {
      const found = lit(id);
      lines.forEach((drawn, number) => drawn.classList.toggle("lit", on && found.includes(relations[number])));
      if (on) look(found);
    };
    const nodes = entities.map((entity) => node(entity, at.get(entity.id), { choose, light, centre }));
    refill(canvas, arrow(), lines, nodes);
    view[same ? "keep" : "fit"]([...at.values()]);
  }

  const button = (title, sign, onclick) => h("button", { type: "button", "aria-label": title, title, onclick }, sign);
  const tools = h("div.tools", button("Zoom in", "+", () => view.zoom(1 / CLOSER)),
    button("Zoom out", "−", () => view.zoom(CLOSER)), button("Show all", "⤢", () => view.fit()));
  return { node: h("div.drawing", canvas, tools), draw, focus: () => canvas.querySelector(".node")?.focus() };
}

/** The name as it fits into a box. */
function label(name) {
  const shown = visible(name);
  return shown.length > NAMED ? `${shown.slice(0, NAMED - 1)}…` : shown;
}

function boxOf({ id, name, type }) {
  measured.font = "600 14px system-ui, sans-serif";
  const width = Math.max(measured.measureText(label(name)).width, measured.measureText(label(type)).width * 0.8);
  return { id, width: Math.ceil(width) + 28, height: HEIGHT };
}

function node(entity, { x, y, width, height }, { choose, light, centre }) {
  const isCentre = entity.id === centre;
  const enter = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    choose(entity);
  };
  const attributes = {
    transform: `translate(${x} ${y})`, tabindex: "0", role: "button", "data-type": entity.type,
    "aria-label": `${visible(entity.name)}, ${visible(entity.type)}`, "aria-current": isCentre && "true",
    onclick: () => choose(entity), onkeydown: enter,
    onfocus: () => light(entity.id, true), onblur: () => light(entity.id, false),
    onpointerenter: () => light(entity.id, true), onpointerleave: () => light(entity.id, false),
  };
  return svg(isCentre ? "g.node.centre" : "g.node", attributes,
    svg("title", visible(entity.name)),
    svg("rect", { x: -width / 2, y: -height / 2, width, height, rx: 10 }),
    svg("text.name", { y: -2 }, label(entity.name)), svg("text.type", { y: 13 }, label(entity.type)));
}

/** Each relation as a curve between the edges of its boxes; several between the same two bend apart. */
function edges(relations, at) {
  const seen = new Map();
  return relations.map((relation) => {
    const pair = [relation.source, relation.target].sort().join(" ");
    const number = seen.get(pair) ?? 0;
    seen.set(pair, number + 1);
    const [from, to] = [at.get(relation.source), at.get(relation.target)];
    const side = (number % 2 ? 1 : -1) * Math.ceil(number / 2) * 46 * (relation.source < relation.target ? 1 : -1);
    const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
    const bend = {
      x: (from.x + to.x) / 2 - ((to.y - from.y) / length) * side,
      y: (from.y + to.y) / 2 + ((to.x - from.x) / length) * side,
    };
    return { relation, start: border(from, bend), end: border(to, bend), bend };
  });
}

/** Where the way from the middle of a box to a point leaves it. */
function border(box, point) {
  const [dx, dy] = [point.x - box.x, point.y - box.y];
  const share = Math.min((box.width / 2 + 3) / Math.abs(dx || 1e-9), (box.height / 2 + 3) / Math.abs(dy || 1e-9), 1);
  return { x: box.x + dx * share, y: box.y + dy * share };
}

function line({ relation, start, end, bend }, { words, look, named }) {
  const way = `M${start.x} ${start.y}Q${bend.x} ${bend.y} ${end.x} ${end.y}`;
  const middle = { x: (start.x + end.x + 2 * bend.x) / 4, y: (start.y + end.y + 2 * bend.y) / 4 };
  return svg(named ? "g.edge.named" : "g.edge", { onpointerenter: () => look([relation]), "aria-hidden": "true" },
    svg("path.near", { d: way }), svg("path.way", { d: way, "marker-end": "url(#arrow)" }),
    svg("text", { x: middle.x, y: middle.y + 4 }, label(words(relation.type))));
}

function arrow() {
  const size = { viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 10, markerHeight: 10, orient: "auto" };
  const tip = svg("path", { d: "M0 0L10 5L0 10z" });
  return svg("defs", svg("marker", { id: "arrow", markerUnits: "userSpaceOnUse", ...size }, tip));
}

/** What part of the drawing is seen. */
function camera(canvas) {
  let seen = { x: 0, y: 0, width: 1, height: 1 };
  let all = [];
  const set = (next) => {
    seen = next;
    canvas.setAttribute("viewBox", `${seen.x} ${seen.y} ${seen.width} ${seen.height}`);
  };
  const scale = () => seen.width / (canvas.clientWidth || 1);
  const move = (x, y) => set({ ...seen, x: seen.x + x * scale(), y: seen.y + y * scale() });

  function fit(boxes = all) {
    all = boxes;
    const edge = (sign, axis, size) => Math.max(...boxes.map((box) => sign * box[axis] + box[size] / 2)) + 24;
    const [left, right] = [edge(-1, "x", "width"), edge(1, "x", "width")];
    const [top, bottom] = [edge(-1, "y", "height"), edge(1, "y", "height")];
    const shape = (canvas.clientHeight || 1) / (canvas.clientWidth || 1);
    const width = Math.max(left + right, (top + bottom) / shape, canvas.clientWidth * 0.9);
    set({ x: (right - left - width) / 2, y: (bottom - top - width * shape) / 2, width, height: width * shape });
  }

  /** Leave the view as it is, unless something new would be outside. */
  function keep(boxes) {
    const inside = ({ x, y, width, height }) => x - width / 2 >= seen.x && x + width / 2 <= seen.x + seen.width
      && y - height / 2 >= seen.y && y + height / 2 <= seen.y + seen.height;
    if (boxes.every(inside)) all = boxes;
    else fit(boxes);
  }

  function zoom(by, at = { x: 0.5, y: 0.5 }) {
    const width = Math.min(Math.max(seen.width * by, 120), 6000);
    const height = (seen.height * width) / seen.width;
    set({ x: seen.x + (seen.width - width) * at.x, y: seen.y + (seen.height - height) * at.y, width, height });
  }

  steered(canvas, { fit, move, zoom });
  new ResizeObserver(() => all.length && fit()).observe(canvas);
  return { fit, keep, zoom };
}

const KEYS = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] };

/** By keys, by the wheel, and by dragging. */
function steered(canvas, { fit, move, zoom }) {
  canvas.addEventListener("keydown", (event) => {
    if (KEYS[event.key]) move(...KEYS[event.key]);
    else if (event.key === "+" || event.key === "=") zoom(1 / CLOSER);
    else if (event.key === "-") zoom(CLOSER);
    else if (event.key === "0") fit();
    else return;
    event.preventDefault();
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const place = canvas.getBoundingClientRect();
    const at = { x: (event.clientX - place.left) / place.width, y: (event.clientY - place.top) / place.height };
    zoom(event.deltaY > 0 ? 1.1 : 1 / 1.1, at);
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    if (event.target.closest(".node") || event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    const drag = (moved) => move(-moved.movementX, -moved.movementY);
    const over = () => canvas.removeEventListener("pointermove", drag);
    canvas.addEventListener("pointermove", drag);
    canvas.addEventListener("lostpointercapture", over, { once: true });
  });
}
