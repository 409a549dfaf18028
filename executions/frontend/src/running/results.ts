/**
 * What the tasks of an execution got and gave: shown beside the forms, and offered in completion.
 *
 * One execution's results are there at a time: the one being watched, the one chosen, or the newest.
 */
import { create } from "zustand";
import { Refused } from "../api/client";
import type { Json, TaskPath } from "../document/types";
import { useLiveStore } from "../live/live";
import { FINAL } from "../live/states";
import { useStudio } from "../store/studio";
import { fetchResults } from "./executions";
import { painted } from "./painted";

/** One task's newest run; of a container's body, that of the last turn. */
export interface TaskResult {
  /** As of a run: `SUCCESS`, `FAILED`, `DLQ`, `RUNNING`, `WAITING`, … */
  state: string;
  /** "" while it has none. */
  outcome: string;
  inputs: Json;
  /** A value of more than 16,384 characters is left out: `{"$truncated": why, "runId": id}`. */
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
  /** Why there are none, in words; "" where nothing went wrong. */
  trouble: string;
}

const NONE: ResultsState = { results: null, loading: false, trouble: "" };

export const useResultsStore = create<ResultsState>()(() => NONE);

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

let asked = new AbortController();

/** Fetch the results of this execution, or of the newest one; what was asked before is let go. */
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

/** The execution on screen: the one that is watched, else the one whose results are shown. */
export const shownRun = (): string | null =>
  useLiveStore.getState().watched ?? useResultsStore.getState().results?.executionId ?? null;

/** Its results as they are by now: those at hand where they are its last, else fetched anew. */
export async function newestResults(): Promise<LastResults | null> {
  const { workflow } = useStudio.getState();
  const { results } = useResultsStore.getState();
  const execution = shownRun();
  if (!workflow || execution === null) return null;
  if (results?.executionId === execution && FINAL.has(results.state)) return results;
  return fetchResults(workflow.id, execution);
}

/** Show no results. */
export function dropResults(): void {
  asked.abort();
  show(null);
}

function show(results: LastResults | null): void {
  useResultsStore.setState({ ...NONE, results });
  // What is watched is painted from its stream, which is ahead of any results.
  if (useLiveStore.getState().watched === null) useLiveStore.setState({ tasks: painted(results) });
}
