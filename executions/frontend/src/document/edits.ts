/** Changes to a document. Pure: each returns a new document, which shares its unchanged parts. */

import { freeId } from "./ids";
import { bodyAt, bodyOf, idOf, pathOf, taskAt, withBody, withTask } from "./paths";
import { renamed, renamedAround } from "./references";
import type { Body, BodyPath, Definition, Edge, Json, Note, Task, TaskPath } from "./types";

export interface Point {
  x: number;
  y: number;
}

/**
 * Add a task; if necessary, change its id to a free one. Returns the document and the task's path.
 */
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

/** Remove these tasks and their edges. */
export function removeTasks(document: Definition, paths: readonly TaskPath[]): Definition {
  return inBodies(document, paths, (body, ids) => ({
    ...body,
    tasks: body.tasks.filter((task) => !ids.has(task.id)),
    edges: (body.edges ?? []).filter((edge) => !ids.has(edge.from) && !ids.has(edge.to)),
  }));
}

/** Move tasks to other positions in their bodies. */
export function moveTasks(document: Definition, places: ReadonlyMap<TaskPath, Point>): Definition {
  return inBodies(document, [...places.keys()], (body, _ids, at) => ({
    ...body,
    tasks: body.tasks.map((task) => {
      const place = places.get(pathOf(at, task.id));
      return place ? { ...task, ui: { ...task.ui, x: place.x, y: place.y } } : task;
    }),
  }));
}

/** Add an edge; an edge that already exists changes nothing. */
export function connect(document: Definition, body: BodyPath, edge: Edge): Definition {
  const plain: Edge = edge.on === "success" ? { from: edge.from, to: edge.to } : edge;
  return withBody(document, body, (old) =>
    (old.edges ?? []).some((one) => sameEdge(one, plain))
      ? old
      : { ...old, edges: [...(old.edges ?? []), plain] },
  );
}

/** Remove these edges. */
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

/** Change a task's id, also in the edges and templates that name it. */
export function renameTask(document: Definition, path: TaskPath, wanted: string): Definition {
  const old = idOf(path);
  const body = bodyOf(path);
  const others = (bodyAt(document, body)?.tasks ?? []).filter((task) => task.id !== old);
  const id = freeId(wanted, others);
  if (id === old || !taskAt(document, path)) return document;
  const changed = withBody(document, body, (within) => renamed(within, old, id));
  const whole = renamedAround(changed, body, old, id);
  return withPlaces(whole, (at) => renamedPlace(at, body, old, id));
}

/** Change the positions of the comments of a YAML text. */
function withPlaces(document: Definition, change: (at: string) => string): Definition {
  const kept = document.ui?.comments;
  if (!Array.isArray(kept)) return document;
  const comments = (kept as { at?: Json }[]).map((one) =>
    typeof one.at === "string" ? { ...one, at: change(one.at) } : one,
  );
  return { ...document, ui: { ...document.ui, comments: comments as Json } };
}

/**
 * Change a task's id in a position as comments store it: `tasks/loop/body/tasks/in`, or
 * `tasks/loop/body/edges/in>out`.
 */
function renamedPlace(at: string, body: BodyPath, old: string, id: string): string {
  const inside = body.map((one) => `tasks/${one}/body/`).join("");
  if (!at.startsWith(inside)) return at;
  const ids = (name: string): string =>
    name
      .split(">")
      .map((part, index) => (index < 2 && part === old ? id : part))
      .join(">");
  return inside + at.slice(inside.length).replace(/(?<=^(?:tasks|edges)\/)[^/]+/, ids);
}

export const changeTask = withTask;

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
  // Change inner bodies first, because the change of an outer body may remove their container.
  const keys = [...byBody.keys()].sort((a, b) => b.length - a.length);
  return keys.reduce((changed, key) => {
    const at = key === "" ? [] : key.split(".");
    return withBody(changed, at, (body) => change(body, byBody.get(key) ?? new Set(), at));
  }, document);
}
