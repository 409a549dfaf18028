/** One problem as the studio knows it, and when two of them are the same. */
import type { TaskPath } from "../document/types";
import type { ChosenEdge } from "../store/selection";
import type { FoundProblem } from "../store/studio";

export type Pointer = readonly (string | number)[];

/** A problem that the browser found by itself. */
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

/** Equal of problems that say the same of the same place, whoever found them. */
export const keyOf = (problem: FoundProblem): string => {
  const { task, pointer, code, edge } = problem;
  const at = edge ? [...edge.body, edge.edge.from, edge.edge.to, edge.edge.on ?? ""] : pointer;
  return JSON.stringify([task, at, code]);
};

/** `["headers", 0, "a b"]` as `headers[0]["a b"]`, as the server writes places. */
export function keyPath(pointer: Pointer): string {
  return pointer.reduce<string>((path, part) => {
    if (typeof part === "number") return `${path}[${part}]`;
    if (!/^[\p{L}_][\p{L}\p{N}_-]*$/u.test(part)) return `${path}["${part}"]`;
    return path === "" ? part : `${path}.${part}`;
  }, "");
}
