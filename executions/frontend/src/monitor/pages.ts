/** What the page was opened with: the execution, and the admin's pages about it. */
import { ANY } from "../running/links";

export interface Pages {
  execution: string;
  workflow: string;
  /** The state that the server drew the page in. */
  state: string;
  /** Whether it is a test run: what is dead in one has no dead letter. */
  test: boolean;
  signIn: string;
  executions: string;
  children: string;
  runs: string;
  runners: string;
  /** Pages of one thing, by its id. */
  run: (id: string) => string;
  approval: (id: string) => string;
  executionPage: (id: string) => string;
  deadLetters: (id: string) => string;
  /** Where a step is forked from, as it is and with changes in the studio; "" where nobody may. */
  fork: string;
  studio: string;
}

/** What the server wrote on the page's root element. */
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
