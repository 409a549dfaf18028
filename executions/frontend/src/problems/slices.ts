import type { ModuleType } from "../api/shapes";
import { everyTask } from "../document/paths";
import type { Definition } from "../document/types";
import { fieldMistakes } from "./fields";

/** How long the page may be kept busy at once, in milliseconds. */
const SLICE = 8;

/**
 * Look at every task that was not seen before, a few at a time, so that a large document never
 * stops anybody's typing. What was looked at is remembered, also when this is aborted.
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
