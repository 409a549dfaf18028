/** The operations on executions that the studio asks for. */
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

/** What a test run is asked for with. */
export interface TestRun {
  definition: Definition;
  params: Json;
  upTo?: string;
  from?: string;
  pinned?: Readonly<Record<TaskPath, Pin>>;
}

const SHOWN = 20;

/** Run a definition, or a part of it, once, as a test. */
export const startTest = (workflow: string, run: TestRun, key: string): Promise<Started> =>
  posted(`v1/Workflow/${workflow}/test`, run, key);

/** Start one execution of a published version. */
export const startVersion = (
  workflow: string,
  run: { params: Json; version: number },
  key: string,
): Promise<Started> => posted(`v1/WorkflowExecution/${workflow}/execute`, run, key);

/** Start a new execution from right before a step of another, on a published version. */
export const forkExecution = (
  execution: string,
  fork: { stepPath: string; version: number },
  key: string,
): Promise<Started> => posted(`v1/WorkflowExecution/${execution}/fork`, fork, key);

export const cancelExecution = async (execution: string): Promise<void> => {
  await ask(`v1/WorkflowExecution/${execution}/cancel`, { method: "POST", json: {} });
};

/** The newest executions of a workflow, test runs among them. */
export const recentExecutions = async (workflow: string): Promise<ExecutionSummary[]> =>
  (await ask<ExecutionSummary[]>(`v1/WorkflowExecution?workflowId=${workflow}&limit=${SHOWN}`))
    .data;

/** What an execution began with; a hidden payload is told as it stands. */
export const payloadOf = async (execution: string): Promise<Json> =>
  (await ask<Started>(`v1/WorkflowExecution/${execution}`)).data.triggerPayload ?? null;

/** The output of a run, in full. */
export const outputOf = async (run: string): Promise<Json> =>
  (await ask<{ outputs: Json }>(`v1/Run/${run}`)).data.outputs;

/** What the tasks of an execution got and gave; of the newest one, or null where there is none. */
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

/** A key nobody has used; `randomUUID` is missing where a page is not served securely. */
export const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
