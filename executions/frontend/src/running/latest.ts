/** The latest executions of the workflow, updated while their list is visible. */
import { type RefObject, useCallback, useEffect, useState } from "react";
import { wordsOf } from "../api/client";
import { useLiveStore } from "../live/live";
import { useStudio } from "../store/studio";
import { type ExecutionSummary, recentExecutions } from "./executions";
import { merged } from "./merging";

const EVERY = 4000;

export interface Latest {
  /** Newest first; null until they are loaded. */
  rows: readonly ExecutionSummary[] | null;
  /** Number of newer executions, which `showAll` adds at the top. */
  more: number;
  trouble: string;
  showAll: () => void;
}

/**
 * Update listed rows in place. New rows are only counted, because they would move a row that the
 * user is about to click.
 */
export function useLatest(list: RefObject<HTMLElement | null>): Latest {
  const workflow = useStudio((state) => state.workflow?.id);
  const watched = useLiveStore((state) => state.watched);
  const state = useLiveStore((live) => live.execution?.state);
  const [shown, setShown] = useState<readonly ExecutionSummary[] | null>(null);
  const [found, setFound] = useState<readonly ExecutionSummary[]>([]);
  const [trouble, setTrouble] = useState("");
  const look = useCallback(async (): Promise<void> => {
    if (workflow === undefined) return;
    try {
      const rows = await recentExecutions(workflow);
      setFound(rows);
      setShown((old) => merged(old, rows, useLiveStore.getState().watched));
      setTrouble("");
    } catch (error) {
      setTrouble(wordsOf(error));
    }
  }, [workflow]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: these changing makes the list old
  useEffect(() => void look(), [look, watched, state]);
  useEffect(() => {
    const seen = (): boolean => !document.hidden && list.current?.offsetParent !== null;
    const timer = setInterval(() => seen() && void look(), EVERY);
    return () => clearInterval(timer);
  }, [look, list]);
  const known = new Set(shown?.map((one) => one.id));
  return {
    rows: shown,
    more: found.filter((one) => !known.has(one.id)).length,
    trouble,
    showAll: () => setShown(found),
  };
}
