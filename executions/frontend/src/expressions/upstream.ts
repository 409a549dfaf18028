import { bodyAt, bodyOf, idOf } from "../document/paths";
import type { Body, Definition, Task, TaskPath } from "../document/types";

/** Return the tasks of a body that precede this one, the nearest first. */
export function before(body: Body, id: string): Task[] {
  const into = new Map<string, string[]>();
  for (const edge of body.edges ?? []) {
    into.set(edge.to, [...(into.get(edge.to) ?? []), edge.from]);
  }
  const found = new Set<string>();
  let level = [id];
  while (level.length > 0) {
    const next = level.flatMap((one) => into.get(one) ?? []).filter((one) => !found.has(one));
    for (const one of next) found.add(one);
    level = [...new Set(next)];
  }
  found.delete(id);
  const byId = new Map(body.tasks.map((task) => [task.id, task]));
  return [...found].map((one) => byId.get(one)).filter((task) => task !== undefined);
}

/** A task that a template can read, with its path. */
export interface Readable {
  path: TaskPath;
  task: Task;
}

/** Return the tasks that templates can read: predecessors, then those of the containers around. */
export function readable(document: Definition, path: TaskPath): Readable[] {
  const found: Readable[] = [];
  const taken = new Set<string>();
  for (let at = path; at !== ""; at = bodyOf(at).join(".")) {
    const inside = bodyOf(at);
    const body = bodyAt(document, inside);
    for (const task of body ? before(body, idOf(at)) : []) {
      if (!taken.has(task.id)) found.push({ path: [...inside, task.id].join("."), task });
      taken.add(task.id);
    }
  }
  return found;
}

/** Return the tasks of a container's body; the container's condition can read all of them. */
export const within = (task: Task, path: TaskPath): Readable[] =>
  (task.body?.tasks ?? []).map((one) => ({ path: `${path}.${one.id}`, task: one }));
