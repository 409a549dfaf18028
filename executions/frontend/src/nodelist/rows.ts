/** The tasks of a workflow as a list, each after its predecessors. Pure. */
import { pathOf } from "../document/paths";
import type { Body, BodyPath, Definition, Edge, Task, TaskPath } from "../document/types";

/** A task in the list. */
export interface Row {
  path: TaskPath;
  body: BodyPath;
  task: Task;
  /** The incoming edges. */
  into: Edge[];
}

/** Return every task in a possible execution order; the tasks of a container follow it. */
export function rowsOf(document: Definition): Row[] {
  const rows: Row[] = [];
  const walk = (body: Body, at: BodyPath): void => {
    const into = edgesInto(body);
    for (const task of inOrder(body)) {
      rows.push({ path: pathOf(at, task.id), body: at, task, into: into.get(task.id) ?? [] });
      if (task.body) walk(task.body, [...at, task.id]);
    }
  };
  walk(document, []);
  return rows;
}

function edgesInto(body: Body): Map<string, Edge[]> {
  const into = new Map<string, Edge[]>();
  for (const edge of body.edges ?? []) into.set(edge.to, [...(into.get(edge.to) ?? []), edge]);
  return into;
}

/** Return a body's tasks, those without predecessors first, those in a cycle last. */
export function inOrder(body: Body): Task[] {
  const ids = new Set(body.tasks.map((task) => task.id));
  const edges = (body.edges ?? []).filter((edge) => ids.has(edge.from) && ids.has(edge.to));
  const waits = new Map<string, number>();
  const next = new Map<string, string[]>();
  for (const { from, to } of edges) {
    waits.set(to, (waits.get(to) ?? 0) + 1);
    next.set(from, [...(next.get(from) ?? []), to]);
  }
  const byId = new Map(body.tasks.map((task) => [task.id, task]));
  const order = new Set<Task>();
  const settle = (id: string): void => {
    const task = byId.get(id);
    if (task) order.add(task);
    for (const to of next.get(id) ?? []) {
      const left = (waits.get(to) ?? 1) - 1;
      waits.set(to, left);
      if (left === 0) open.push(to);
    }
  };
  // A stack, so that a task's successors directly follow it instead of the other first tasks.
  const open = body.tasks.filter((task) => !waits.get(task.id)).map((task) => task.id);
  open.reverse();
  for (let id = open.pop(); id !== undefined; id = open.pop()) settle(id);
  return [...order, ...body.tasks.filter((task) => !order.has(task))];
}

/** Whether two rows look the same. */
export const sameRow = (one: Row, other: Row): boolean =>
  one.path === other.path &&
  one.task === other.task &&
  one.into.length === other.into.length &&
  one.into.every((edge, at) => edge === other.into[at]);
