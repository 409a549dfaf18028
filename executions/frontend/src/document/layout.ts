/** Places for tasks: made by dagre, each body for itself, containers as large as what is in them. */
import { graphlib, layout } from "@dagrejs/dagre";
import type { Point } from "./edits";
import { pathOf } from "./paths";
import { type Direction, type Drawing, directionOf, reach, sizeOf, type Types } from "./sizes";
import type { Body, BodyPath, Definition, Task } from "./types";

const NO_TYPES: Types = new Map();
const APART = { LR: { nodesep: 36, ranksep: 76 }, TB: { nodesep: 40, ranksep: 64 } } as const;
const BELOW = 60;

/** The document with a place for every task; those that have places keep them. */
export function arranged(document: Definition, types: Types = NO_TYPES): Definition {
  return { ...document, ...arrangedBody(document, [], drawingOf(types, directionOf(document))) };
}

/** The document laid out anew, to the right or downwards, which it remembers. */
export function tidied(
  document: Definition,
  direction: Direction,
  types: Types = NO_TYPES,
): Definition {
  const placed = tidiedBody(document, [], drawingOf(types, direction));
  return { ...document, ...placed, ui: { ...document.ui, direction } };
}

const drawingOf = (types: Types, direction: Direction): Drawing => ({
  types,
  direction,
  folded: () => false,
});

const isPlaced = (task: Task): boolean => task.ui?.x !== undefined && task.ui.y !== undefined;

function arrangedBody<T extends Body>(body: T, at: BodyPath, drawing: Drawing): T {
  const inner = withInner(body, at, (one, path) => arrangedBody(one, path, drawing));
  const lacking = inner.tasks.filter((task) => !isPlaced(task));
  if (lacking.length === 0) return inner;
  if (lacking.length === inner.tasks.length) return withPlaces(inner, placesIn(inner, at, drawing));
  const kept = { ...inner, tasks: inner.tasks.filter(isPlaced) };
  const foot = footOf(kept, at, drawing);
  return withPlaces(inner, placesIn({ ...inner, tasks: lacking }, at, drawing, foot));
}

function tidiedBody<T extends Body>(body: T, at: BodyPath, drawing: Drawing): T {
  const inner = withInner(body, at, (one, path) => tidiedBody(one, path, drawing));
  return withPlaces(inner, placesIn(inner, at, drawing));
}

function withInner<T extends Body>(
  body: T,
  at: BodyPath,
  change: (body: Body, at: BodyPath) => Body,
): T {
  if (!body.tasks.some((task) => task.body)) return body;
  const tasks = body.tasks.map((task) =>
    task.body ? { ...task, body: change(task.body, [...at, task.id]) } : task,
  );
  return { ...body, tasks };
}

function withPlaces<T extends Body>(body: T, places: ReadonlyMap<string, Point>): T {
  const tasks = body.tasks.map((task) => {
    const place = places.get(task.id);
    return place ? { ...task, ui: { ...task.ui, ...place } } : task;
  });
  return { ...body, tasks };
}

/** A line below all that has a place. */
function footOf(body: Body, at: BodyPath, drawing: Drawing): Point {
  const boxes = body.tasks.map((task) => ({
    x: task.ui?.x ?? 0,
    y: task.ui?.y ?? 0,
    ...sizeOf(task, pathOf(at, task.id), body, drawing),
  }));
  return { x: Math.min(...boxes.map((box) => box.x)), y: reach(boxes).h + BELOW };
}

function placesIn(
  body: Body,
  at: BodyPath,
  drawing: Drawing,
  from: Point = { x: 0, y: 0 },
): Map<string, Point> {
  const graph = new graphlib.Graph();
  graph.setGraph({ rankdir: drawing.direction, ...APART[drawing.direction] });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const task of body.tasks) {
    const { w, h } = sizeOf(task, pathOf(at, task.id), body, drawing);
    graph.setNode(task.id, { width: w, height: h });
  }
  for (const edge of body.edges ?? []) {
    if (graph.hasNode(edge.from) && graph.hasNode(edge.to)) graph.setEdge(edge.from, edge.to);
  }
  layout(graph);
  const place = (id: string): Point => {
    const { x, y, width, height } = graph.node(id);
    return { x: Math.round(from.x + x - width / 2), y: Math.round(from.y + y - height / 2) };
  };
  return new Map(body.tasks.map((task) => [task.id, place(task.id)]));
}
