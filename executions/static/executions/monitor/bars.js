// The parts of a run's bar on the time axis. A run that is not over reaches to now.
import { LIVE } from "./states.js";

/** [{ kind, from, to }]: "backoff", "queued", "waiting", "running", in the order of time. */
export function partsOf(run, now) {
  const end = run.finishedAt ?? now;
  const parts = [];
  const ready = Math.max(run.queuedAt, run.retryAfter ?? run.queuedAt);
  const begun = run.startedAt ?? (LIVE.has(run.state) ? now : end);
  add(parts, "backoff", run.queuedAt, Math.min(ready, begun));
  add(parts, "queued", Math.min(ready, begun), begun);
  if (run.startedAt === null || run.state === "SKIPPED") return parts;
  const slept = run.waitsFor ? sleptUntil(run, end) : run.startedAt;
  add(parts, "waiting", run.startedAt, slept);
  add(parts, "running", slept, Math.max(end, slept), true);
  return parts;
}

// A container waits for its body until its end. Others that woke worked at the end, for as long as
// their duration says.
function sleptUntil(run, end) {
  if (run.state === "WAITING" || run.waitsFor === "body") return end;
  const worked = run.finishedAt !== null ? (run.durationMs ?? 0) : 0;
  return Math.max(run.startedAt, end - worked);
}

function add(parts, kind, from, to, even = false) {
  if (to > from || (even && parts.length === 0)) parts.push({ kind, from, to });
}

/** How long a run has worked or works; a container, with its body. */
export function lengthOf(run, now) {
  if (run.state === "SKIPPED" || run.startedAt === null) return null;
  if (run.durationMs !== null && run.state !== "WAITING" && run.waitsFor !== "body" && run.finishedAt !== null) return run.durationMs;
  return Math.max(0, (run.finishedAt ?? now) - run.startedAt);
}
