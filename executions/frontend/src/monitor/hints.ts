/** A sentence about an execution that has not started a step. Pure. */
import type { ExecutionRow } from "../live/frames";
import { t } from "../words/t";
import type { Run } from "./runs";
import { at, span } from "./times";

const PATIENCE = 30_000;

/** Return the sentence; "" as soon as a step started. */
export function hintOf(execution: ExecutionRow | null, runs: readonly Run[], now: number): string {
  if (execution === null) return "";
  if (execution.state === "PENDING") {
    const since = span(now - (at(execution.createdAt) ?? now));
    return t("monitor.waitsForItsPlaceSince", { time: since });
  }
  if (runs.length === 0) {
    return execution.finishedAt === null
      ? t("monitor.nothingHasBeenPlannedYet")
      : t("monitor.itEndedWithoutRunningA");
  }
  if (runs.some((run) => run.startedAt !== null || run.state === "SKIPPED")) return "";
  const waited = now - runs.reduce((least, run) => Math.min(least, run.queuedAt), now);
  if (execution.finishedAt !== null || waited < 1000) return "";
  const queues = [...new Set(runs.map((run) => run.queue))].join(", ");
  const nobody = waited > PATIENCE ? ` ${t("monitor.noWorkerHasTakenIt")}` : "";
  const queued = t("monitor.queuedInForNoStep", { queues, time: span(waited) });
  return queued + nobody;
}
