/**
 * The inputs and outputs of an execution's tasks, for the forms and for completion.
 *
 * The store has the results of one execution: the watched one, the chosen one, or the newest.
 */
import { create } from "zustand";
import { Refused } from "../api/client";
import type { Json, TaskPath } from "../document/types";
import { useLiveStore } from "../live/live";
import { FINAL } from "../live/states";
import { useStudio } from "../store/studio";
import { fetchResults } from "./executions";
import { painted } from "./painted";

/** A task's newest run; for a task in a container, that of the last iteration. */
export interface TaskResult {
  /** The state of a run, such as `SUCCESS`, `FAILED`, `DLQ`, `RUNNING` or `WAITING`. */
  state: string;
  /** "" until the run has an outcome. */
  outcome: string;
  inputs: Json;
  /**
   * A value of more than 16,384 characters is replaced by `{"$truncated": reason, "runId": id}`.
   */
  outputs: Json;
  error: string;
  startedAt: string | null;
  endedAt: string | null;
  attempts: number;
  runId: string;
}

export interface LastResults {
  executionId: string;
  state: string;
  version: number;
  /** Whether it was a test run. */
  test: boolean;
  createdAt: string;
  payload: Json;
  variables: Json;
  tasks: Readonly<Record<TaskPath, TaskResult>>;
}

export interface ResultsState {
  results: LastResults | null;
  loading: boolean;
  /** The reason why loading failed; "" if it did not. */
  trouble: string;
}

const NONE: ResultsState = { results: null, loading: false, trouble: "" };

export const useResultsStore = create<ResultsState>()(() => NONE);

/** Return the loaded results, and a function for those of one task. */
export function useResults(): {
  results: LastResults | null;
  of: (path: TaskPath) => TaskResult | undefined;
} {
  const results = useResultsStore((state) => state.results);
  return { results, of: (path) => results?.tasks[path] };
}

/** Return the results of one task; the component renders again only if they change. */
export const useResultOf = (path: TaskPath): TaskResult | undefined =>
  useResultsStore((state) => state.results?.tasks[path]);

let asked = new AbortController();

/** Load the results of this execution, or of the newest one; abort an earlier request. */
export async function loadResults(executionId?: string): Promise<void> {
  const { workflow } = useStudio.getState();
  if (!workflow) return;
  asked.abort();
  const asking = new AbortController();
  asked = asking;
  useResultsStore.setState({ loading: true });
  try {
    const results = await fetchResults(workflow.id, executionId, asking.signal);
    if (!asking.signal.aborted) show(results);
  } catch (error) {
    if (asking.signal.aborted) return;
    const trouble = error instanceof Refused ? error.detail : String(error);
    useResultsStore.setState({ loading: false, trouble });
  }
}

/** Return the displayed execution: the watched one, or the one whose results are loaded. */
export const shownRun = (): string | null =>
  useLiveStore.getState().watched ?? useResultsStore.getState().results?.executionId ?? null;

/** Return the displayed execution's present results; load them unless the loaded ones are final. */
export async function newestResults(): Promise<LastResults | null> {
  const { workflow } = useStudio.getState();
  const { results } = useResultsStore.getState();
  const execution = shownRun();
  if (!workflow || execution === null) return null;
  if (results?.executionId === execution && FINAL.has(results.state)) return results;
  return fetchResults(workflow.id, execution);
}

/** Remove the results. */
export function dropResults(): void {
  asked.abort();
  show(null);
}

function show(results: LastResults | null): void {
  useResultsStore.setState({ ...NONE, results });
  // The states of a watched execution come from its stream, which is newer than any results.
  if (useLiveStore.getState().watched === null) useLiveStore.setState({ tasks: painted(results) });
}
