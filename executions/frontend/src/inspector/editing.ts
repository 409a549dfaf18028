/** Edits from the inspector; typing in one field is one undo step. */
import { useMemo } from "react";
import { changeTask } from "../document/edits";
import { taskAt } from "../document/paths";
import type { Definition, Json, Task, TaskPath } from "../document/types";
import { keyOf, type Pointer, withValue } from "../forms/pointer";
import { useStudio } from "../store/studio";

/** Set a value of a task; undefined removes it. */
export function putInTask(path: TaskPath, pointer: Pointer, value: Json | undefined): void {
  const change = (task: Task): Task =>
    withValue(task as unknown as Json, pointer, value) as unknown as Task;
  const merge = `${keyOf(pointer)}@${path}`;
  useStudio.getState().edit((document) => changeTask(document, path, change), merge);
}

/** Set a value of the workflow; undefined removes it. */
export function putInWorkflow(pointer: Pointer, value: Json | undefined): void {
  const change = (document: Definition): Definition =>
    withValue(document as unknown as Json, pointer, value) as unknown as Definition;
  useStudio.getState().edit(change, `${keyOf(pointer)}@`);
}

/** Return the present version of a task. */
export const useTask = (path: TaskPath): Task | undefined =>
  useStudio((state) => taskAt(state.history.present, path));

/** Return the problems of a task, or of the workflow for null, by the key of their pointer. */
export function useProblemsOf(path: TaskPath | null): ReadonlyMap<string, readonly string[]> {
  const problems = useStudio((state) => state.problems);
  return useMemo(() => {
    const found = new Map<string, string[]>();
    for (const one of problems) {
      if (one.task !== path) continue;
      const key = keyOf(one.pointer);
      found.set(key, [...(found.get(key) ?? []), one.message]);
    }
    return found;
  }, [problems, path]);
}

/** Count the problems whose key matches. */
export function countBelow(
  problems: ReadonlyMap<string, readonly string[]>,
  belongs: (key: string) => boolean,
): number {
  return [...problems].reduce((sum, [key, found]) => sum + (belongs(key) ? found.length : 0), 0);
}
