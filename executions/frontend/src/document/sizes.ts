/**
 * Sizes of tasks on the canvas. Pure; all values are in pixels.
 *
 * Sizes are computed, not measured on the page, so that layout, containers and the first view are
 * right in the first pass.
 */
import type { ModuleType } from "../api/shapes";
import type { Point } from "./edits";
import { modulesOf } from "./modules";
import { ERROR, outcomesOf, SUCCESS } from "./outcomes";
import { pathOf } from "./paths";
import type { Body, BodyPath, Edge, Task, TaskPath } from "./types";

export type Direction = "LR" | "TB";
export type Types = ReadonlyMap<string, ModuleType>;

export interface Size {
  w: number;
  h: number;
}
export type Box = Point & Size;

/** What the drawing depends on besides the document. */
export interface Drawing {
  types: Types;
  direction: Direction;
  /** Whether a container is collapsed. */
  folded: (path: TaskPath, task: Task) => boolean;
}

export const NODE_WIDTH = 208;
/** Height of the part with icon and name, in pixels: the whole card of a task with one module. */
export const HEAD = 54;
export const ROW = 20;
/** Maximum number of rows for a chain; the last row then counts the remaining modules. */
export const ROWS = 6;
export const PAD = 24;
export const LEAST_BODY: Size = { w: 232, h: 92 };

/** The direction of the workflow: to the right, or downwards. */
export const directionOf = (body: Body): Direction => (body.ui?.direction === "TB" ? "TB" : "LR");

/** Return the outcomes with their own row: all but `error`, unless `success` is the only one. */
export function namedOutcomes(outcomes: readonly string[]): string[] {
  const own = outcomes.filter((outcome) => outcome !== ERROR);
  return own.length === 1 && own[0] === SUCCESS ? [] : own;
}

/** Return a task's outcomes, including invalid ones that its edges use; `error` comes last. */
export function drawnOutcomes(task: Task, body: Body, types: Types): string[] {
  const known = outcomesOf(task, types);
  const asked = askedFor(body.edges ?? NO_EDGES).get(task.id) ?? [];
  const odd = asked.filter((outcome) => !known.includes(outcome));
  return [...known.slice(0, -1), ...new Set(odd), ERROR];
}

const NO_EDGES: readonly Edge[] = [];
const ASKED = new WeakMap<readonly Edge[], ReadonlyMap<string, string[]>>();

/** Return the outcomes that edges use, for each task; computed once for each list of edges. */
function askedFor(edges: readonly Edge[]): ReadonlyMap<string, string[]> {
  const known = ASKED.get(edges);
  if (known) return known;
  const asked = new Map<string, string[]>();
  for (const { from, on } of edges) {
    const outcomes = asked.get(from);
    if (outcomes) outcomes.push(on ?? SUCCESS);
    else asked.set(from, [on ?? SUCCESS]);
  }
  ASKED.set(edges, asked);
  return asked;
}

/** Return the number of module rows below the header; 0 for a task with one module. */
export const chainRows = (task: Task): number => {
  const count = modulesOf(task).length;
  return count > 1 ? Math.min(count, ROWS) : 0;
};

/** Return a card's size: the header, the chain and the outcomes of a branch task. */
export function cardSize(task: Task, outcomes: readonly string[], direction: Direction): Size {
  const named = namedOutcomes(outcomes).length;
  const chain = chainRows(task) * ROW + (chainRows(task) > 0 ? 8 : 0);
  const rows = named === 0 ? 0 : (direction === "LR" ? named : 1) * ROW + 8;
  return { w: NODE_WIDTH, h: HEAD + chain + rows };
}

/** Return a task's size on the canvas; an expanded container includes its body. */
export function sizeOf(task: Task, path: TaskPath, within: Body, drawing: Drawing): Size {
  const outcomes = drawnOutcomes(task, within, drawing.types);
  if (!task.body || drawing.folded(path, task)) {
    return cardSize(task, outcomes, drawing.direction);
  }
  return openSize(contentOf(task.body, path.split("."), drawing), originOf(task.body));
}

/** Return the size of an expanded container whose content has the size `content`. */
export function openSize(content: Size, origin: Point): Size {
  return {
    w: Math.max(LEAST_BODY.w, content.w) + origin.x + PAD,
    h: Math.max(LEAST_BODY.h, content.h) + origin.y + PAD,
  };
}

/** Return the origin of a container's body, relative to the container's corner. */
export function originOf(body: Body): Point {
  const xs = [...body.tasks.map((task) => task.ui?.x ?? 0), ...notesOf(body).map((n) => n.x)];
  const ys = [...body.tasks.map((task) => task.ui?.y ?? 0), ...notesOf(body).map((n) => n.y)];
  return { x: PAD - Math.min(0, ...xs), y: HEAD + PAD - Math.min(0, ...ys) };
}

export const notesOf = (body: Body) => body.ui?.notes ?? [];

/** Return the extent of a body's content, from the origin of the body. */
function contentOf(body: Body, at: BodyPath, drawing: Drawing): Size {
  const boxes: Box[] = body.tasks.map((task) => ({
    x: task.ui?.x ?? 0,
    y: task.ui?.y ?? 0,
    ...sizeOf(task, pathOf(at, task.id), body, drawing),
  }));
  return reach([...boxes, ...notesOf(body)]);
}

/** Return the extent of boxes to the right and downwards, from (0, 0). */
export const reach = (boxes: readonly Box[]): Size => ({
  w: boxes.reduce((most, box) => Math.max(most, box.x + box.w), 0),
  h: boxes.reduce((most, box) => Math.max(most, box.y + box.h), 0),
});
