/** Changes of a document. Pure: a document in, another out; what did not change is shared. */

import { freeId } from "./ids";
import { bodyAt, bodyOf, idOf, pathOf, taskAt, withBody, withTask } from "./paths";
import { renamed } from "./references";
import type { Body, BodyPath, Definition, Edge, Json, Note, Task, TaskPath } from "./types";

export interface Point {
  x: number;
  y: number;
}

/** With a task more; its id is made free in its body. Gives the document and the task's path. */
export function addTask(
  document: Definition,
  body: BodyPath,
  task: Task,
): { document: Definition; path: TaskPath } {
  const id = freeId(task.id, bodyAt(document, body)?.tasks ?? []);
  const added = withBody(document, body, (old) => ({
    ...old,
    tasks: [...old.tasks, { ...task, id }],
  }));
  return { document: added, path: pathOf(body, id) };
}

/** Without these tasks and the edges at them. */
export function removeTasks(document: Definition, paths: readonly TaskPath[]): Definition {
  return inBodies(document, paths, (body, ids) => ({
    ...body,
    tasks: body.tasks.filter((task) => !ids.has(task.id)),
    edges: (body.edges ?? []).filter((edge) => !ids.has(edge.from) && !ids.has(edge.to)),
  }));
}

/** With tasks at other places of their planes. */
export function moveTasks(document: Definition, places: ReadonlyMap<TaskPath, Point>): Definition {
  return inBodies(document, [...places.keys()], (body, _ids, at) => ({
    ...body,
    tasks: body.tasks.map((task) => {
      const place = places.get(pathOf(at, task.id));
      return place ? { ...task, ui: { ...task.ui, x: place.x, y: place.y } } : task;
    }),
  }));
}

/** With an edge more; the same document where it is there already. */
export function connect(document: Definition, body: BodyPath, edge: Edge): Definition {
  const plain: Edge = edge.on === "success" ? { from: edge.from, to: edge.to } : edge;
  return withBody(document, body, (old) =>
    (old.edges ?? []).some((one) => sameEdge(one, plain))
      ? old
      : { ...old, edges: [...(old.edges ?? []), plain] },
  );
}

/** Without these edges. */
export function disconnect(
  document: Definition,
  body: BodyPath,
  edges: readonly Edge[],
): Definition {
  return withBody(document, body, (old) => ({
    ...old,
    edges: (old.edges ?? []).filter((one) => !edges.some((edge) => sameEdge(edge, one))),
  }));
}

/** With a task under another id; edges and templates that name it follow. */
export function renameTask(document: Definition, path: TaskPath, wanted: string): Definition {
  const old = idOf(path);
  const body = bodyOf(path);
  const others = (bodyAt(document, body)?.tasks ?? []).filter((task) => task.id !== old);
  const id = freeId(wanted, others);
  if (id === old || !taskAt(document, path)) return document;
  const changed = withBody(document, body, (within) => renamed(within, old, id));
  return withComments(changed, placeOf(path), placeOf(pathOf(body, id)));
}

/** A task's place as comments of a YAML text name it: `tasks/loop/body/tasks/in`. */
const placeOf = (path: TaskPath): string =>
  path
    .split(".")
    .map((id) => `tasks/${id}`)
    .join("/body/");

/** With the comments of one place at another. */
function withComments(document: Definition, from: string, to: string): Definition {
  const kept = document.ui?.comments;
  if (!Array.isArray(kept)) return document;
  const comments = (kept as { at?: Json }[]).map((one) => {
    const { at } = one;
    const there = typeof at === "string" && (at === from || at.startsWith(`${from}/`));
    return there ? { ...one, at: to + at.slice(from.length) } : one;
  });
  return { ...document, ui: { ...document.ui, comments: comments as Json } };
}

/** With one task changed. */
export const changeTask = withTask;

/** With a body's notes changed. */
export function changeNotes(
  document: Definition,
  body: BodyPath,
  change: (notes: Note[]) => Note[],
): Definition {
  return withBody(document, body, (old) => ({
    ...old,
    ui: { ...old.ui, notes: change(old.ui?.notes ?? []) },
  }));
}

export const sameEdge = (one: Edge, other: Edge): boolean =>
  one.from === other.from &&
  one.to === other.to &&
  (one.on ?? "success") === (other.on ?? "success");

function inBodies(
  document: Definition,
  paths: readonly TaskPath[],
  change: (body: Body, ids: ReadonlySet<string>, at: BodyPath) => Body,
): Definition {
  const byBody = new Map<string, Set<string>>();
  for (const path of paths) {
    const key = bodyOf(path).join(".");
    byBody.set(key, (byBody.get(key) ?? new Set()).add(idOf(path)));
  }
  // Inner bodies first: an outer one may be about to lose the container.
  const keys = [...byBody.keys()].sort((a, b) => b.length - a.length);
  return keys.reduce((changed, key) => {
    const at = key === "" ? [] : key.split(".");
    return withBody(changed, at, (body) => change(body, byBody.get(key) ?? new Set(), at));
  }, document);
}
