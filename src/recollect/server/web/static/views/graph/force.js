// Where the boxes of a graph stand: the same graph always looks the same, and no box is on top of another.

const GAP = 16; // between boxes
const ROUNDS = 240;
const HOMESICK = 0.03; // how much of the way home a box goes in each round
const CROWD = 9; // from so many on, a ring is two rows deep
const TURN = 2 * Math.PI;

/**
 * The place `{x, y}` of each box, by id. `boxes` are `{id, width, height}`, the first of them the centre; `links`
 * are pairs of ids. Boxes that are `kept`, places by id, stay where they are: what is new goes around them. `reach`
 * is how far away the first ring is, to the side and up.
 */
export function layout(boxes, links, kept = new Map(), reach = { x: 200, y: 135 }) {
  const homes = rings(boxes, links, reach);
  const moving = boxes.map((box) => ({ ...box, ...(kept.get(box.id) ?? homes.get(box.id)), home: homes.get(box.id),
    fixed: box === boxes[0] || kept.has(box.id) }));
  for (let round = 0; round < ROUNDS && apart(moving); round += 1) moving.forEach(homewards);
  return new Map(moving.map(({ id, x, y }) => [id, { x, y }]));
}

/** Circles around the centre, a further one for each step; each box has a wedge, as wide as what is behind it. */
function rings(boxes, links, reach) {
  const children = tree(boxes, links);
  const homes = new Map([[boxes[0].id, { x: 0, y: 0 }]]);
  const weight = (id) => children.get(id).reduce((sum, child) => sum + weight(child), 0) || 1;

  function place(id, from, to, step) {
    const inner = children.get(id);
    const total = inner.reduce((sum, child) => sum + weight(child), 0);
    const room = step === 1 ? Math.max(1, inner.length / CROWD) ** 0.35 : 1;
    let angle = from;
    inner.forEach((child, number) => {
      const width = ((to - from) * weight(child)) / total;
      const row = step === 1 && inner.length >= CROWD && number % 2 ? 1.5 : 1;
      const middle = angle + width / 2;
      const radius = (1 + (step - 1) * 0.85) * row * room;
      homes.set(child, { x: reach.x * radius * Math.cos(middle), y: reach.y * radius * Math.sin(middle) });
      place(child, angle, angle + width, step + 1);
      angle += width;
    });
  }
  place(boxes[0].id, -TURN / 4, TURN * 0.75, 1);
  return homes;
}

/** For each id those that are reached first from it, going out from the centre. */
function tree(boxes, links) {
  const children = new Map(boxes.map(({ id }) => [id, []]));
  const reached = new Set([boxes[0].id]);
  for (const id of reached) {
    for (const [one, other] of links) {
      const next = one === id ? other : other === id ? one : null;
      if (next === null || reached.has(next) || !children.has(next)) continue;
      reached.add(next);
      children.get(id).push(next);
    }
  }
  const lost = boxes.filter(({ id }) => !reached.has(id)).map(({ id }) => id);
  children.get(boxes[0].id).push(...lost);
  return children;
}

function homewards(box) {
  if (box.fixed) return;
  box.x += (box.home.x - box.x) * HOMESICK;
  box.y += (box.home.y - box.y) * HOMESICK;
}

/** Push apart whatever overlaps; whether anything did. */
function apart(boxes) {
  let moved = false;
  boxes.forEach((one, number) => {
    for (const other of boxes.slice(number + 1)) {
      const across = (one.width + other.width) / 2 + GAP - Math.abs(one.x - other.x);
      const down = (one.height + other.height) / 2 + GAP - Math.abs(one.y - other.y);
      if (across <= 0.5 || down <= 0.5 || (one.fixed && other.fixed)) continue;
      moved = true;
      push(one, other, across < down ? "x" : "y", Math.min(across, down));
    }
  });
  return moved;
}

function push(one, other, axis, by) {
  const sign = one[axis] < other[axis] || (one[axis] === other[axis] && one.id < other.id) ? 1 : -1;
  if (!one.fixed) one[axis] -= sign * (other.fixed ? by : by / 2);
  if (!other.fixed) other[axis] += sign * (one.fixed ? by : by / 2);
}
