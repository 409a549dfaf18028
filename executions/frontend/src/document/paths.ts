import type { Body, BodyPath, Definition, Task, TaskPath } from "./types";

/** For the body `["refine"]` and the id `draft`, return `refine.draft`. */
export const pathOf = (body: BodyPath, id: string): TaskPath => [...body, id].join(".");

/** Return the path of the body that contains a task. */
export const bodyOf = (path: TaskPath): BodyPath => path.split(".").slice(0, -1);

/** Return the task's own id. */
export const idOf = (path: TaskPath): string => path.slice(path.lastIndexOf(".") + 1);

/** Return the body at a path; undefined if a container of the path does not exist. */
export function bodyAt(document: Definition, path: BodyPath): Body | undefined {
  let body: Body | undefined = document;
  for (const id of path) body = body?.tasks.find((task) => task.id === id)?.body;
  return body;
}

/** Return the task at a path, or undefined. */
export function taskAt(document: Definition, path: TaskPath): Task | undefined {
  return bodyAt(document, bodyOf(path))?.tasks.find((task) => task.id === idOf(path));
}

/** A task with its path and its body. */
export interface Placed {
  path: TaskPath;
  body: BodyPath;
  task: Task;
}

/** Return every task, each container before the tasks in it. */
export function everyTask(document: Definition): Placed[] {
  const found: Placed[] = [];
  const walk = (body: Body, at: BodyPath): void => {
    for (const task of body.tasks) {
      found.push({ path: pathOf(at, task.id), body: at, task });
      if (task.body) walk(task.body, [...at, task.id]);
    }
  };
  walk(document, []);
  return found;
}

/** Apply `change` to the body at the path; the copy shares all other parts. */
export function withBody(
  document: Definition,
  path: BodyPath,
  change: (body: Body) => Body,
): Definition {
  const into = <T extends Body>(body: T, rest: BodyPath): T => {
    const [next, ...further] = rest;
    if (next === undefined) return { ...body, ...change(body) };
    return {
      ...body,
      tasks: body.tasks.map((task) =>
        task.id === next && task.body ? { ...task, body: into(task.body, further) } : task,
      ),
    };
  };
  return into(document, path);
}

/** Apply `change` to one task of a copy. */
export function withTask(
  document: Definition,
  path: TaskPath,
  change: (task: Task) => Task,
): Definition {
  const id = idOf(path);
  return withBody(document, bodyOf(path), (body) => ({
    ...body,
    tasks: body.tasks.map((task) => (task.id === id ? change(task) : task)),
  }));
}
