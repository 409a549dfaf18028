/** Finds problems in a document without asking the server. Pure. */
import type { ModuleType } from "../api/shapes";
import { pathOf } from "../document/paths";
import type { Body, BodyPath, Definition } from "../document/types";
import type { FoundProblem } from "../store/studio";
import { fieldMistakes } from "./fields";
import { found } from "./found";
import { graphProblems, wiringOf } from "./graph";
import { outputProblems, taskTemplateProblems, type View } from "./scopes";

/** Codes of the problems that the browser can find; only the server finds others. */
export const OWN_CODES: ReadonlySet<string> = new Set([
  "cycle",
  "duplicate_edge",
  "duplicate_id",
  "outcome_required",
  "required",
  "task_not_before",
  "type",
  "unknown_key",
  "unknown_module",
  "unknown_outcome",
  "unknown_task",
  "unknown_variable",
  "unreachable",
]);

/** Return every problem that the browser can find; results for unchanged tasks are reused. */
export function check(
  document: Definition,
  types: ReadonlyMap<string, ModuleType>,
): FoundProblem[] {
  const problems: FoundProblem[] = [];
  const walk = (body: Body, at: BodyPath, outer: readonly View[]): void => {
    const wiring = wiringOf(body, at);
    problems.push(...graphProblems(wiring, types));
    for (const task of body.tasks) {
      const path = pathOf(at, task.id);
      const views = [{ wiring, task: task.id }, ...outer];
      for (const { pointer, code, message } of fieldMistakes(task, types)) {
        problems.push(found(path, pointer, code, message));
      }
      problems.push(...taskTemplateProblems(task, views, document, types));
      if (task.body) walk(task.body, [...at, task.id], views);
    }
    if (at.length === 0 && document.output !== undefined) {
      problems.push(...outputProblems(document, wiring));
    }
  };
  walk(document, [], []);
  return problems;
}
