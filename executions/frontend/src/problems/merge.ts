/** Merges the browser's problems with those of the server's last response. Pure. */
import { taskAt } from "../document/paths";
import type { Definition } from "../document/types";
import type { FoundProblem } from "../store/studio";
import { t } from "../words/t";
import { OWN_CODES } from "./check";
import { keyOf } from "./found";

/** The server's problems, and the document that it checked. */
export interface Verdict {
  document: Definition;
  problems: readonly FoundProblem[];
}

/**
 * If the server checked this document, return only its problems; otherwise, return the browser's
 * problems, and the server's problems that may still apply.
 */
export function merged(
  document: Definition,
  own: readonly FoundProblem[],
  verdict: Verdict | null,
): FoundProblem[] {
  if (verdict === null) return distinct(own);
  const ours = new Map(own.map((one) => [keyOf(one), one]));
  // Use the browser's message for problems that both found, so that it does not change when the
  // server responds.
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

/** Whether a problem of an older document may still apply. */
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

/** Return `2 problems, 1 warning`, or `No problems`. */
export function counted(problems: readonly FoundProblem[]): string {
  const errors = problems.filter((one) => one.level === "error").length;
  const warnings = problems.length - errors;
  const parts = [
    errors > 0 ? t("problems.problems", { count: errors }) : "",
    warnings > 0 ? t("problems.warnings", { count: warnings }) : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? t("problems.noProblems") : parts.join(", ");
}
