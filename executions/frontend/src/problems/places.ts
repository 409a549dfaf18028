/**
 * Converts the server's paths, such as `tasks[2].body.tasks[0].with.url`, to a task and a pointer.
 */
import type { Problem } from "../api/shapes";
import { pathOf } from "../document/paths";
import type { Body, BodyPath, Definition } from "../document/types";
import type { FoundProblem } from "../store/studio";
import type { Pointer } from "./found";

type Place = Pick<FoundProblem, "task" | "pointer" | "edge">;

const PART = /\[(\d+)\]|\["([^"]*)"\]|\.?([^.[\]]+)/g;

/** Split a path of the server into its keys. */
export function keysOf(path: string): Pointer {
  return [...path.matchAll(PART)].map(([, index, quoted, name]) =>
    index === undefined ? (quoted ?? name ?? "") : Number(index),
  );
}

/** Return the task or edge of the server's path, in the document that the server checked. */
export function placeOf(path: string, document: Definition): Place {
  return placeIn(document, [], keysOf(path));
}

function placeIn(body: Body, at: BodyPath, keys: Pointer): Place {
  const [list, index, ...rest] = keys;
  const holder = at.length === 0 ? null : at.join(".");
  if (typeof index !== "number") return { task: holder, pointer: holderKeys(at, keys) };
  const task = list === "tasks" ? body.tasks[index] : undefined;
  if (task) {
    const within = rest[0] === "body" && task.body && rest.length > 2;
    if (within && task.body) return placeIn(task.body, [...at, task.id], rest.slice(1));
    return { task: pathOf(at, task.id), pointer: rest };
  }
  const edge = list === "edges" ? body.edges?.[index] : undefined;
  if (edge) {
    const source = body.tasks.some((one) => one.id === edge.from) ? edge.from : edge.to;
    return { task: pathOf(at, source), pointer: rest, edge: { body: at, edge } };
  }
  return { task: holder, pointer: holderKeys(at, keys) };
}

const holderKeys = (at: BodyPath, keys: Pointer): Pointer =>
  at.length === 0 ? keys : ["body", ...keys];

/** Convert the server's problems with a document. */
export const located = (
  problems: readonly Problem[],
  level: FoundProblem["level"],
  document: Definition,
): FoundProblem[] =>
  problems.map((problem) => ({
    ...problem,
    ...placeOf(problem.path, document),
    level,
    source: "server",
  }));
