// Frames as the stream sends them; times are seconds after an arbitrary beginning.
export const T0 = Date.parse("2026-01-01T00:00:00Z");
export const time = (seconds) => (seconds === null ? null : new Date(T0 + seconds * 1000).toISOString());
const TIMES = ["queuedAt", "startedAt", "finishedAt", "retryAfter"];

/** A run's row; its id is its path and attempt. */
export function run(stepPath, values = {}) {
  const row = {
    stepPath, module: "flow.noop", attempt: 1, epoch: 0, superseded: false, state: "SUCCESS", waitsFor: "", worker: "",
    queue: "default", queuedAt: 0, startedAt: null, finishedAt: null, retryAfter: null, durationMs: null, outcome: "",
    error: "", errorType: "", recoveries: 0, cachedFrom: null, ...values,
  };
  for (const name of TIMES) row[name] = time(row[name]);
  return { id: `${stepPath}#${row.attempt}`, ...row };
}

/** A snapshot. */
export const frame = (execution, runs) => ({
  now: time(0),
  execution: { createdAt: time(0), startedAt: time(0), finishedAt: null, deadlineAt: null, ...execution },
  runs,
  more: false,
});

/** A task of the graph with its steps. */
export const node = (path, ...steps) => ({ path, title: path, steps: steps.map((name) => ({ path: `${path}.${name}`, module: "flow.noop" })) });
