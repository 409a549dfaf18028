/** Frames of an execution's stream: the newest state of the execution and of each run. Pure. */

import type { TaskPath } from "../document/types";

/** A run as the stream sends it; times are in RFC 3339. */
export interface RunRow {
  id: string;
  /** The step's path with iterations, such as `refine[2].draft.main`. */
  stepPath: string;
  module: string;
  attempt: number;
  epoch: number;
  superseded: boolean;
  state: string;
  waitsFor: string | null;
  worker: string;
  queue: string;
  queuedAt: string;
  startedAt: string | null;
  finishedAt: string | null;
  retryAfter: string | null;
  /** Total time that its module executed, in milliseconds. */
  durationMs: number | null;
  outcome: string | null;
  /** The beginning of the error message. */
  error: string | null;
  errorType: string;
  recoveries: number;
  /** The run whose result this run reused. */
  cachedFrom: string | null;
  /** The child execution that the run started. */
  childId: string | null;
}

export interface ExecutionRow {
  id: string;
  version: number;
  state: string;
  epoch: number;
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
  deadlineAt: string | null;
  priority: number;
  errorMessage: string | null;
  /** The progress of the undo steps; "" if there are none to run. */
  compensation: "" | "WAITING" | "RUNNING" | "DONE" | "FAILED";
  /** The final state, after the undo steps. */
  ending: string;
}

export interface Frame {
  now?: string;
  execution?: ExecutionRow;
  runs?: readonly RunRow[];
  /** In a snapshot: whether there are more runs than it contains. */
  more?: boolean;
}

export type FrameKind = "snapshot" | "state" | "end";

export interface Known {
  execution: ExecutionRow | null;
  runs: ReadonlyMap<string, RunRow>;
  /** Whether there are more runs than the server sent. */
  more: boolean;
  /** Milliseconds by which the server's clock is ahead of the browser's clock. */
  skew: number;
}

export const NOTHING_KNOWN: Known = {
  execution: null,
  runs: new Map(),
  more: false,
  skew: 0,
};

/** Apply a frame; a snapshot replaces all runs. */
export function applied(known: Known, kind: FrameKind, frame: Frame, ours: number): Known {
  const runs = new Map(kind === "snapshot" ? [] : known.runs);
  for (const run of frame.runs ?? []) runs.set(run.id, run);
  return {
    execution: frame.execution ?? known.execution,
    runs: kind === "end" ? known.runs : runs,
    more: kind === "snapshot" ? Boolean(frame.more) : known.more,
    skew: frame.now ? Date.parse(frame.now) - ours : known.skew,
  };
}

/** Return the newest attempt of each step, without runs that were rolled back. */
export function newestAttempts(runs: Iterable<RunRow>): Map<string, RunRow> {
  const newest = new Map<string, RunRow>();
  for (const run of runs) {
    if (run.superseded) continue;
    const other = newest.get(run.stepPath);
    if (!other || isNewer(run, other)) newest.set(run.stepPath, run);
  }
  return newest;
}

const isNewer = (one: RunRow, other: RunRow): boolean =>
  one.epoch === other.epoch ? one.attempt > other.attempt : one.epoch > other.epoch;

/** Count the attempts after the first ones. */
export const retriesIn = (runs: Iterable<RunRow>): number =>
  [...runs].filter((run) => run.attempt > 1 && !run.superseded).length;

/** Remove the iterations from a step's path: `refine[2].draft.main` becomes `refine.draft.main`. */
export const plainPath = (path: string): string => path.replace(/\[\d+\]/g, "");

const UNDO = "undo:";

/** Whether a step is an undo step, such as `refine[2].undo:draft.main`. */
export const isUndo = (step: string): boolean => step.includes(UNDO);

/**
 * Return the task of a step, or the task that the step undoes: `refine[2].draft.main` belongs to
 * `refine.draft`.
 */
export function taskOf(step: string): TaskPath {
  const plain = plainPath(step).replace(UNDO, "");
  const dot = plain.lastIndexOf(".");
  return dot < 0 ? plain : plain.slice(0, dot);
}
