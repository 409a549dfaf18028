/** What the stream of an execution tells: the newest state of it and of each of its runs. Pure. */

import type { TaskPath } from "../document/types";

/** A run as the stream has it; times are RFC 3339. */
export interface RunRow {
  id: string;
  /** With turns: `refine[2].draft.main`. */
  stepPath: string;
  attempt: number;
  epoch: number;
  superseded: boolean;
  state: string;
  waitsFor: string | null;
  queuedAt: string;
  startedAt: string | null;
  finishedAt: string | null;
  outcome: string | null;
  error: string | null;
}

export interface ExecutionRow {
  id: string;
  version: number;
  state: string;
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
  errorMessage: string | null;
}

export interface Frame {
  now?: string;
  execution?: ExecutionRow;
  runs?: readonly RunRow[];
}

export type FrameKind = "snapshot" | "state" | "end";

export interface Known {
  execution: ExecutionRow | null;
  runs: ReadonlyMap<string, RunRow>;
  /** How many milliseconds the server's clock is ahead of ours. */
  skew: number;
}

export const NOTHING_KNOWN: Known = { execution: null, runs: new Map(), skew: 0 };

/** What is known after a frame; a snapshot takes the place of all runs. */
export function applied(known: Known, kind: FrameKind, frame: Frame, ours: number): Known {
  const runs = new Map(kind === "snapshot" ? [] : known.runs);
  for (const run of frame.runs ?? []) runs.set(run.id, run);
  return {
    execution: frame.execution ?? known.execution,
    runs: kind === "end" ? known.runs : runs,
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

/** The task of a step: `refine[2].draft.main` is of `refine.draft`. */
export function taskOf(step: string): TaskPath {
  const plain = plainPath(step);
  const dot = plain.lastIndexOf(".");
  return dot < 0 ? plain : plain.slice(0, dot);
}
