/**
 * Positions of tasks. Dagre lays out each body separately; a container is as large as its content.
 *
 * Dagre's time grows with the square of the body's size, and its stack depth with the body's
 * length. `layers.ts` and `columns.ts` therefore lay out large bodies.
 */
import { graphlib, layout } from "@dagrejs/dagre";
import { banded, narrowlyBanded } from "./bands";
import { placed } from "./columns";
import type { Point } from "./edits";
import { layered } from "./layers";
import { pathOf } from "./paths";
import {
  type Direction,
  type Drawing,
  directionOf,
  reach,
  type Size,
  sizeOf,
  type Types,
} from "./sizes";
import type { Body, BodyPath, Definition, Edge, Task } from "./types";

const NO_TYPES: Types = new Map();
const APART = {
  LR: { nodesep: 36, ranksep: 76 },
  TB: { nodesep: 40, ranksep: 64 },
} as const;
const BELOW = 60;
const LANE = {
  LR: { width: 1, height: 190, labelpos: "c" },
  TB: { width: 320, height: 1, labelpos: "c" },
} as const;
/** Maximum number of tasks and edges of a body for dagre, which is too slow above it. */
const MANY = 300;
const NONE: ReadonlySet<Edge> = new Set();
const NO_LANE = { width: 0, height: 0, labelpos: "c" } as const;

/** Give a position to each task that has none; the other tasks keep theirs. */
export function arranged(document: Definition, types: Types = NO_TYPES): Definition {
  return { ...document, ...arrangedBody(document, [], drawingOf(types, directionOf(document))) };
}

/** Lay out all tasks again, to the right or downwards, and store the direction in the document. */
export function tidied(
  document: Definition,
  direction: Direction,
  types: Types = NO_TYPES,
): Definition {
  const placed = tidiedBody(document, [], drawingOf(types, direction));
  return { ...document, ...placed, ui: { ...document.ui, direction } };
}

/**
 * Lay out the document to the right for a read-only graph. Long lines of tasks continue below; on a
 * narrow screen shorter ones do, too.
 */
export function overview(
  document: Definition,
  types: Types = NO_TYPES,
  narrow = false,
): Definition {
  const shape = narrow ? narrowlyBanded : banded;
  return { ...document, ...tidiedBody(document, [], drawingOf(types, "LR"), shape) };
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

type Shaping = typeof banded;
const AS_IT_IS: Shaping = (places) => places;

function tidiedBody<T extends Body>(
  body: T,
  at: BodyPath,
  drawing: Drawing,
  shape: Shaping = AS_IT_IS,
): T {
  const inner = withInner(body, at, (one, path) => tidiedBody(one, path, drawing, shape));
  const sizes = sizesIn(inner, at, drawing);
  return withPlaces(inner, shape(placesIn(inner, at, drawing), sizes));
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

/** Return the start of a free line below all tasks that have positions. */
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
  const sizes = sizesIn(body, at, drawing);
  const edges = (body.edges ?? []).filter((edge) => sizes.has(edge.from) && sizes.has(edge.to));
  if (sizes.size + edges.length > MANY) return fast(sizes, edges, drawing.direction, from);
  const first = solved(sizes, edges, drawing.direction, NONE);
  const passing = passingBy(first, edges, drawing.direction);
  const nodes = passing.size > 0 ? solved(sizes, edges, drawing.direction, passing) : first;
  return flush(nodes, drawing.direction, from);
}

const sizesIn = (body: Body, at: BodyPath, drawing: Drawing): Map<string, Size> =>
  new Map(body.tasks.map((task) => [task.id, sizeOf(task, pathOf(at, task.id), body, drawing)]));

/** Return the upper left corners of a large body's tasks. */
function fast(
  sizes: ReadonlyMap<string, Size>,
  edges: readonly Edge[],
  direction: Direction,
  from: Point,
): Map<string, Point> {
  const ids = [...sizes.keys()];
  const numbers = new Map(ids.map((id, number) => [id, number]));
  const number = (id: string): number => numbers.get(id) ?? 0;
  const pairs = edges.map((edge) => [number(edge.from), number(edge.to)] as const);
  const { nodesep: down, ranksep: across } = APART[direction];
  const turned = direction === "TB";
  const boxes = [...sizes.values()].map(({ w, h }) => (turned ? { w: h, h: w } : { w, h }));
  const corners = placed(layered(ids.length, pairs), boxes, { across, down });
  const at = ({ x, y }: Point): Point => (turned ? { x: y, y: x } : { x, y });
  return new Map(
    corners.map((corner, index) => {
      const { x, y } = at(corner);
      return [ids[index] ?? "", { x: Math.round(from.x + x), y: Math.round(from.y + y) }];
    }),
  );
}

/** Return dagre's centres. Edges in `passing` reserve space between the tasks that they pass. */
function solved(
  sizes: ReadonlyMap<string, Size>,
  edges: readonly Edge[],
  direction: Direction,
  passing: ReadonlySet<Edge>,
): Map<string, Centred> {
  const graph = new graphlib.Graph();
  graph.setGraph({ rankdir: direction, ...APART[direction] });
  for (const [id, { w, h }] of sizes) graph.setNode(id, { width: w, height: h });
  for (const edge of edges) {
    const lane = passing.has(edge) ? LANE[direction] : NO_LANE;
    graph.setEdge(edge.from, edge.to, { ...lane });
  }
  layout(graph);
  return new Map([...sizes.keys()].map((id) => [id, graph.node(id)]));
}

interface Centred {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Return the edges that pass at least one rank of tasks. */
function passingBy(
  nodes: ReadonlyMap<string, Centred>,
  edges: readonly Edge[],
  direction: Direction,
): Set<Edge> {
  const along = direction === "LR" ? "x" : "y";
  const ranks = [...new Set([...nodes.values()].map((node) => node[along]))].sort((a, b) => a - b);
  const numbers = new Map(ranks.map((place, number) => [place, number]));
  const rankOf = (id: string): number => numbers.get(nodes.get(id)?.[along] ?? 0) ?? 0;
  return new Set(edges.filter((edge) => Math.abs(rankOf(edge.to) - rankOf(edge.from)) > 1));
}

/**
 * Convert centres to upper left corners. Tasks of one rank start on one line, so that a wide
 * container does not cover the edges of its narrow neighbours.
 */
function flush(
  nodes: ReadonlyMap<string, Centred>,
  direction: Direction,
  from: Point,
): Map<string, Point> {
  const [centre, length] =
    direction === "LR" ? (["x", "width"] as const) : (["y", "height"] as const);
  const starts = new Map<number, number>();
  for (const node of nodes.values()) {
    const start = node[centre] - node[length] / 2;
    starts.set(node[centre], Math.min(start, starts.get(node[centre]) ?? start));
  }
  const corner = (node: Centred): Point => {
    const line = starts.get(node[centre]) ?? 0;
    const x = direction === "LR" ? line : node.x - node.width / 2;
    const y = direction === "LR" ? node.y - node.height / 2 : line;
    return { x: Math.round(from.x + x), y: Math.round(from.y + y) };
  };
  return new Map([...nodes].map(([id, node]) => [id, corner(node)]));
}
