/** One list out of what the browser finds now and what the server last said. Pure. */
import { taskAt } from "../document/paths";
import type { Definition } from "../document/types";
import type { FoundProblem } from "../store/studio";
import { t } from "../words/t";
import { OWN_CODES } from "./check";
import { keyOf } from "./found";

/** What the server said, and of which document. */
export interface Verdict {
  document: Definition;
  problems: readonly FoundProblem[];
}

/** Of this very document the server alone is right; of an older one what may still be true. */
export function merged(
  document: Definition,
  own: readonly FoundProblem[],
  verdict: Verdict | null,
): FoundProblem[] {
  if (verdict === null) return distinct(own);
  const ours = new Map(own.map((one) => [keyOf(one), one]));
  // The browser's words for what both found, so that sentences do not change as answers come.
  const theirs = verdict.problems.map((one) => {
    const same = ours.get(keyOf(one));
    return same ? { ...one, message: same.message } : one;
  });
  if (verdict.document === document) return distinct(theirs);
  const standing = theirs.filter(
    (one) => ours.has(keyOf(one)) || mayStand(one, verdict.document, document),
  );
  return distinct([...own, ...standing]);
}

/** Whether a problem of an older document may still be one. */
function mayStand(problem: FoundProblem, before: Definition, now: Definition): boolean {
  if (problem.task === null) return true;
  const task = taskAt(now, problem.task);
  if (!task || problem.edge) return false;
  return task === taskAt(before, problem.task) || !OWN_CODES.has(problem.code);
}

function distinct(problems: readonly FoundProblem[]): FoundProblem[] {
  const byKey = new Map<string, FoundProblem>();
  for (const one of problems) {
    const key = keyOf(one);
    if (!byKey.has(key)) byKey.set(key, one);
  }
  return [...byKey.values()];
}

/** `2 problems, 1 warning`, or `No problems`. */
export function counted(problems: readonly FoundProblem[]): string {
  const errors = problems.filter((one) => one.level === "error").length;
  const warnings = problems.length - errors;
  const parts = [
    errors > 0 ? t("problems.problems", { count: errors }) : "",
    warnings > 0 ? t("problems.warnings", { count: warnings }) : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? t("problems.noProblems") : parts.join(", ");
}
