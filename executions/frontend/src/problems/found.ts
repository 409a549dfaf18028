/** Problems as the studio stores them, and their identity. */
import type { TaskPath } from "../document/types";
import type { ChosenEdge } from "../store/selection";
import type { FoundProblem } from "../store/studio";

export type Pointer = readonly (string | number)[];

/** Create a problem that the browser found. */
export const found = (
  task: TaskPath | null,
  pointer: Pointer,
  code: string,
  message: string,
  edge?: ChosenEdge,
): FoundProblem => ({
  path: keyPath(pointer),
  code,
  message,
  task,
  pointer,
  level: "error",
  source: "client",
  ...(edge ? { edge } : {}),
});

/** Return a key that is equal for the same problem from the browser and from the server. */
export const keyOf = (problem: FoundProblem): string => {
  const { task, pointer, code, edge } = problem;
  const at = edge ? [...edge.body, edge.edge.from, edge.edge.to, edge.edge.on ?? ""] : pointer;
  return JSON.stringify([task, at, code]);
};

/** Write `["headers", 0, "a b"]` as `headers[0]["a b"]`, as the server writes paths. */
export function keyPath(pointer: Pointer): string {
  return pointer.reduce<string>((path, part) => {
    if (typeof part === "number") return `${path}[${part}]`;
    if (!/^[\p{L}_][\p{L}\p{N}_-]*$/u.test(part)) return `${path}["${part}"]`;
    return path === "" ? part : `${path}.${part}`;
  }, "");
}
