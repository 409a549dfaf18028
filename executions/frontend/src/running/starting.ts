/** Starts the execution that the run dialog describes, at most once, and watches it. */
import type { Json } from "../document/types";
import { watch } from "../live/watching";
import { announce } from "../shared/announce";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import { newKey, outputOf, type Started, startTest, startVersion } from "./executions";
import { type Part, pinsOf, startOf, testRunOf, upstreamOf } from "./parts";
import { type Pins, usePins } from "./pins";
import { type LastResults, newestResults } from "./results";

export interface Order {
  /** The document as displayed, or the newest published version. */
  what: "draft" | "published";
  part: Part;
  params: Json;
  /** With a part: whether displayed results replace earlier tasks that are not pinned. */
  useShown: boolean;
}

// If a start got no response, repeating it uses the same key; a different request gets a new key.
let last = { text: "", key: "" };

/** Start the execution; raises Refused with all problems. */
export async function start(order: Order): Promise<void> {
  const started = await sent(order);
  last = { text: "", key: "" };
  useStudio.getState().set({ dialog: null });
  announce(order.what === "draft" ? t("running.testRunStarted") : t("running.runStarted"));
  watch(started.id, { started: true });
}

async function sent({ what, part, params, useShown }: Order): Promise<Started> {
  const { workflow, history } = useStudio.getState();
  if (!workflow) throw new Error(t("running.noWorkflowIsOpen"));
  if (what === "published") {
    const run = { params, version: workflow.latestVersion ?? 0 };
    return startVersion(workflow.id, run, keyOf(run));
  }
  const pins = await pinsFor(part, useShown);
  const run = testRunOf(history.present, part, params, pins);
  return startTest(workflow.id, run, keyOf(run));
}

function keyOf(run: unknown): string {
  const text = JSON.stringify(run);
  if (text !== last.text) last = { text, key: newKey() };
  return last.key;
}

/** Return the pins, and the displayed execution's results for other tasks before the part. */
async function pinsFor(part: Part, useShown: boolean): Promise<Pins> {
  const { pins } = usePins.getState();
  const from = startOf(part);
  if (from === null || !useShown) return pins;
  return new Map([...(await shownBefore(from)), ...pins]);
}

/** Return the displayed execution's complete results of every task before this one. */
export async function shownBefore(task: string): Promise<Pins> {
  const results = await newestResults();
  const tasks = upstreamOf(useStudio.getState().history.present, task);
  return pinsOf(results && (await whole(results, tasks)), tasks);
}

/** Load the complete outputs of these tasks if they were left out for their size. */
async function whole(results: LastResults, tasks: readonly string[]): Promise<LastResults> {
  const found = { ...results.tasks };
  for (const path of tasks) {
    const result = found[path];
    if (!result || !wasCut(result.outputs)) continue;
    found[path] = { ...result, outputs: await outputOf(result.runId) };
  }
  return { ...results, tasks: found };
}

export const wasCut = (value: Json): boolean =>
  typeof value === "object" && value !== null && "$truncated" in value;
