import type { TaskPath } from "../document/types";
import type { FoundProblem } from "../store/studio";

/** The number of problems and warnings of a task. */
export interface Count {
  errors: number;
  warnings: number;
}

export const NONE: Count = { errors: 0, warnings: 0 };

/** Count the problems of each task. */
export function countsOf(problems: readonly FoundProblem[]): ReadonlyMap<TaskPath, Count> {
  const counts = new Map<TaskPath, Count>();
  for (const { task, level } of problems) {
    if (task === null) continue;
    const { errors, warnings } = counts.get(task) ?? NONE;
    counts.set(
      task,
      level === "error" ? { errors: errors + 1, warnings } : { errors, warnings: warnings + 1 },
    );
  }
  return counts;
}
