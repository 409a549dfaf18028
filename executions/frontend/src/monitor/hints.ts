/** What an execution that does not move yet says of itself. Pure. */
import type { ExecutionRow } from "../live/frames";
import type { Run } from "./runs";
import { at, span } from "./times";

const PATIENCE = 30_000;

/** A sentence, or "" while there is something to be seen. */
export function hintOf(execution: ExecutionRow | null, runs: readonly Run[], now: number): string {
  if (execution === null) return "";
  if (execution.state === "PENDING") {
    const since = span(now - (at(execution.createdAt) ?? now));
    return `Waits for its place since ${since}: no step is planned before it is admitted. “Why” says what it waits for.`;
  }
  if (runs.length === 0) {
    return execution.finishedAt === null
      ? "Nothing has been planned yet."
      : "It ended without running a step.";
  }
  if (runs.some((run) => run.startedAt !== null || run.state === "SKIPPED")) return "";
  const waited = now - runs.reduce((least, run) => Math.min(least, run.queuedAt), now);
  if (execution.finishedAt !== null || waited < 1000) return "";
  const queues = [...new Set(runs.map((run) => run.queue))].join(", ");
  const nobody =
    waited > PATIENCE
      ? " No worker has taken it: see which workers there are, and what they serve."
      : "";
  return `Queued in ${queues} for ${span(waited)}; no step has started yet.${nobody}`;
}
