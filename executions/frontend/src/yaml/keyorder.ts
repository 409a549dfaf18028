/** Puts a document's keys into the usual order, because the database does not preserve it. */
import type { Body, Definition, Edge, Module, Task } from "../document/types";

const OF_WORKFLOW = [
  "schema",
  "name",
  "description",
  "input",
  "variables",
  "output",
  "settings",
  "labels",
  "triggers",
  "tasks",
  "edges",
  "ui",
];
const OF_TASK = ["id", "name", "use", "with", "modules", "body"];
const OF_TASK_LAST = ["ui"];
const OF_EDGE = ["from", "to", "on"];

/** Sort the keys of a document, but not those of module inputs. */
export const inOrder = (document: Definition): Definition =>
  ordered(bodyInOrder(document), OF_WORKFLOW);

const bodyInOrder = <T extends Body>(body: T): T => ({
  ...body,
  tasks: body.tasks.map(taskInOrder),
  ...(body.edges ? { edges: body.edges.map((edge): Edge => ordered(edge, OF_EDGE)) } : {}),
});

function taskInOrder(task: Task): Task {
  const modules = task.modules?.map((one): Module => ordered(one, OF_TASK, OF_TASK_LAST));
  const inner: Task = {
    ...task,
    ...(modules ? { modules } : {}),
    ...(task.body ? { body: ordered(bodyInOrder(task.body), ["tasks", "edges", "ui"]) } : {}),
  };
  return ordered(inner, OF_TASK, OF_TASK_LAST);
}

/** Put these keys first and those last; the other keys keep their order. */
function ordered<T extends object>(
  value: T,
  first: readonly string[],
  last: readonly string[] = [],
): T {
  const keys = Object.keys(value);
  const rest = keys.filter((key) => !first.includes(key) && !last.includes(key));
  const all = [...first, ...rest, ...last].filter((key) => key in value);
  return Object.fromEntries(all.map((key) => [key, value[key as keyof T]])) as T;
}
