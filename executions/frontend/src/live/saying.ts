/** What of an execution is said to who hears the page: its start, failures, and its end. */
import { taskAt } from "../document/paths";
import type { TaskPath } from "../document/types";
import { announce } from "../shared/announce";
import { useStudio } from "../store/studio";
import type { ExecutionRow } from "./frames";
import type { TaskLive } from "./live";
import { WRONG } from "./states";

const ENDS: Readonly<Record<string, string>> = {
  SUCCESS: "The run succeeded.",
  FAILED: "The run failed.",
  CANCELLED: "The run was cancelled.",
  TIMEOUT: "The run timed out.",
};

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
  const failed = [...after.tasks].filter(
    ([path, { state }]) => WRONG.has(state) && !WRONG.has(before.tasks.get(path)?.state ?? ""),
  );
  const said = failed.map(([path, live]) => {
    return `${name(path)} ${live.word}${live.error ? `: ${live.error}` : ""}`;
  });
  const state = after.execution?.state ?? "";
  if (state === before.execution?.state) return said;
  if (state === "RUNNING") return [...said, "The run started."];
  // The failures' own sentences would be lost behind the end's, which therefore names them.
  const because = said.length > 0 ? ` ${said.join(". ")}.` : "";
  const end = ENDS[state];
  return end ? [end + because] : said;
}

function nameOf(path: TaskPath): string {
  const task = taskAt(useStudio.getState().history.present, path);
  return task?.name ?? path;
}
