/** Runs with their times as numbers, and what is asked of all of them. Pure. */
import { plainPath, type RunRow } from "../live/frames";
import { type Mark, markOfStep, WRONG } from "../live/states";
import { t } from "../words/t";
import { at, span } from "./times";

type Times = "queuedAt" | "startedAt" | "finishedAt" | "retryAfter";

/** A run; times are milliseconds since 1970. */
export interface Run extends Omit<RunRow, Times> {
  queuedAt: number;
  startedAt: number | null;
  finishedAt: number | null;
  retryAfter: number | null;
  /** Its step's path without turns. */
  plain: string;
}

const TIMED = new WeakMap<RunRow, Run>();

/** The run of a row; the same object for the same row. */
export function timed(row: RunRow): Run {
  const known = TIMED.get(row);
  if (known) return known;
  const run: Run = {
    ...row,
    queuedAt: at(row.queuedAt) ?? 0,
    startedAt: at(row.startedAt),
    finishedAt: at(row.finishedAt),
    retryAfter: at(row.retryAfter),
    plain: plainPath(row.stepPath),
  };
  TIMED.set(row, run);
  return run;
}

/** In the order of time. */
export const byTime = (one: Run, other: Run): number =>
  one.queuedAt - other.queuedAt || (one.id < other.id ? -1 : 1);

/** Attempts of one step, in order. */
export const byAttempt = (one: Run, other: Run): number =>
  one.epoch - other.epoch || one.attempt - other.attempt || byTime(one, other);

/** All attempts of a run's step, in order. */
export const attemptsOf = (run: Run, runs: Iterable<Run>): Run[] =>
  [...runs].filter((other) => other.stepPath === run.stepPath).sort(byAttempt);

/** Runs that failed or died and still count, in the order of time. */
export const wrongOf = (runs: Iterable<Run>): Run[] =>
  [...runs].filter((run) => !run.superseded && WRONG.has(run.state)).sort(byTime);

/** A step's path as people say it: without the id that every only module has. */
export const nameOfStep = (path: string): string => path.replace(/\.main$/, "");

/** The mark of a run: a retry says which and when, a sleeper what for. */
export function markOfRun(run: Run, now: number): Mark {
  const mark = markOfStep(run.state, run.attempt, run.waitsFor);
  if (run.superseded) return { ...mark, word: t("monitor.stateRolledBack", { word: mark.word }) };
  const waits = run.state === "PENDING" && run.retryAfter !== null && run.retryAfter > now;
  if (!waits || run.attempt === 1) return mark;
  return {
    ...mark,
    word: t("monitor.stateInTime", { word: mark.word, time: span((run.retryAfter ?? now) - now) }),
  };
}
