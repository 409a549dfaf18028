/** The problems in display order: by task, errors first. Pure. */
import { groupedBy } from "../document/grouping";
import { taskAt } from "../document/paths";
import type { Definition, TaskPath } from "../document/types";
import type { FoundProblem } from "../store/studio";
import { t } from "../words/t";

export interface Group {
  task: TaskPath | null;
  title: string;
  problems: FoundProblem[];
}

/**
 * Group problems by task: first the workflow's own, then the tasks in order of their first problem.
 */
export function grouped(problems: readonly FoundProblem[], document: Definition): Group[] {
  const byTask = groupedBy(problems, (one) => one.task);
  const groups = [...byTask].map(([task, found]) => ({
    task,
    title: titleOf(task, document),
    problems: found.toSorted((one, other) => one.level.localeCompare(other.level)),
  }));
  return groups.sort((one, other) => Number(one.task !== null) - Number(other.task !== null));
}

function titleOf(task: TaskPath | null, document: Definition): string {
  if (task === null) return t("problems.workflow");
  return taskAt(document, task)?.name || task;
}
