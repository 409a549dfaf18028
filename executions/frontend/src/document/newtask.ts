/** What a task freshly taken from a module type is, and where it stands. Pure. */
import type { ModuleType } from "../api/shapes";
import { addTask, connect, type Point } from "./edits";
import { ERROR, outcomesOf } from "./outcomes";
import { bodyAt, bodyOf, idOf, taskAt } from "./paths";
import type { Body, BodyPath, Definition, Json, JsonObject, Task, TaskPath } from "./types";

/** Where a new task goes; what is left out is made up from `after`. */
export interface Where {
  /** The body it stands in; else the one of `after`. */
  body?: BodyPath;
  /** Its place in the body's plane, in pixels. */
  at?: Point;
  /** The task it is connected from, if it is of the same body. */
  after?: TaskPath | null;
  /** The outcome of `after` it is connected by; else the first that nothing waits for. */
  on?: string;
}

/** How far apart tasks are put: from one's left edge to the next one's, and downwards. */
const ACROSS = 280;
const DOWN = 96;
const PLAIN = { w: 200, h: 56 };
const CONTAINERS: Readonly<Record<string, string>> = { "flow.loop": "loop", "flow.map": "map" };

/** Whether tasks of this module type hold a body: a loop's, or a map's. */
export const isContainer = (type: ModuleType): boolean =>
  Boolean(type.container ?? CONTAINERS[type.type]);

/** The document with a task of this module type, and the task's path. */
export function withNewTask(
  document: Definition,
  type: ModuleType,
  where: Where,
  types: ReadonlyMap<string, ModuleType>,
): { document: Definition; path: TaskPath } {
  const after = where.after ? taskAt(document, where.after) : undefined;
  const body = where.body ?? (where.after ? bodyOf(where.after) : []);
  const joined = after && where.after && same(bodyOf(where.after), body) ? after : undefined;
  const place = where.at ?? freePlace(bodyAt(document, body) ?? { tasks: [] }, joined);
  const added = addTask(document, body, { ...newTask(type), ui: { ...place } });
  if (!joined) return added;
  const to = idOf(added.path);
  const on = where.on ?? freeOutcome(bodyAt(document, body)?.edges ?? [], joined, types);
  return { ...added, document: connect(added.document, body, { from: joined.id, to, on }) };
}

/** A task of this module type, its id from the type's last word. */
export function newTask(type: ModuleType): Task {
  const id = type.type.slice(type.type.lastIndexOf(".") + 1);
  const task: Task = { id, use: type.type, with: startingWith(type.inputsSchema) };
  return isContainer(type) ? { ...task, body: { tasks: [], edges: [] } } : task;
}

/** The required inputs that can be known: defaults, constants, and lists and maps without entries.
 *
 * A required text is left out: that it is missing is then said plainly where it is to be written.
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

/** The first outcome of a task that no edge waits for; its first where all are taken. */
export function freeOutcome(
  edges: Body["edges"] & object,
  task: Task,
  types: ReadonlyMap<string, ModuleType>,
): string {
  const taken = new Set(edges.filter((e) => e.from === task.id).map((e) => e.on ?? "success"));
  const outcomes = outcomesOf(task, types).filter((outcome) => outcome !== ERROR);
  return outcomes.find((outcome) => !taken.has(outcome)) ?? outcomes[0] ?? "success";
}

/** A place nobody stands at: right of `after`, else right of everything; downwards until free. */
function freePlace(body: Body, after: Task | undefined): Point {
  const boxes = body.tasks.map(boxOf);
  const last = after ? boxOf(after) : rightmost(boxes);
  if (!last) return { x: 40, y: 60 };
  let place = { x: last.x + last.w + ACROSS - PLAIN.w, y: last.y };
  while (boxes.some((box) => overlap(box, { ...place, ...PLAIN }))) {
    place = { ...place, y: place.y + DOWN };
  }
  return place;
}

interface Box extends Point {
  w: number;
  h: number;
}

/** What a task covers of its plane; a container grows with what stands in it. */
function boxOf(task: Task): Box {
  const { x = 0, y = 0 } = task.ui ?? {};
  const inner = (task.body?.tasks ?? []).map(boxOf);
  const size = inner.reduce(
    (all, box) => ({
      w: Math.max(all.w, box.x + box.w + 24),
      h: Math.max(all.h, box.y + box.h + 24),
    }),
    task.body ? { w: 260, h: 140 } : PLAIN,
  );
  return { x, y, ...size };
}

const rightmost = (boxes: readonly Box[]): Box | undefined =>
  boxes.reduce<Box | undefined>(
    (best, box) => (best && best.x + best.w >= box.x + box.w ? best : box),
    undefined,
  );

const overlap = (one: Box, other: Box): boolean =>
  one.x < other.x + other.w &&
  other.x < one.x + one.w &&
  one.y < other.y + other.h &&
  other.y < one.y + one.h;
