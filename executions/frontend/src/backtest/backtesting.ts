/** Start backtests of the draft, poll them, and show their verdicts on the canvas. */
import { ask } from "../api/client";
import type { TaskPath } from "../document/types";
import { type TaskLive, useLiveStore } from "../live/live";
import type { Mark } from "../live/states";
import { unwatch } from "../live/watching";
import { useStudio } from "../store/studio";
import { t } from "../words/t";

/** Worst verdict first: a task has the first of these verdicts that one of its steps has. */
export const VERDICTS = [
  "WOULD_CALL",
  "DIFFERENT_PATH",
  "DIFFERENT_OUTPUT",
  "NOT_COMPARABLE",
  "SAME",
] as const;
export type Verdict = (typeof VERDICTS)[number];

type Counts = Readonly<Record<Verdict, number>>;

export interface Group {
  stepPath: string;
  verdict: Verdict;
  text: string;
  executions: readonly string[];
}

export interface Backtest {
  id: string;
  state: "PENDING" | "RUNNING" | "DONE" | "CANCELLED" | "FAILED";
  total: number | null;
  done: number;
  error: string;
  counts: Counts;
  groups: readonly Group[];
  steps: readonly (Counts & { stepPath: string })[];
}

const MARKS: Readonly<Record<Verdict, Mark>> = {
  WOULD_CALL: { word: t("backtest.wouldCall"), icon: "call_made", colour: "red" },
  DIFFERENT_PATH: { word: t("backtest.differentPath"), icon: "alt_route", colour: "amber" },
  DIFFERENT_OUTPUT: { word: t("backtest.differentOutput"), icon: "difference", colour: "amber" },
  NOT_COMPARABLE: { word: t("backtest.notComparable"), icon: "help", colour: "grey" },
  SAME: { word: t("backtest.same"), icon: "check_circle", colour: "green" },
};

export const markOfVerdict = (verdict: Verdict): Mark => MARKS[verdict];
export const isOver = (backtest: Backtest): boolean =>
  !["PENDING", "RUNNING"].includes(backtest.state);

/** Start a backtest of the draft as displayed. Raises Refused, for example if it has problems. */
export async function startBacktest(last: number, failedOnly: boolean): Promise<Backtest> {
  const { workflow, history } = useStudio.getState();
  const json = { last, states: failedOnly ? ["FAILED"] : [], definition: history.present };
  const path = `v1/Workflow/${workflow?.id ?? ""}/backtest`;
  return (await ask<Backtest>(path, { method: "POST", json })).data;
}

export const getBacktest = async (id: string): Promise<Backtest> =>
  (await ask<Backtest>(`v1/Backtest/${id}`)).data;

export const cancelBacktest = async (id: string): Promise<Backtest> =>
  (await ask<Backtest>(`v1/Backtest/${id}/cancel`, { method: "POST", json: {} })).data;

/** Return each task's worst verdict, with the count of each verdict. Pure. */
export function paintedVerdicts(backtest: Backtest): ReadonlyMap<TaskPath, TaskLive> {
  const byTask = new Map<TaskPath, Record<Verdict, number>>();
  for (const step of backtest.steps) {
    const path = step.stepPath.slice(0, step.stepPath.lastIndexOf("."));
    const sum = byTask.get(path) ?? noneYet();
    for (const verdict of VERDICTS) sum[verdict] += step[verdict];
    byTask.set(path, sum);
  }
  return new Map([...byTask].map(([path, counts]) => [path, live(counts)]));
}

const noneYet = (): Record<Verdict, number> => ({
  WOULD_CALL: 0,
  DIFFERENT_PATH: 0,
  DIFFERENT_OUTPUT: 0,
  NOT_COMPARABLE: 0,
  SAME: 0,
});

function live(counts: Record<Verdict, number>): TaskLive {
  const verdict = VERDICTS.find((one) => counts[one] > 0) ?? "SAME";
  return {
    state: verdict,
    ...markOfVerdict(verdict),
    count: VERDICTS.filter((one) => counts[one] > 0)
      .map((one) => `${counts[one]} ${markOfVerdict(one).word}`)
      .join(", "),
    outcomes: [],
    runId: null,
  };
}

/** Show the verdicts on the canvas instead of an execution's states. */
export function showOnCanvas(backtest: Backtest): void {
  unwatch();
  useLiveStore.setState({ tasks: paintedVerdicts(backtest) });
}
