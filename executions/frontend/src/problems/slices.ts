import type { ModuleType } from "../api/shapes";
import { everyTask } from "../document/paths";
import type { Definition } from "../document/types";
import { fieldMistakes } from "./fields";

/** Maximum time for which the page is blocked at once, in milliseconds. */
const SLICE = 8;

/**
 * Check every new task, with pauses, so that a large document does not delay typing. The results
 * remain cached, even after an abort.
 */
export async function lookedAt(
  document: Definition,
  types: ReadonlyMap<string, ModuleType>,
  signal: AbortSignal,
): Promise<void> {
  let started = performance.now();
  for (const { task } of everyTask(document)) {
    fieldMistakes(task, types);
    if (performance.now() - started < SLICE) continue;
    await new Promise((resolve) => setTimeout(resolve));
    if (signal.aborted) return;
    started = performance.now();
  }
}
