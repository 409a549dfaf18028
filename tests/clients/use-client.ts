// Uses the generated TypeScript types: starts an execution with fetch, and reads it.
import type { components, operations } from "./schema";

declare const process: { env: Record<string, string> };

type Execution = components["schemas"]["WorkflowExecution"];
type Start = NonNullable<
  operations["executeWorkflow"]["requestBody"]
>["content"]["application/json"];

const { URL: address, TOKEN: token, WORKFLOW: workflow } = process.env;
const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };

async function answer(request: Promise<Response>): Promise<Execution> {
  const response = await request;
  if (!response.ok) {
    const problem: components["schemas"]["Problem"] = await response.json();
    throw new Error(`${problem.status} ${problem.code}: ${problem.detail}`);
  }
  return response.json();
}

const body: Start = { params: { name: "Ada" } };
const started = await answer(
  fetch(`${address}/v1/WorkflowExecution/${workflow}/execute`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  }),
);
const read = await answer(fetch(`${address}/v1/WorkflowExecution/${started.id}`, { headers }));
const state: components["schemas"]["ExecutionState"] = read.state;
if (state !== "PENDING" && state !== "RUNNING") throw new Error(state);
console.log(read.id, JSON.stringify(read.triggerPayload));
