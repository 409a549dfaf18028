// Paints the graph on a canvas: only what is seen, and only as fine as can be read.
import { meet } from "./camera.js";
import { badge, taken } from "./graph_states.js";
import { NOT_BEGUN, markOf } from "./states.js";

const READABLE = 0.42;
const LEAST_NAMED = 44; // pixels of the screen
const RADIUS = 6;
const ICONS = '"Material Symbols Outlined"';
const FONT = "Inter, sans-serif";
const DASHED = new Set(["FAILED", "DLQ", "TIMEOUT"]);

/** The theme's colours, read from the page's own variables. */
export function colours(element) {
  const style = getComputedStyle(element);
  const read = (name) => style.getPropertyValue(name).trim();
  return {
    grey: read("--vk-grey"),
    blue: read("--vk-blue"),
    amber: read("--vk-amber"),
    green: read("--vk-green"),
    red: read("--vk-red"),
    line: read("--vm-edge"),
    faint: read("--vm-faint"),
    text: read("--vk-text"),
    subtle: read("--vk-subtle"),
    box: read("--vm-box"),
    inside: read("--vm-inside"),
    chosen: read("--vm-chosen"),
  };
}

/** Paint all; `graph` is indexed, `states` from `statesOf`, `marked` the tasks a search found. */
export function paint(canvas, context, { graph, states, camera, colour, chosen, marked, ratio }) {
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.setTransform(camera.scale * ratio, 0, 0, camera.scale * ratio, camera.x * ratio, camera.y * ratio);
  const seen = camera.seen();
  const nodes = graph.nodes.filter((node) => meet(node, seen));
  const fine = camera.scale >= READABLE;
  for (const node of nodes) if (node.container) frame(context, node, states.get(node.path), colour, camera.scale);
  edges(context, graph, states, seen, colour, camera.scale, fine);
  for (const node of nodes) if (!node.container) box(context, node, states.get(node.path), colour, fine, camera.scale);
  for (const node of nodes) if (node.container && fine) head(context, node, states.get(node.path), colour);
  for (const node of nodes) {
    if (marked.has(node.path)) outline(context, node, colour.amber, camera.scale, [6, 4]);
    if (node.path === chosen) outline(context, node, colour.chosen, camera.scale, []);
  }
}

const markOfNode = (state) => (state?.state ? markOf(state.state) : NOT_BEGUN);

function shape(context, node, radius = RADIUS) {
  context.beginPath();
  context.roundRect(node.x, node.y, node.w, node.h, radius);
}

function outline(context, node, colour, scale, dash) {
  const gap = 4 / Math.min(1, scale);
  context.lineWidth = 3 / Math.min(1, scale);
  context.strokeStyle = colour;
  context.setLineDash(dash.map((length) => length / scale));
  context.beginPath();
  context.roundRect(node.x - gap, node.y - gap, node.w + 2 * gap, node.h + 2 * gap, RADIUS + gap);
  context.stroke();
  context.setLineDash([]);
}

function frame(context, node, state, colour, scale) {
  shape(context, node, RADIUS * 1.5);
  context.fillStyle = colour.inside;
  context.fill();
  context.lineWidth = 1.5 / Math.min(1, scale * 1.5);
  context.strokeStyle = state?.state ? colour[markOf(state.state).colour] : colour.faint;
  context.setLineDash(DASHED.has(state?.state) ? [7, 5] : []);
  context.stroke();
  context.setLineDash([]);
}

// All edges of a kind in one stroke: two thousand of them are then no work.
function edges(context, graph, states, seen, colour, scale, fine) {
  const kinds = { taken: new Path2D(), not: new Path2D() };
  const labels = [];
  for (const edge of graph.edges) {
    edge.bounds ??= bounds(edge.points);
    if (!meet(edge.bounds, seen)) continue;
    const was = taken(edge, states);
    curve(was ? kinds.taken : kinds.not, edge.points, fine);
    if (fine && edge.label) labels.push([edge, was]);
  }
  context.lineWidth = Math.max(1.2, 0.8 / scale);
  context.strokeStyle = colour.faint;
  context.setLineDash([4 / Math.min(1, scale), 4 / Math.min(1, scale)]);
  context.stroke(kinds.not);
  context.setLineDash([]);
  context.lineWidth = Math.max(2, 1.4 / scale);
  context.strokeStyle = colour.line;
  context.stroke(kinds.taken);
  for (const [edge, was] of labels) label(context, edge, was ? colour.text : colour.subtle, colour);
}

function bounds(points) {
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [x, y] = [Math.min(...xs) - 8, Math.min(...ys) - 8];
  return { x, y, w: Math.max(...xs) + 16 - x, h: Math.max(...ys) + 16 - y };
}

function curve(path, points, fine) {
  path.moveTo(...points[0]);
  for (let index = 1; index < points.length; index += 1) {
    const [[x0, y0], [x, y]] = [points[index - 1], points[index]];
    const bend = Math.max(16, (x - x0) / 2);
    if (x <= x0 || y === y0 || x0 === x) path.lineTo(x, y);
    else path.bezierCurveTo(x0 + bend, y0, x - bend, y, x, y);
  }
  if (!fine) return;
  const [x, y] = points[points.length - 1];
  path.moveTo(x - 7, y - 4);
  path.lineTo(x, y);
  path.lineTo(x - 7, y + 4);
}

function label(context, edge, text, colour) {
  const [x, y] = edge.points[edge.points.length - 1];
  context.font = `500 11px ${FONT}`;
  const width = context.measureText(edge.label).width + 8;
  context.fillStyle = colour.box;
  context.fillRect(x - width - 10, y - 8, width, 16);
  context.fillStyle = text;
  context.textAlign = "left";
  context.fillText(edge.label, x - width - 6, y + 4);
}

function box(context, node, state, colour, fine, scale) {
  const mark = markOfNode(state);
  const own = colour[mark.colour];
  shape(context, node);
  context.fillStyle = colour.box;
  context.fill();
  context.lineWidth = (state?.state ? 2 : 1.2) / Math.min(1, scale * 1.6);
  context.strokeStyle = state?.state ? own : colour.faint;
  context.setLineDash(DASHED.has(state?.state) ? [6, 4] : []);
  context.stroke();
  context.setLineDash([]);
  if (!fine) {
    coarse(context, node, state, own);
    return beneath(context, node, colour, scale);
  }
  symbol(context, mark.icon, own, node.x + 10, node.y + 24, 18);
  text(context, node.title, node.x + 34, node.y + 20, node.w - 42, `600 13px ${FONT}`, colour.text);
  const told = state && state.runs > 1 && state.turns === null && node.parent ? `${mark.word} · ${state.runs} runs` : mark.word;
  if (node.steps.length === 1) text(context, `${told} · ${node.steps[0].module}`, node.x + 34, node.y + 37, node.w - 42, `11px ${FONT}`, colour.subtle);
  else node.steps.forEach((step, index) => row(context, node, step, state?.steps.get(step.path), index, colour));
}

// Too small to be read: what is wrong is crossed, what runs half full, what is done full.
function coarse(context, node, state, own) {
  if (!state?.state) return;
  context.fillStyle = own;
  const share = { SUCCESS: 1, RUNNING: 0.5, LEASED: 0.5, WAITING: 0.25 }[state.state] ?? 0;
  context.globalAlpha = 0.75;
  context.fillRect(node.x, node.y, node.w * share, node.h);
  context.globalAlpha = 1;
  if (!DASHED.has(state.state)) return;
  context.lineWidth = node.h / 7;
  context.strokeStyle = own;
  context.beginPath();
  context.moveTo(node.x, node.y);
  context.lineTo(node.x + node.w, node.y + node.h);
  context.moveTo(node.x + node.w, node.y);
  context.lineTo(node.x, node.y + node.h);
  context.stroke();
}

// A box too small for its words has its name below, in letters that keep their size on the screen.
function beneath(context, node, colour, scale) {
  if (node.w * scale < LEAST_NAMED) return;
  text(context, node.title, node.x, node.y + node.h + 13 / scale, node.w + 12 / scale, `500 ${11 / scale}px ${FONT}`, colour.text);
}

function row(context, node, step, run, index, colour) {
  const y = node.y + 30 + 24 * index;
  const mark = run ? markOf(run.state) : NOT_BEGUN;
  symbol(context, mark.icon, colour[mark.colour], node.x + 34, y + 16, 14);
  const name = step.path.slice(step.path.lastIndexOf(".") + 1);
  text(context, `${name} · ${step.module}`, node.x + 54, y + 15, node.w - 62, `11px ${FONT}`, colour.subtle);
}

function head(context, node, state, colour) {
  const mark = markOfNode(state);
  symbol(context, node.container === "loop" ? "repeat" : "apps", colour[mark.colour], node.x + 12, node.y + 26, 18);
  text(context, node.title, node.x + 36, node.y + 21, node.w - 46, `600 13px ${FONT}`, colour.text);
  const turns = state?.turns ? badge(state.turns) : `${mark.word} · ${node.container}`;
  text(context, turns, node.x + 36, node.y + 39, node.w - 46, `12px ${FONT}`, state?.turns?.failed || state?.turns?.dead ? colour.red : colour.subtle);
}

function symbol(context, name, colour, x, y, size) {
  context.font = `${size}px ${ICONS}`;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillStyle = colour;
  context.fillText(name, x, y);
  context.textBaseline = "alphabetic";
}

const clipped = new Map();

function text(context, words, x, y, room, font, colour) {
  context.font = font;
  context.fillStyle = colour;
  context.textAlign = "left";
  context.fillText(clip(context, words, room, font), x, y);
}

// Measuring is slow and the same each time: what fits is kept, up to a bound.
function clip(context, words, room, font) {
  const key = `${font}|${room}|${words}`;
  const kept = clipped.get(key);
  if (kept !== undefined) return kept;
  let [low, high] = [0, words.length];
  if (context.measureText(words).width <= room) low = high;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${words.slice(0, middle)}…`).width <= room) low = middle;
    else high = middle - 1;
  }
  const fits = low === words.length ? words : `${words.slice(0, low)}…`;
  if (clipped.size > 8000) clipped.clear();
  clipped.set(key, fits);
  return fits;
}
