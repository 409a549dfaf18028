/** Compares two documents task by task, without positions on the canvas. */
import { everyTask } from "../document/paths";
import type { Body, Definition, Edge, Json, JsonObject, Task, TaskPath } from "../document/types";
import { t } from "../words/t";
import { type FieldChange, fieldChanges } from "./fields";

export interface Change {
  kind: "added" | "removed" | "changed";
  what: "task" | "edge" | "workflow";
  /** The task's name, the edge as `fetch → ship`, or the workflow's key. */
  title: string;
  task: TaskPath | null;
  /** The changed fields; empty if the task or edge was added or removed. */
  fields: readonly FieldChange[];
}

/** Return all changes: first of the workflow, then of tasks, then of edges. */
export function compared(before: Definition, after: Definition): Change[] {
  return [
    ...workflowChanges(before, after),
    ...taskChanges(before, after),
    ...edgeChanges(before, after),
  ];
}

const KEYS = [
  "name",
  "description",
  "input",
  "variables",
  "output",
  "settings",
  "labels",
  "triggers",
] as const;

function workflowChanges(before: Definition, after: Definition): Change[] {
  return KEYS.flatMap((key) => {
    const fields = fieldChanges(
      (before[key] ?? undefined) as Json | undefined,
      (after[key] ?? undefined) as Json | undefined,
      [key],
    );
    return fields.length === 0
      ? []
      : [{ kind: "changed", what: "workflow", title: key, task: null, fields } as Change];
  });
}

function taskChanges(before: Definition, after: Definition): Change[] {
  const old = new Map(everyTask(before).map((placed) => [placed.path, placed.task]));
  const changes: Change[] = [];
  for (const { path, task } of everyTask(after)) {
    const was = old.get(path);
    old.delete(path);
    if (!was) changes.push(ofTask("added", path, task));
    else if (was !== task) {
      const fields = fieldChanges(plain(was), plain(task), []);
      if (fields.length > 0) changes.push(ofTask("changed", path, task, fields));
    }
  }
  return [...changes, ...[...old].map(([path, task]) => ofTask("removed", path, task))];
}

const ofTask = (
  kind: Change["kind"],
  path: TaskPath,
  task: Task,
  fields: readonly FieldChange[] = [],
): Change => ({ kind, what: "task", title: task.name || path, task: path, fields });

/**
 * Return a task without its position and its body; the tasks in the body are compared separately.
 */
function plain(task: Task): JsonObject {
  const { id: _id, ui: _ui, body: _body, modules, ...rest } = task;
  const chain = modules?.map(({ ui: _, ...module }) => ({ ...module, with: module.with ?? {} }));
  const own = rest as unknown as JsonObject;
  if (chain) return { ...own, modules: chain as unknown as Json };
  return { ...own, with: own.with ?? {} };
}

function edgeChanges(before: Definition, after: Definition): Change[] {
  const [old, now] = [edgesOf(before), edgesOf(after)];
  const added = [...now].filter(([key]) => !old.has(key));
  const removed = [...old].filter(([key]) => !now.has(key));
  return [
    ...added.map(([, title]) => ofEdge("added", title)),
    ...removed.map(([, title]) => ofEdge("removed", title)),
  ];
}

const ofEdge = (kind: Change["kind"], title: string): Change => ({
  kind,
  what: "edge",
  title,
  task: null,
  fields: [],
});

/** Return a unique key and a title for every edge. */
function edgesOf(document: Definition): Map<string, string> {
  const found = new Map<string, string>();
  const walk = (body: Body, at: string): void => {
    for (const edge of body.edges ?? []) {
      const title = titleOf(edge);
      found.set(`${at}/${title}`, at === "" ? title : t("diff.in", { title, container: at }));
    }
    for (const task of body.tasks) {
      if (task.body) walk(task.body, at === "" ? task.id : `${at}.${task.id}`);
    }
  };
  walk(document, "");
  return found;
}

const titleOf = ({ from, to, on }: Edge): string =>
  on === undefined || on === "success"
    ? t("diff.edge", { from, to })
    : t("diff.edgeOn", { from, to, outcome: on });
