/**
 * What the tasks of an execution got and gave: shown beside the forms, and offered in completion.
 *
 * One execution's results are there at a time: the one being watched, the one chosen, or the newest.
 */
import { create } from "zustand";
import type { Json, TaskPath } from "../document/types";

/** One task's newest run; of a container's body, that of the last turn. */
export interface TaskResult {
  /** As of a run: `SUCCESS`, `FAILED`, `DLQ`, `RUNNING`, `WAITING`, … */
  state: string;
  outcome: string | null;
  inputs: Json;
  outputs: Json;
  error: string | null;
  startedAt: string | null;
  endedAt: string | null;
  attempts: number;
  runId: string | null;
}

export interface LastResults {
  executionId: string;
  state: string;
  version: number;
  createdAt: string;
  payload: Json;
  variables: Json;
  tasks: Readonly<Record<TaskPath, TaskResult>>;
}

export interface ResultsState {
  results: LastResults | null;
  loading: boolean;
  /** Why there are none, in words; "" where nothing went wrong. */
  trouble: string;
}

export const useResultsStore = create<ResultsState>()(() => ({
  results: null,
  loading: false,
  trouble: "",
}));

/** The results at hand, and those of one task. */
export function useResults(): {
  results: LastResults | null;
  of: (path: TaskPath) => TaskResult | undefined;
} {
  const results = useResultsStore((state) => state.results);
  return { results, of: (path) => results?.tasks[path] };
}

/** The results of one task; renders again only when they change. */
export const useResultOf = (path: TaskPath): TaskResult | undefined =>
  useResultsStore((state) => state.results?.tasks[path]);

/** Fetch the results of this execution, or of the newest one. */
export async function loadResults(_executionId?: string): Promise<void> {}
