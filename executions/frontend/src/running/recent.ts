/** The newest executions of the open workflow. */
import { useEffect } from "react";
import { create } from "zustand";
import { useLiveStore } from "../live/live";
import { useStudio } from "../store/studio";
import { type ExecutionSummary, recentExecutions } from "./executions";

const useStore = create<{ rows: readonly ExecutionSummary[] }>()(() => ({ rows: [] }));

/** Return them, newest first; load them again when another one is watched, or changes its state. */
export function useRecent(): readonly ExecutionSummary[] {
  const workflow = useStudio((state) => state.workflow?.id);
  const watched = useLiveStore((state) => state.watched);
  const state = useLiveStore((live) => live.execution?.state);
  // biome-ignore lint/correctness/useExhaustiveDependencies: these changing makes the list old
  useEffect(() => {
    if (workflow === undefined) return;
    let over = false;
    recentExecutions(workflow)
      .then((rows) => over || useStore.setState({ rows }))
      // The list is optional; the newest results are loaded anyway.
      .catch(() => undefined);
    return () => {
      over = true;
    };
  }, [workflow, watched, state]);
  return useStore((known) => known.rows);
}
