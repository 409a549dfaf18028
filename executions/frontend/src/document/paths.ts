import type { Body, BodyPath, Definition, Task, TaskPath } from "./types";

/** `refine.draft` of the body `["refine"]` and the id `draft`. */
export const pathOf = (body: BodyPath, id: string): TaskPath => [...body, id].join(".");

/** The body a task stands in. */
export const bodyOf = (path: TaskPath): BodyPath => path.split(".").slice(0, -1);

/** A task's own id. */
export const idOf = (path: TaskPath): string => path.slice(path.lastIndexOf(".") + 1);

/** The body at a path; undefined where a container on the way is gone. */
export function bodyAt(document: Definition, path: BodyPath): Body | undefined {
  let body: Body | undefined = document;
  for (const id of path) body = body?.tasks.find((task) => task.id === id)?.body;
  return body;
}

/** The task at a path, or undefined. */
export function taskAt(document: Definition, path: TaskPath): Task | undefined {
  return bodyAt(document, bodyOf(path))?.tasks.find((task) => task.id === idOf(path));
}

/** A task with where it stands. */
export interface Placed {
  path: TaskPath;
  body: BodyPath;
  task: Task;
}

/** Every task, containers before what stands in them. */
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

/** A copy in which the body at the path went through `change`; parts not on the way are shared. */
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

/** A copy in which one task went through `change`. */
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
