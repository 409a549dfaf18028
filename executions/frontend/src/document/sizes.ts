/** How large tasks are drawn, and where their handles stand. Pure, in pixels.
 *
 * Known without looking at the page, so that layout, containers and the first view need no second
 * pass.
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

/** What a drawing depends on beside the document. */
export interface Drawing {
  types: Types;
  direction: Direction;
  /** Whether a container is shown without its body. */
  folded: (path: TaskPath, task: Task) => boolean;
}

export const NODE_WIDTH = 208;
/** The part with icon and name: all of a plain task. */
export const HEAD = 54;
export const ROW = 20;
/** Rows of a chain that are shown; the rest is a number. */
export const ROWS = 6;
export const PAD = 24;
export const LEAST_BODY: Size = { w: 232, h: 92 };

/** Which way the workflow is drawn: to the right, or downwards. */
export const directionOf = (body: Body): Direction => (body.ui?.direction === "TB" ? "TB" : "LR");

/** The outcomes that have a row of their own: those of gates, and any that an edge asks for. */
export function namedOutcomes(outcomes: readonly string[]): string[] {
  const own = outcomes.filter((outcome) => outcome !== ERROR);
  return own.length === 1 && own[0] === SUCCESS ? [] : own;
}

/** The outcomes of a task with those that its edges ask for and it cannot have, `error` last. */
export function drawnOutcomes(task: Task, body: Body, types: Types): string[] {
  const known = outcomesOf(task, types);
  const asked = askedFor(body.edges ?? NO_EDGES).get(task.id) ?? [];
  const odd = asked.filter((outcome) => !known.includes(outcome));
  return [...known.slice(0, -1), ...new Set(odd), ERROR];
}

const NO_EDGES: readonly Edge[] = [];
const ASKED = new WeakMap<readonly Edge[], ReadonlyMap<string, string[]>>();

/** The outcomes that edges ask for, by the task they leave; found once for a list of edges. */
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

/** Rows of modules below the head: none for a task of one module. */
export const chainRows = (task: Task): number => {
  const count = modulesOf(task).length;
  return count > 1 ? Math.min(count, ROWS) : 0;
};

/** A card's size: head, its chain, the outcomes of a gate. */
export function cardSize(task: Task, outcomes: readonly string[], direction: Direction): Size {
  const named = namedOutcomes(outcomes).length;
  const chain = chainRows(task) * ROW + (chainRows(task) > 0 ? 8 : 0);
  const rows = named === 0 ? 0 : (direction === "LR" ? named : 1) * ROW + 8;
  return { w: NODE_WIDTH, h: HEAD + chain + rows };
}

/** How a task is drawn, an opened container with its body. */
export function sizeOf(task: Task, path: TaskPath, within: Body, drawing: Drawing): Size {
  const outcomes = drawnOutcomes(task, within, drawing.types);
  if (!task.body || drawing.folded(path, task)) {
    return cardSize(task, outcomes, drawing.direction);
  }
  return openSize(contentOf(task.body, path.split("."), drawing), originOf(task.body));
}

/** An opened container around what covers `content` of its body's plane. */
export function openSize(content: Size, origin: Point): Size {
  return {
    w: Math.max(LEAST_BODY.w, content.w) + origin.x + PAD,
    h: Math.max(LEAST_BODY.h, content.h) + origin.y + PAD,
  };
}

/** Where the plane of a container's body begins, from the container's corner. */
export function originOf(body: Body): Point {
  const xs = [...body.tasks.map((task) => task.ui?.x ?? 0), ...notesOf(body).map((n) => n.x)];
  const ys = [...body.tasks.map((task) => task.ui?.y ?? 0), ...notesOf(body).map((n) => n.y)];
  return { x: PAD - Math.min(0, ...xs), y: HEAD + PAD - Math.min(0, ...ys) };
}

export const notesOf = (body: Body) => body.ui?.notes ?? [];

/** The right and lower end of what stands in a body, from its plane's beginning. */
function contentOf(body: Body, at: BodyPath, drawing: Drawing): Size {
  const boxes: Box[] = body.tasks.map((task) => ({
    x: task.ui?.x ?? 0,
    y: task.ui?.y ?? 0,
    ...sizeOf(task, pathOf(at, task.id), body, drawing),
  }));
  return reach([...boxes, ...notesOf(body)]);
}

/** How far boxes go to the right and down from nothing. */
export const reach = (boxes: readonly Box[]): Size => ({
  w: boxes.reduce((most, box) => Math.max(most, box.x + box.w), 0),
  h: boxes.reduce((most, box) => Math.max(most, box.y + box.h), 0),
});
