/** What of an execution is said to who hears the page: its start, failures, and its end. */
import { taskAt } from "../document/paths";
import type { TaskPath } from "../document/types";
import { announce } from "../shared/announce";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import type { ExecutionRow } from "./frames";
import type { TaskLive } from "./live";
import { WRONG } from "./states";

const ENDS: Readonly<Record<string, string>> = {
  SUCCESS: t("live.theRunSucceeded"),
  FAILED: t("live.theRunFailed"),
  CANCELLED: t("live.theRunWasCancelled"),
  TIMEOUT: t("live.theRunTimedOut"),
};

const UNWANTED: ReadonlySet<string> = new Set(["FAILED", "TIMEOUT"]);
/** Of so many tasks that went wrong the end tells. */
const NAMED = 3;

interface Moment {
  tasks: ReadonlyMap<TaskPath, TaskLive>;
  execution: ExecutionRow | null;
}

/** Say what changed, in one sentence each; the newest wins where there are several. */
export function sayChanges(before: Moment, after: Moment): void {
  for (const sentence of changes(before, after, nameOf)) announce(sentence);
}

/** Failures first, the execution's own state last. Pure. */
export function changes(
  before: Moment,
  after: Moment,
  name: (path: TaskPath) => string,
): readonly string[] {
  const wrong = [...after.tasks].filter(([, { state }]) => WRONG.has(state));
  const told = (failed: typeof wrong): readonly string[] =>
    failed.map(([path, live]) => {
      return `${name(path)} ${live.word}${live.error ? `: ${live.error}` : ""}`;
    });
  const said = told(wrong.filter(([path]) => !WRONG.has(before.tasks.get(path)?.state ?? "")));
  const state = after.execution?.state ?? "";
  if (state === before.execution?.state) return said;
  if (state === "RUNNING") return [...said, t("live.theRunStarted")];
  // The failures' own sentences are lost behind the end's, which therefore names them.
  const because = UNWANTED.has(state) ? told(wrong.slice(0, NAMED)) : said;
  const end = ENDS[state];
  return end ? [[end, ...because.map((one) => `${one}.`)].join(" ")] : said;
}

function nameOf(path: TaskPath): string {
  const task = taskAt(useStudio.getState().history.present, path);
  return task?.name ?? path;
}
