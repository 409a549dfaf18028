import type { Body, Definition, Edge, Json, JsonObject, Task } from "./types";

/**
 * Normalize a document from the server or a file: convert `after` to edges and `on` to text, and
 * add missing lists.
 */
export function read(raw: JsonObject, name: string): Definition {
  const body = readBody(raw);
  return {
    ...(raw as unknown as Definition),
    ...body,
    schema: "valkyr/1",
    name: nameOf(raw, name),
  };
}

/** Return an empty workflow with this name. */
export const emptyDocument = (name: string): Definition => ({
  schema: "valkyr/1",
  name,
  tasks: [],
  edges: [],
});

const nameOf = (raw: JsonObject, name: string): string =>
  typeof raw.name === "string" && raw.name !== "" ? raw.name : name;

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const objects = (value: Json | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

function readBody(raw: JsonObject): Body {
  const edges = objects(raw.edges).map(readEdge);
  const tasks = objects(raw.tasks).map((task) => {
    edges.push(...afterOf(task));
    return readTask(task);
  });
  return { ...(isObject(raw.ui) ? { ui: raw.ui as Body["ui"] } : {}), tasks, edges };
}

function readTask(raw: JsonObject): Task {
  const { after: _, body, ...rest } = raw;
  const task = rest as unknown as Task;
  return isObject(body) ? { ...task, body: readBody(body) } : task;
}

function readEdge(raw: JsonObject): Edge {
  const edge = raw as unknown as Edge;
  return raw.on === undefined ? edge : { ...edge, on: String(raw.on) };
}

/** Convert `after: fetch`, or `after: [fetch, "risky:true"]`, to edges into the task. */
function afterOf(task: JsonObject): Edge[] {
  const entries = Array.isArray(task.after) ? task.after : task.after ? [task.after] : [];
  return entries.map(String).map((entry) => {
    const colon = entry.indexOf(":");
    const to = String(task.id);
    return colon < 0
      ? { from: entry, to }
      : { from: entry.slice(0, colon), to, on: entry.slice(colon + 1) };
  });
}
