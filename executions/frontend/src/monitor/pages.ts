/** Data of the page: the execution, and the addresses of related admin pages. */
import { ANY } from "../running/links";
import type { Run } from "./runs";

export interface Pages {
  execution: string;
  workflow: string;
  /** The execution's state when the server rendered the page. */
  state: string;
  /** Whether it is a test run, which has no dead letters. */
  test: boolean;
  signIn: string;
  executions: string;
  children: string;
  runs: string;
  runners: string;
  /** Functions that return the address of a page for an id. */
  run: (id: string) => string;
  approval: (id: string) => string;
  executionPage: (id: string) => string;
  deadLetters: (id: string) => string;
  /**
   * Addresses that fork from a step, without and with changes in the studio; "" without permission.
   */
  fork: string;
  studio: string;
}

/** Read the attributes that the server wrote on the page's root element. */
export function pagesOf(root: HTMLElement): Pages {
  const told = root.dataset;
  const page = (name: string) => (id: string) =>
    (told[name] ?? "").replace(ANY, encodeURIComponent(id));
  return {
    execution: told.execution ?? "",
    workflow: told.workflow ?? "",
    state: told.state ?? "",
    test: told.test === "true",
    signIn: told.signIn ?? "",
    executions: told.executions ?? "",
    children: told.children ?? "",
    runs: told.runs ?? "",
    runners: told.runners ?? "",
    run: page("runPage"),
    approval: page("approvalPage"),
    executionPage: page("executionPage"),
    deadLetters: page("deadLetters"),
    fork: told.fork ?? "",
    studio: told.studio ?? "",
  };
}

/** Return the page on which the user resolves the run's dead letter or decides on its approval. */
export function decisionOf(run: Run, pages: Pages) {
  if (run.state === "DLQ" && !pages.test) {
    return { href: pages.deadLetters(run.id), label: "monitor.itsDeadLetterRetryFix" } as const;
  }
  return run.state === "WAITING" && run.waitsFor === "approval"
    ? ({ href: pages.approval(run.id), label: "monitor.decideOnTheApproval" } as const)
    : null;
}
