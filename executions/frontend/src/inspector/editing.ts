/** Ways to change the document from the inspector; typing in one field is one undo step. */
import { useMemo } from "react";
import { changeTask } from "../document/edits";
import { taskAt } from "../document/paths";
import type { Definition, Json, Task, TaskPath } from "../document/types";
import { keyOf, type Pointer, withValue } from "../forms/pointer";
import { useStudio } from "../store/studio";

/** Put a value in one place of a task; undefined takes it out. */
export function putInTask(path: TaskPath, pointer: Pointer, value: Json | undefined): void {
  const change = (task: Task): Task =>
    withValue(task as unknown as Json, pointer, value) as unknown as Task;
  const merge = `${keyOf(pointer)}@${path}`;
  useStudio.getState().edit((document) => changeTask(document, path, change), merge);
}

/** Put a value in one place of the workflow itself; undefined takes it out. */
export function putInWorkflow(pointer: Pointer, value: Json | undefined): void {
  const change = (document: Definition): Definition =>
    withValue(document as unknown as Json, pointer, value) as unknown as Definition;
  useStudio.getState().edit(change, `${keyOf(pointer)}@`);
}

/** The task at a path as it is now. */
export const useTask = (path: TaskPath): Task | undefined =>
  useStudio((state) => taskAt(state.history.present, path));

/** What was found wrong with a task (or, for null, the workflow), by the key of its pointer. */
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

/** How many of them stand at or below one of these keys. */
export function countBelow(
  problems: ReadonlyMap<string, readonly string[]>,
  belongs: (key: string) => boolean,
): number {
  return [...problems].reduce((sum, [key, found]) => sum + (belongs(key) ? found.length : 0), 0);
}
