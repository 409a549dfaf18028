/** Announces an execution's start, failures and end to screen readers. */
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
/** Maximum number of failed tasks that the announcement of the end names. */
const NAMED = 3;

interface Moment {
  tasks: ReadonlyMap<TaskPath, TaskLive>;
  execution: ExecutionRow | null;
}

/** Announce each change in a sentence; of several at once, only the newest is read. */
export function sayChanges(before: Moment, after: Moment): void {
  for (const sentence of changes(before, after, nameOf)) announce(sentence);
}

/** Return the sentences: first failures, then the execution's state. Pure. */
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
  // The announcement of the end replaces those of failures, so it names the failed tasks.
  const because = UNWANTED.has(state) ? told(wrong.slice(0, NAMED)) : said;
  const end = ENDS[state];
  return end ? [[end, ...because.map((one) => `${one}.`)].join(" ")] : said;
}

function nameOf(path: TaskPath): string {
  const task = taskAt(useStudio.getState().history.present, path);
  return task?.name ?? path;
}
