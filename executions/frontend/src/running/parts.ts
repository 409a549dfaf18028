/** The part of a workflow that a test run executes, and the results for the other tasks. Pure. */
import type { Definition, Json, TaskPath } from "../document/types";
import type { TestRun } from "./executions";
import type { Pin, Pins } from "./pins";
import type { LastResults, TaskResult } from "./results";

export type PartKind = "everything" | "upTo" | "from" | "only";

export interface Part {
  kind: PartKind;
  /** A task of the workflow itself; "" for `everything`. */
  task: TaskPath;
}

export const EVERYTHING: Part = { kind: "everything", task: "" };

/** The outcome of a pinned task that did not run. */
const SKIPPED = "skipped";
/**
 * Keys of the placeholders for values that the server left out; such a value cannot be a result.
 */
const NOT_TOLD = ["$hidden", "$truncated", "$masked"];

/** Return every task that precedes a task, in the document's order. */
export function upstreamOf(document: Definition, task: TaskPath): TaskPath[] {
  const found = new Set<string>();
  const pending = [task];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    for (const edge of document.edges ?? []) {
      if (edge.to !== at || found.has(edge.from)) continue;
      found.add(edge.from);
      pending.push(edge.from);
    }
  }
  found.delete(task);
  return document.tasks.map((one) => one.id).filter((id) => found.has(id));
}

/** Return a task's result as a pin; null if there is no result, or only a part of it. */
export function pinOf(result: TaskResult | undefined): Pin | null {
  if (!result || !isWhole(result.outputs)) return null;
  if (result.state === "SKIPPED") return { output: null, outcome: SKIPPED };
  const failed = result.state !== "SUCCESS";
  if (failed && !result.outcome) return null;
  return { output: result.outputs, ...(result.outcome ? { outcome: result.outcome } : {}) };
}

/**
 * Return an execution's results as pins of these tasks; tasks that it did not reach are skipped.
 */
export function pinsOf(results: LastResults | null, tasks: readonly TaskPath[]): Pins {
  const ended = results !== null && ["SUCCESS", "FAILED"].includes(results.state);
  const found = tasks.map((path): [TaskPath, Pin | null] => {
    const result = results?.tasks[path];
    if (!result && ended) return [path, { output: null, outcome: SKIPPED }];
    return [path, pinOf(result)];
  });
  return new Map(found.filter((entry): entry is [TaskPath, Pin] => entry[1] !== null));
}

/** Whether a value is complete: no part of it was hidden or cut off. */
export function isWhole(value: Json): boolean {
  if (Array.isArray(value)) return value.every(isWhole);
  if (typeof value !== "object" || value === null) return true;
  if (NOT_TOLD.some((key) => key in value)) return false;
  return Object.values(value).every(isWhole);
}

/** Return the request for a test run: the document, the part, and the pins of existing tasks. */
export function testRunOf(document: Definition, part: Part, params: Json, pins: Pins): TestRun {
  const known = new Set(document.tasks.map((task) => task.id));
  const pinned = [...pins].filter(([path]) => known.has(path) && path !== startOf(part));
  return {
    definition: document,
    params,
    ...(part.kind === "upTo" || part.kind === "only" ? { upTo: part.task } : {}),
    ...(part.kind === "from" || part.kind === "only" ? { from: part.task } : {}),
    ...(pinned.length > 0 ? { pinned: Object.fromEntries(pinned) } : {}),
  };
}

/** Return the task at which the run starts; it runs even if it is pinned. */
export const startOf = (part: Part): TaskPath | null =>
  part.kind === "from" || part.kind === "only" ? part.task : null;
