/** Tasks into and out of containers. Pure. */
import { t } from "../words/t";
import { addTask, removeTasks } from "./edits";
import { bodyAt, bodyOf, everyTask, pathOf, taskAt } from "./paths";
import type { Body, BodyPath, Definition, TaskPath } from "./types";

/** Every body with its path, the workflow itself first. */
export const everyBody = (document: Definition): { path: BodyPath; body: Body }[] => [
  { path: [], body: document },
  ...everyTask(document).flatMap(({ body: at, task }) =>
    task.body ? [{ path: [...at, task.id], body: task.body }] : [],
  ),
];

/** The paths of all containers. */
export const containersOf = (document: Definition): TaskPath[] =>
  everyTask(document)
    .filter(({ task }) => task.body)
    .map((placed) => placed.path);

/** The bodies a task may be moved to: the workflow and these containers, but neither where it is
 *  nor within itself. */
export function bodiesFor(containers: readonly TaskPath[], path: TaskPath): BodyPath[] {
  const own = bodyOf(path).join(".");
  const others = containers.filter((at) => at !== path && !at.startsWith(`${path}.`));
  return ["", ...others].filter((at) => at !== own).map((at) => (at ? at.split(".") : []));
}

/**
 * The document with a task in another body, its id made free there; and its new path.
 *
 * Its connections stay behind: an edge never leaves a body.
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

/** A body in words: the workflow, or its container's path. */
export const bodyName = (body: BodyPath): string =>
  body.length === 0 ? t("document.theWorkflow") : pathOf(body.slice(0, -1), body.at(-1) ?? "");
