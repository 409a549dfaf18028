// What an execution that does not move yet says of itself.
import { span } from "./times.js";

const PATIENCE = 30_000;

/** A sentence, or "" while there is something to be seen. */
export function hint(store) {
  const { execution, runs } = store;
  if (!execution) return "";
  const now = store.now();
  if (execution.state === "PENDING") return `Waits for its place since ${span(now - execution.createdAt)}: no step is planned before it is admitted. “Why” says what it waits for.`;
  if (runs.size === 0) return execution.finishedAt === null ? "Nothing has been planned yet." : "It ended without running a step.";
  const all = [...runs.values()];
  if (all.some((run) => run.startedAt !== null || run.state === "SKIPPED")) return "";
  const queues = [...new Set(all.map((run) => run.queue))].join(", ");
  const waited = now - Math.min(...all.map((run) => run.queuedAt));
  if (execution.finishedAt !== null || waited < 1000) return "";
  const nobody = waited > PATIENCE ? " No worker has taken it: see which workers there are, and what they serve." : "";
  return `Queued in ${queues} for ${span(waited)}; no step has started yet.${nobody}`;
}
