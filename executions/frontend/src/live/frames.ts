/** What the stream of an execution tells: the newest state of it and of each of its runs. Pure. */

import type { TaskPath } from "../document/types";

/** A run as the stream has it; times are RFC 3339. */
export interface RunRow {
  id: string;
  /** With turns: `refine[2].draft.main`. */
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
  /** How long its module worked, over all of its turns at work. */
  durationMs: number | null;
  outcome: string | null;
  /** The error's first words. */
  error: string | null;
  errorType: string;
  recoveries: number;
  /** The run whose result it reused. */
  cachedFrom: string | null;
  /** The execution that it started. */
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
  /** How far its undo steps are; "" where none is due. */
  compensation: "" | "WAITING" | "RUNNING" | "DONE" | "FAILED";
  /** The state it ends in once they have run. */
  ending: string;
}

export interface Frame {
  now?: string;
  execution?: ExecutionRow;
  runs?: readonly RunRow[];
  /** Of a snapshot: whether there are more runs than it holds. */
  more?: boolean;
}

export type FrameKind = "snapshot" | "state" | "end";

export interface Known {
  execution: ExecutionRow | null;
  runs: ReadonlyMap<string, RunRow>;
  /** Whether there are more runs than the server tells. */
  more: boolean;
  /** How many milliseconds the server's clock is ahead of ours. */
  skew: number;
}

export const NOTHING_KNOWN: Known = {
  execution: null,
  runs: new Map(),
  more: false,
  skew: 0,
};

/** What is known after a frame; a snapshot takes the place of all runs. */
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

/** The run that counts of each step: of the newest attempt, none that was rolled back. */
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

/** How many attempts after a first one there were. */
export const retriesIn = (runs: Iterable<RunRow>): number =>
  [...runs].filter((run) => run.attempt > 1 && !run.superseded).length;

/** A step's path without turns: `refine[2].draft.main` is `refine.draft.main`. */
export const plainPath = (path: string): string => path.replace(/\[\d+\]/g, "");

const UNDO = "undo:";

/** Whether a step undoes a task: `refine[2].undo:draft.main`. */
export const isUndo = (step: string): boolean => step.includes(UNDO);

/** The task of a step, or the one it undoes: `refine[2].draft.main` is of `refine.draft`. */
export function taskOf(step: string): TaskPath {
  const plain = plainPath(step).replace(UNDO, "");
  const dot = plain.lastIndexOf(".");
  return dot < 0 ? plain : plain.slice(0, dot);
}
