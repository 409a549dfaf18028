/** The parts of a run's bar on the time axis. An unfinished run extends to the present. Pure. */
import { ALIVE } from "../live/states";
import type { Run } from "./runs";

export interface Part {
  kind: "backoff" | "queued" | "waiting" | "running";
  from: number;
  to: number;
}

/** Return the parts in order of time. */
export function partsOf(run: Run, now: number): Part[] {
  const end = run.finishedAt ?? now;
  const parts: Part[] = [];
  const ready = Math.max(run.queuedAt, run.retryAfter ?? run.queuedAt);
  const begun = run.startedAt ?? (ALIVE.has(run.state) ? now : end);
  add(parts, "backoff", run.queuedAt, Math.min(ready, begun));
  add(parts, "queued", Math.min(ready, begun), begun);
  if (run.startedAt === null || run.state === "SKIPPED") return parts;
  const slept = run.waitsFor ? sleptUntil(run, run.startedAt, end) : run.startedAt;
  add(parts, "waiting", run.startedAt, slept);
  add(parts, "running", slept, Math.max(end, slept), true);
  return parts;
}

/**
 * Return the end of the wait. A container waits for its body until its own end. Other runs worked
 * after their wait, for the length of their duration.
 */
function sleptUntil(run: Run, started: number, end: number): number {
  if (run.state === "WAITING" || run.waitsFor === "body") return end;
  const worked = run.finishedAt !== null ? (run.durationMs ?? 0) : 0;
  return Math.max(started, end - worked);
}

function add(parts: Part[], kind: Part["kind"], from: number, to: number, even = false): void {
  if (to > from || (even && parts.length === 0)) parts.push({ kind, from, to });
}

/** Return how long a run has worked, in milliseconds; for a container, this includes its body. */
export function lengthOf(run: Run, now: number): number | null {
  if (run.state === "SKIPPED" || run.startedAt === null) return null;
  const waits = run.state === "WAITING" || run.waitsFor === "body";
  if (run.durationMs !== null && !waits && run.finishedAt !== null) return run.durationMs;
  return Math.max(0, (run.finishedAt ?? now) - run.startedAt);
}
