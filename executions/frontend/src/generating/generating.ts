/**
 * A draft from a description, written by the installation's own language model.
 *
 * The model is asked by a test run of one step, so that a worker sends the request, within the rules
 * for credentials and addresses, and the run shows what was asked and what it cost.
 */
import { ask, Refused } from "../api/client";
import { arranged } from "../document/layout";
import type { Definition } from "../document/types";
import { FINAL } from "../live/states";
import { fetchResults, newKey, outputOf, startTest } from "../running/executions";
import { wasCut } from "../running/starting";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import { draftOf } from "./answer";
import { promptFor } from "./prompt";

export const MODULE = "llm.chat";
const TASK = "write";
const LOOK = 700;

export interface Wanted {
  description: string;
  model: string;
  /** "" where the endpoint needs none. */
  credential: string;
}

/** Ask the model, and put its draft on the canvas: one step that can be undone, saved by nobody. */
export async function generate(wanted: Wanted, signal: AbortSignal): Promise<void> {
  const { workflow, types, history, edit } = useStudio.getState();
  if (!workflow) return;
  const params = {
    system: promptFor([...types.values()].filter(({ category }) => category !== "Import")),
    description: wanted.description,
  };
  const run = { definition: asking(wanted), params };
  const { id } = await startTest(workflow.id, run, newKey());
  const answer = await answered(workflow.id, id, signal);
  const draft = draftOf(answer, history.present.name);
  if (typeof draft === "string") {
    throw new Refused(1, t("generating.theAnswerIsNoWorkflow", { reason: draft }));
  }
  edit(() => arranged(draft, types));
}

const asking = ({ model, credential }: Wanted): Definition => ({
  schema: "valkyr/1",
  name: t("generating.nameOfTheRun"),
  tasks: [
    {
      id: TASK,
      use: MODULE,
      // What the prompt says of expressions is no expression itself.
      with: { model, system: "{{ input.system }}", messages: "{{ input.description }}" },
      ...(credential ? { credential } : {}),
    },
  ],
  edges: [],
});

/** The model's text, once the run is over. Raises Refused with the run's own error. */
async function answered(workflow: string, execution: string, signal: AbortSignal): Promise<string> {
  let state = "";
  while (!FINAL.has(state)) {
    await paused(signal);
    const { data } = await ask<{ state: string }>(`v1/WorkflowExecution/${execution}`, { signal });
    state = data.state;
  }
  const result = (await fetchResults(workflow, execution, signal))?.tasks[TASK];
  const outputs = result && wasCut(result.outputs) ? await outputOf(result.runId) : result?.outputs;
  const text = outputs && typeof outputs === "object" && "text" in outputs ? outputs.text : null;
  if (typeof text === "string") return text;
  throw new Refused(1, result?.error || t("generating.theModelDidNotAnswer"));
}

const paused = (signal: AbortSignal): Promise<void> =>
  new Promise((go, stop) => {
    const timer = setTimeout(go, LOOK);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      stop(signal.reason);
    });
  });
