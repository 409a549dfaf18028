/** Moves tasks into and out of containers. Pure. */
import { t } from "../words/t";
import { type Clip, copied, pasted } from "./copying";
import { addTask, type Point, removeTasks } from "./edits";
import { bodyAt, bodyOf, everyTask, pathOf, taskAt } from "./paths";
import type { Body, BodyPath, Definition, TaskPath } from "./types";

/** Return every body with its path, the workflow itself first. */
export const everyBody = (document: Definition): { path: BodyPath; body: Body }[] => [
  { path: [], body: document },
  ...everyTask(document).flatMap(({ body: at, task }) =>
    task.body ? [{ path: [...at, task.id], body: task.body }] : [],
  ),
];

/** Return the paths of all containers. */
export const containersOf = (document: Definition): TaskPath[] =>
  everyTask(document)
    .filter(({ task }) => task.body)
    .map((placed) => placed.path);

/**
 * Return the bodies that a task may move to: all but its present body and those inside the task.
 */
export function bodiesFor(containers: readonly TaskPath[], path: TaskPath): BodyPath[] {
  const own = bodyOf(path).join(".");
  const others = containers.filter((at) => at !== path && !at.startsWith(`${path}.`));
  return ["", ...others].filter((at) => at !== own).map((at) => (at ? at.split(".") : []));
}

/**
 * Move a task to another body, if necessary with another id; return the document and the new path.
 *
 * The task's edges are removed, because an edge cannot leave a body.
 */
export function moved(
  document: Definition,
  path: TaskPath,
  body: BodyPath,
): { document: Definition; path: TaskPath } {
  const task = taskAt(document, path);
  if (!task || !bodyAt(document, body)) return { document, path };
  const { x: _x, y: _y, ...ui } = task.ui ?? {};
  return addTask(removeTasks(document, [path]), body, { ...task, ui });
}

export interface Rehomed {
  document: Definition;
  /** The new paths of the tasks. */
  paths: TaskPath[];
  /** Number of removed edges to other tasks. */
  cut: number;
}

/**
 * Move tasks of one body to another. `place` is the first task's position there; the tasks keep
 * their distances and the edges between them. Edges to other tasks are removed, because an edge
 * cannot leave a body.
 */
export function rehomed(
  document: Definition,
  tasks: readonly TaskPath[],
  body: BodyPath,
  place: Point,
): Rehomed {
  const [first = ""] = tasks;
  const clip = copied(document, tasks);
  const from = bodyAt(document, bodyOf(first));
  const ids = new Set(clip.tasks.map((task) => task.id));
  const touching = (from?.edges ?? []).filter((edge) => ids.has(edge.from) || ids.has(edge.to));
  const { x = 0, y = 0 } = taskAt(document, first)?.ui ?? {};
  const shift = within(clip, body, { x: place.x - x, y: place.y - y });
  const { document: changed, tasks: paths } = pasted(
    removeTasks(document, tasks),
    body,
    clip,
    shift,
  );
  return { document: changed, paths, cut: touching.length - clip.edges.length };
}

/** Adjust the offset, so that no task is left of or above the body of a container. */
function within(clip: Clip, body: BodyPath, shift: Point): Point {
  const whole = { x: Math.round(shift.x), y: Math.round(shift.y) };
  if (body.length === 0) return whole;
  const xs = clip.tasks.map((task) => (task.ui?.x ?? 0) + whole.x);
  const ys = clip.tasks.map((task) => (task.ui?.y ?? 0) + whole.y);
  return { x: whole.x - Math.min(0, ...xs), y: whole.y - Math.min(0, ...ys) };
}

/** Return the name of a body: "the workflow", or the path of its container. */
export const bodyName = (body: BodyPath): string =>
  body.length === 0 ? t("document.theWorkflow") : pathOf(body.slice(0, -1), body.at(-1) ?? "");
