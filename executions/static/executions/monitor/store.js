// What is known of the execution: the newest state of it and of each run, from the stream's frames.
import { at } from "./times.js";

const TIMES = ["queuedAt", "startedAt", "finishedAt", "retryAfter"];
const OF_EXECUTION = ["createdAt", "startedAt", "finishedAt", "deadlineAt"];

function withTimes(row, names) {
  const made = { ...row };
  for (const name of names) made[name] = at(row[name]);
  return made;
}

/** A step's path without turns: "refine[2].draft.main" is "refine.draft.main". */
export const plainPath = (path) => path.replace(/\[\d+\]/g, "");

export class Store {
  execution = null;
  runs = new Map();
  /** Whether there are more runs than the server sends. */
  more = false;
  /** How far the server's clock is ahead of ours. */
  skew = 0;

  /** Take a frame's data; a snapshot replaces what was there. Tells what changed. */
  apply(kind, frame, ours = Date.now()) {
    if (frame.now) this.skew = at(frame.now) - ours;
    const before = this.execution;
    if (kind === "snapshot") {
      this.more = Boolean(frame.more);
      const kept = new Set((frame.runs ?? []).map((run) => run.id));
      for (const id of this.runs.keys()) if (!kept.has(id)) this.runs.delete(id);
    }
    if (frame.execution) this.execution = withTimes(frame.execution, OF_EXECUTION);
    const changed = (frame.runs ?? []).map((row) => this.#take(row));
    return { execution: { before, after: this.execution }, runs: changed };
  }

  #take(row) {
    const before = this.runs.get(row.id) ?? null;
    const after = withTimes(row, TIMES);
    after.plain = before ? before.plain : plainPath(row.stepPath);
    this.runs.set(row.id, after);
    return { before, after };
  }

  /** The server's time now. */
  now(ours = Date.now()) {
    return ours + this.skew;
  }

  /** All attempts of a run's step, in order. */
  attempts(run) {
    const same = [...this.runs.values()].filter((other) => other.stepPath === run.stepPath);
    return same.sort((a, b) => a.epoch - b.epoch || a.attempt - b.attempt || a.queuedAt - b.queuedAt);
  }

  /** Runs that failed or died and still count, in the order of time. */
  wrong() {
    const found = [...this.runs.values()].filter((run) => !run.superseded && (run.state === "DLQ" || run.state === "FAILED"));
    return found.sort((a, b) => a.queuedAt - b.queuedAt || (a.id < b.id ? -1 : 1));
  }
}
