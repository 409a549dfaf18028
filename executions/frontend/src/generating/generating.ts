/**
 * Generates a draft from a description with the installation's own language model.
 *
 * A test run of one step sends the request. A worker therefore applies the rules for credentials
 * and addresses, and the run shows the request and its costs.
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
  /** "" if the endpoint needs no credential. */
  credential: string;
}

/** Ask the model, and put its draft on the canvas as one undoable edit; nothing is saved. */
export async function generate(wanted: Wanted, signal: AbortSignal): Promise<void> {
  const { workflow, types, history, edit } = useStudio.getState();
  if (!workflow) return;
  const params = {
    system: promptFor([...types.values()]),
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
      // The prompt is passed as input, because its examples of expressions must not be rendered.
      with: { model, system: "{{ input.system }}", messages: "{{ input.description }}" },
      ...(credential ? { credential } : {}),
    },
  ],
  edges: [],
});

/** Wait for the end of the run and return the model's text. Raises Refused with the run's error. */
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
