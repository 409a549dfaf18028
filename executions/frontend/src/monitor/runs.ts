/** Runs with their times as numbers, and functions for lists of runs. Pure. */
import { plainPath, type RunRow } from "../live/frames";
import { type Mark, markOfStep, WRONG } from "../live/states";
import { t } from "../words/t";
import { at, span } from "./times";

type Times = "queuedAt" | "startedAt" | "finishedAt" | "retryAfter";

/** A run whose times are milliseconds since 1970. */
export interface Run extends Omit<RunRow, Times> {
  queuedAt: number;
  startedAt: number | null;
  finishedAt: number | null;
  retryAfter: number | null;
  /** The step's path without iterations. */
  plain: string;
}

const TIMED = new WeakMap<RunRow, Run>();

/** Convert a row of the stream; the same row always gives the same object. */
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

export const byTime = (one: Run, other: Run): number =>
  one.queuedAt - other.queuedAt || (one.id < other.id ? -1 : 1);

/** Compare attempts of one step. */
export const byAttempt = (one: Run, other: Run): number =>
  one.epoch - other.epoch || one.attempt - other.attempt || byTime(one, other);

/** Return all attempts of a run's step, in order. */
export const attemptsOf = (run: Run, runs: Iterable<Run>): Run[] =>
  [...runs].filter((other) => other.stepPath === run.stepPath).sort(byAttempt);

/** Return failed and dead runs that were not rolled back, in order of time. */
export const wrongOf = (runs: Iterable<Run>): Run[] =>
  [...runs].filter((run) => !run.superseded && WRONG.has(run.state)).sort(byTime);

/** Return a step's path for display, without the id `main` of an only module. */
export const nameOfStep = (path: string): string => path.replace(/\.main$/, "");

/** Return the mark of a run; it names the number and time of a retry, or what the run waits for. */
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
