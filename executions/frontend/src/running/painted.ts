/** Converts the results of an execution that is not watched to states on the canvas. Pure. */
import type { TaskPath } from "../document/types";
import type { TaskLive } from "../live/live";
import { markOf } from "../live/states";
import type { LastResults, TaskResult } from "./results";

export const painted = (results: LastResults | null): ReadonlyMap<TaskPath, TaskLive> =>
  new Map(Object.entries(results?.tasks ?? {}).map(([path, result]) => [path, live(result)]));

const live = (result: TaskResult): TaskLive => ({
  state: result.state,
  ...markOf(result.state),
  ...(result.error ? { error: result.error } : {}),
  outcomes: outcomesOf(result),
  runId: result.runId,
});

function outcomesOf({ state, outcome }: TaskResult): string[] {
  if (outcome) return [outcome];
  return state === "SUCCESS" ? ["success"] : [];
}
