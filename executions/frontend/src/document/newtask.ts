/** Creates tasks from module types, and finds positions for them. Pure. */
import type { ModuleType } from "../api/shapes";
import { addTask, changeNotes, connect, type Point } from "./edits";
import { freeId } from "./ids";
import { ERROR, outcomesOf } from "./outcomes";
import { bodyAt, bodyOf, idOf, pathOf, taskAt } from "./paths";
import {
  type Box,
  type Direction,
  type Drawing,
  directionOf,
  notesOf,
  reach,
  type Size,
  sizeOf,
} from "./sizes";
import type { Body, BodyPath, Definition, Json, JsonObject, Note, Task, TaskPath } from "./types";

/** Where a new task goes; `after` determines omitted values. */
export interface Where {
  /** The task's body; by default the body of `after`. */
  body?: BodyPath;
  /** The task's position in its body, in pixels. */
  at?: Point;
  /** The task to connect it from, if that task is in the same body. */
  after?: TaskPath | null;
  /** The outcome of `after` for the edge; by default the first unused one. */
  on?: string;
}

/** Pixels between a task and the next one, and between tasks side by side. */
const GAP = 76;
const APART = 36;
const CONTAINERS: Readonly<Record<string, string>> = { "flow.loop": "loop", "flow.map": "map" };

/** Whether tasks of this module type have a body. */
export const isContainer = (type: ModuleType): boolean =>
  Boolean(type.container ?? CONTAINERS[type.type]);

/** Add a task of this module type; return the document and the task's path. */
export function withNewTask(
  document: Definition,
  type: ModuleType,
  where: Where,
  types: ReadonlyMap<string, ModuleType>,
): { document: Definition; path: TaskPath } {
  const after = where.after ? taskAt(document, where.after) : undefined;
  const body = where.body ?? (where.after ? bodyOf(where.after) : []);
  const joined = after && where.after && same(bodyOf(where.after), body) ? after : undefined;
  const task = newTask(type);
  const place = where.at ?? placeFor(document, body, task, joined, types);
  const added = addTask(document, body, { ...task, ui: { ...place } });
  if (!joined) return added;
  const to = idOf(added.path);
  const on = where.on ?? freeOutcome(bodyAt(document, body)?.edges ?? [], joined, types);
  return { ...added, document: connect(added.document, body, { from: joined.id, to, on }) };
}

function placeFor(
  document: Definition,
  at: BodyPath,
  task: Task,
  after: Task | undefined,
  types: ReadonlyMap<string, ModuleType>,
): Point {
  const body = bodyAt(document, at) ?? { tasks: [] };
  const direction = directionOf(document);
  const drawing: Drawing = { types, direction, folded: () => false };
  const size = sizeOf(task, pathOf(at, task.id), body, drawing);
  return freePlace(body, after, boxIn(body, at, drawing), size, direction);
}

/** Create a task of this module type, with the last word of the type as id. */
export function newTask(type: ModuleType): Task {
  const id = type.type.slice(type.type.lastIndexOf(".") + 1);
  const task: Task = { id, use: type.type, with: startingWith(type.inputsSchema) };
  return isContainer(type) ? { ...task, body: { tasks: [], edges: [] } } : task;
}

/**
 * Return the required inputs whose value is known: defaults, constants, and empty lists and
 * objects.
 *
 * Required texts are left out, so that their fields show that they are missing.
 */
export function startingWith(schema: JsonObject): JsonObject {
  const properties = asObject(schema.properties);
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const entries = required.flatMap((key): [string, Json][] => {
    const value = startOf(asObject(properties[key]));
    return value === undefined ? [] : [[key, value]];
  });
  return Object.fromEntries(entries);
}

function startOf(schema: JsonObject): Json | undefined {
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.type === "object" && !schema.minProperties && !schema.required) return {};
  if (schema.type === "array" && !schema.minItems) return [];
  return undefined;
}

const asObject = (value: Json | undefined): JsonObject =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};

const same = (one: BodyPath, other: BodyPath): boolean => one.join(".") === other.join(".");

/** Return the first outcome of a task without an edge; the first outcome if all have edges. */
export function freeOutcome(
  edges: Body["edges"] & object,
  task: Task,
  types: ReadonlyMap<string, ModuleType>,
): string {
  const taken = new Set(edges.filter((e) => e.from === task.id).map((e) => e.on ?? "success"));
  const outcomes = outcomesOf(task, types).filter((outcome) => outcome !== ERROR);
  return outcomes.find((outcome) => !taken.has(outcome)) ?? outcomes[0] ?? "success";
}

/** Return a free position: after `after`, or after all tasks, moved sideways until it is free. */
function freePlace(
  body: Body,
  after: Task | undefined,
  boxOf: (task: Task) => Box,
  size: Size,
  direction: Direction,
): Point {
  const boxes = body.tasks.map(boxOf);
  const last = after ? boxOf(after) : furthest(boxes, direction);
  if (!last) return { x: 0, y: 0 };
  const down = direction === "TB";
  let place = down
    ? { x: last.x, y: last.y + last.h + GAP }
    : { x: last.x + last.w + GAP, y: last.y };
  for (let box = hit(boxes, place, size); box; box = hit(boxes, place, size)) {
    place = down ? { ...place, x: box.x + box.w + APART } : { ...place, y: box.y + box.h + APART };
  }
  return place;
}

const hit = (boxes: readonly Box[], place: Point, size: Size): Box | undefined =>
  boxes.find((box) => overlap(box, { ...place, ...size }));

/** Return the position and size of a task in its body. */
const boxIn =
  (body: Body, at: BodyPath, drawing: Drawing) =>
  (task: Task): Box => ({
    x: task.ui?.x ?? 0,
    y: task.ui?.y ?? 0,
    ...sizeOf(task, pathOf(at, task.id), body, drawing),
  });

const furthest = (boxes: readonly Box[], direction: Direction): Box | undefined => {
  const end = (box: Box): number => (direction === "TB" ? box.y + box.h : box.x + box.w);
  return boxes.reduce<Box | undefined>(
    (best, box) => (best && end(best) >= end(box) ? best : box),
    undefined,
  );
};

const overlap = (one: Box, other: Box): boolean =>
  one.x < other.x + other.w &&
  other.x < one.x + one.w &&
  one.y < other.y + other.h &&
  other.y < one.y + one.h;

/**
 * Add an empty note, at a position or below everything else; return the document and the note's id.
 */
export function withNewNote(
  document: Definition,
  body: BodyPath,
  at?: Point,
): { document: Definition; id: string } {
  const found = bodyAt(document, body) ?? { tasks: [] };
  const id = freeId("note", notesOf(found));
  const place = at ?? noteBelow(document, found, body);
  const note: Note = { id, ...place, w: 220, h: 120, text: "", color: "yellow" };
  return { document: changeNotes(document, body, (notes) => [...notes, note]), id };
}

function noteBelow(document: Definition, body: Body, at: BodyPath): Point {
  const drawing: Drawing = {
    types: new Map(),
    direction: directionOf(document),
    folded: () => false,
  };
  const boxes = [...body.tasks.map(boxIn(body, at, drawing)), ...notesOf(body)];
  if (boxes.length === 0) return { x: 0, y: 0 };
  return { x: Math.min(...boxes.map((box) => box.x)), y: reach(boxes).h + GAP };
}
