// Charts: lines, stacked bars and sparklines, with their numbers in a table for those who do not see the drawing.

import { h, isNarrow, svg } from "../../core/dom.js";
import { number } from "../../core/format.js";
import { table } from "../../parts/table.js";

const WIDE = { width: 640, dates: 4 }; // with at most so many labels under the axis
const NARROW = { width: 340, dates: 2 };
const HEIGHT = 220;
const LEFT = 56; // where the axes are
const TOP = 12;
const BOTTOM = HEIGHT - 26;
const ROUND = [1, 2, 2.5, 5, 10];
const FEW = 24; // points up to which each has a mark
const SHAPES = [
  "M-4 0A4 4 0 1 0 4 0A4 4 0 1 0 -4 0", "M-3.5 -3.5H3.5V3.5H-3.5z", "M0 -5L5 4H-5z", "M0 -5L5 0L0 5L-5 0z",
  "M0 5L5 -4H-5z", "M-5 -1.5H-1.5V-5H1.5V-1.5H5V1.5H1.5V5H-1.5V1.5H-5z",
]; // each series has its own mark, so that colour is not all that tells them apart

/**
 * `{title, labels, series: [{name, values}], write, stacked}`: a line for each series over the labels, or with
 * `stacked` a bar for each label. A value of null is a gap. `write` turns a value into text.
 */
export function chart({ title, labels, series, write = number, stacked = false }) {
  const values = stacked ? labels.map((_, place) => sum(series, place)) : series.flatMap((one) => one.values);
  const ticks = rounded(Math.max(0, ...values));
  const { width, dates } = isNarrow() ? NARROW : WIDE;
  const right = width - 12;
  const scales = {
    x: stacked ? (place) => LEFT + ((right - LEFT) * (place + 0.5)) / labels.length
      : (place) => LEFT + ((right - LEFT) * place) / Math.max(1, labels.length - 1),
    y: (value) => BOTTOM - ((BOTTOM - TOP) * value) / ticks.at(-1),
    bar: ((right - LEFT) / labels.length) * 0.7,
    right,
  };
  const name = `${title}. The numbers are in the table below.`;
  return h("figure.chart", h("figcaption", h("h3", title), legend(series)),
    svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": name },
      ticks.map((value) => tick(value, scales, write)),
      spaced(labels, dates).map((place) => label(place, labels, scales)),
      series.map((one, place) => (stacked ? bars(series, place, labels, scales) : line(one.values, place, scales)))),
    numbers(title, labels, series, write));
}

/** A line as small as a word; what it says is said beside it. */
export function sparkline(values) {
  const top = Math.max(1, ...values);
  const step = 100 / Math.max(1, values.length - 1);
  const points = values.map((value, place) => `${place * step},${22 - (20 * value) / top}`).join(" ");
  return svg("svg.sparkline", { viewBox: "0 0 100 24", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("polyline", { points }));
}

const sum = (series, place) => series.reduce((total, { values }) => total + (values[place] ?? 0), 0);

/** Few round numbers from 0 to at least `most`. */
function rounded(most) {
  if (most <= 0) return [0, 1];
  const power = 10 ** Math.floor(Math.log10(most / 4));
  const step = power * ROUND.find((one) => one * power * 4 >= most);
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, place) => Number((place * step).toPrecision(6)));
}

function tick(value, { y, right }, write) {
  const at = y(value);
  const text = svg("text.value", { x: LEFT - 8, y: at + 4 }, write(value));
  return [svg("line.grid", { x1: LEFT, x2: right, y1: at, y2: at }), text];
}

/** Which labels are written, the last of them always. */
function spaced(labels, most) {
  const step = Math.ceil(labels.length / most);
  return labels.map((_, place) => place).filter((place) => (labels.length - 1 - place) % step === 0);
}

function label(place, labels, { x, right }) {
  const last = place === labels.length - 1;
  const [at, anchor] = last ? [right, "end"] : place === 0 ? [LEFT, "start"] : [x(place), "middle"];
  return svg("text", { x: at, y: HEIGHT - 6, "text-anchor": anchor }, labels[place]);
}

function line(values, place, { x, y }) {
  const known = values.map((value, at) => ({ at, value })).filter(({ value }) => value !== null);
  const alone = ({ at }) => at === 0 || values[at - 1] === null;
  const way = known.map((one) => `${alone(one) ? "M" : "L"}${x(one.at)} ${y(one.value)}`).join("");
  const marked = known.filter((one) => known.length <= FEW || one === known.at(-1) || alone(one));
  return svg(`g.series-${place}`, svg("path", { d: way }), marked.map(({ at, value }) => mark(place, x(at), y(value))));
}

function mark(place, x, y) {
  return svg("path.mark", { d: SHAPES[place % SHAPES.length], transform: `translate(${x} ${y})` });
}

function bars(series, number, labels, { x, y, bar }) {
  const { name, values } = series[number];
  const drawn = labels.map((title, place) => {
    const below = sum(series.slice(0, number), place);
    const [top, bottom] = [y(below + (values[place] ?? 0)), y(below)];
    const size = { x: x(place) - bar / 2, width: bar, y: top, height: bottom - top };
    return bottom > top && svg("rect", size, svg("title", `${title}: ${name}`));
  });
  return svg(`g.series-${number}`, drawn);
}

function legend(series) {
  const size = { viewBox: "-8 -8 16 16", "aria-hidden": "true" };
  const key = (place) => svg(`svg.series-${place}`, size, mark(place, 0, 0));
  return h("ul.legend", series.map(({ name }, place) => h("li", key(place), name)));
}

function numbers(title, labels, series, write) {
  const cell = (value) => (value === null || value === undefined ? "–" : write(value));
  const columns = series.map(({ name, values }) => (
    { title: name, class: "number", cell: (place) => cell(values[place]) }));
  const day = { title: "Day", names: true, cell: (place) => labels[place] };
  const days = table({ caption: title, rows: [...labels.keys()], columns: [day, ...columns] });
  Object.assign(days, { tabIndex: 0, role: "region", ariaLabel: `Numbers of ${title}` }); // keys scroll it
  return h("details", h("summary", "The numbers"), days);
}
