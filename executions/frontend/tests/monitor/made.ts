/** Creates frames as the stream sends them; times are seconds after an arbitrary start. */
import type { Definition, Edge, Task } from "../../src/document/types";
import { applied, type Known, NOTHING_KNOWN, type RunRow } from "../../src/live/frames";
import { type Run, timed } from "../../src/monitor/runs";

export const T0 = Date.parse("2026-01-01T00:00:00Z");
const time = (seconds: number | null | undefined): string | null =>
  seconds === null || seconds === undefined ? null : new Date(T0 + seconds * 1000).toISOString();

type Times = "queuedAt" | "startedAt" | "finishedAt" | "retryAfter";
type Values = Partial<Omit<RunRow, Times> & Record<Times, number | null>>;

/** Return a run's row; its id consists of its path and attempt. */
export function row(stepPath: string, values: Values = {}): RunRow {
  const { queuedAt = 0, startedAt, finishedAt, retryAfter, ...rest } = values;
  return {
    id: `${stepPath}#${rest.attempt ?? 1}`,
    stepPath,
    module: "flow.noop",
    attempt: 1,
    epoch: 0,
    superseded: false,
    state: "SUCCESS",
    waitsFor: "",
    worker: "",
    queue: "default",
    durationMs: null,
    outcome: "",
    error: "",
    errorType: "",
    recoveries: 0,
    cachedFrom: null,
    childId: null,
    ...rest,
    queuedAt: time(queuedAt) ?? "",
    startedAt: time(startedAt),
    finishedAt: time(finishedAt),
    retryAfter: time(retryAfter),
  };
}

export const run = (stepPath: string, values: Values = {}): Run => timed(row(stepPath, values));

/** Return the state after a snapshot with these rows. */
export const known = (state: string, ...runs: RunRow[]): Known =>
  applied(
    NOTHING_KNOWN,
    "snapshot",
    {
      execution: {
        id: "e",
        version: 1,
        state,
        epoch: 0,
        createdAt: time(0) ?? "",
        startedAt: time(0),
        finishedAt: null,
        deadlineAt: null,
        priority: 5,
        errorMessage: null,
        compensation: "",
        ending: "",
      },
      runs,
    },
    0,
  );

/** Return a task with the modules of its chain, and with its body if it has one. */
export const task = (id: string, modules: readonly string[] = ["main"], body?: Task[]): Task => ({
  id,
  modules: modules.map((module) => ({ id: module, use: "flow.noop" })),
  ...(body ? { body: { tasks: body, edges: [] } } : {}),
});

export const of = (tasks: Task[], edges: Edge[] = []): Definition => ({
  schema: "valkyr/1",
  name: "w",
  tasks,
  edges,
});
