/** Operations on executions. */
import { ask } from "../api/client";
import type { Definition, Json, TaskPath } from "../document/types";
import type { Pin } from "./pins";
import type { LastResults } from "./results";

/** An execution in a list. */
export interface ExecutionSummary {
  id: string;
  workflowId: string;
  version: number;
  /** Whether it is a test run. */
  test?: boolean;
  state: string;
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
}

export interface Started {
  id: string;
  state: string;
  triggerPayload?: Json;
}

/** The request for a test run. */
export interface TestRun {
  definition: Definition;
  params: Json;
  upTo?: string;
  from?: string;
  pinned?: Readonly<Record<TaskPath, Pin>>;
}

const SHOWN = 20;

/** Start a test run of a definition, or of a part of it. */
export const startTest = (workflow: string, run: TestRun, key: string): Promise<Started> =>
  posted(`v1/Workflow/${workflow}/test`, run, key);

/** Start an execution of a published version. */
export const startVersion = (
  workflow: string,
  run: { params: Json; version: number },
  key: string,
): Promise<Started> => posted(`v1/WorkflowExecution/${workflow}/execute`, run, key);

/** Fork an execution right before one of its steps, with a published version. */
export const forkExecution = (
  execution: string,
  fork: { stepPath: string; version: number },
  key: string,
): Promise<Started> => posted(`v1/WorkflowExecution/${execution}/fork`, fork, key);

export const cancelExecution = async (execution: string): Promise<void> => {
  await ask(`v1/WorkflowExecution/${execution}/cancel`, { method: "POST", json: {} });
};

/** Return the newest executions of a workflow, including test runs. */
export const recentExecutions = async (workflow: string): Promise<ExecutionSummary[]> =>
  (await ask<ExecutionSummary[]>(`v1/WorkflowExecution?workflowId=${workflow}&limit=${SHOWN}`))
    .data;

/** Return an execution's payload; a hidden payload is returned as its placeholder. */
export const payloadOf = async (execution: string): Promise<Json> =>
  (await ask<Started>(`v1/WorkflowExecution/${execution}`)).data.triggerPayload ?? null;

/** Return the complete output of a run. */
export const outputOf = async (run: string): Promise<Json> =>
  (await ask<{ outputs: Json }>(`v1/Run/${run}`)).data.outputs;

/**
 * Return the inputs and outputs of an execution's tasks, by default of the newest execution; null
 * if there is none.
 */
export async function fetchResults(
  workflow: string,
  execution: string | undefined,
  signal?: AbortSignal,
): Promise<LastResults | null> {
  const query = execution ? `?executionId=${execution}` : "";
  const { data } = await ask<LastResults | { executionId: null }>(
    `v1/Workflow/${workflow}/last-results${query}`,
    signal ? { signal } : {},
  );
  return data.executionId === null ? null : data;
}

async function posted(address: string, json: unknown, idempotencyKey: string): Promise<Started> {
  return (await ask<Started>(address, { method: "POST", json, idempotencyKey })).data;
}

/** Return a random key; `crypto.randomUUID` is not available on pages without HTTPS. */
export const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
