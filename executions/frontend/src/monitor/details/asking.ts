/** Loads details that the stream does not contain, while they are displayed. */
import { useEffect, useState } from "react";
import { ask, Refused } from "../../api/client";
import type { RunShape } from "../../api/shapes";
import type { Run } from "../runs";

/** The response, the error, or null while loading. */
export type Asked<T> = T | Refused | null;

const KEPT = 50;
const full = new Map<string, RunShape | Refused>();

/** Load a run's details again when its state changes. */
export function useFullRun(run: Run): Asked<RunShape> {
  const key = `${run.id} ${run.state}`;
  const [, setTurn] = useState(0);
  useEffect(() => {
    if (full.has(key)) return;
    const asking = new AbortController();
    answerOf<RunShape>(`v1/Run/${run.id}`, asking.signal).then((answer) => {
      if (answer === null) return;
      if (full.size >= KEPT) full.clear();
      full.set(key, answer);
      setTurn((turn) => turn + 1);
    });
    return () => asking.abort();
  }, [key, run.id]);
  return full.get(key) ?? null;
}

/**
 * Load an address; load it again when `key` changes and, with `again`, every `again` milliseconds.
 * The previous response stays until the next one arrives.
 */
export function useAnswer<T>(address: string, key: string, again = 0): Asked<T> {
  const [answer, setAnswer] = useState<Asked<T>>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another key is a reason to ask anew
  useEffect(() => {
    const asking = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const once = async (): Promise<void> => {
      if (!document.hidden) {
        const found = await answerOf<T>(address, asking.signal);
        if (found === null) return;
        setAnswer(found);
      }
      if (again > 0) timer = setTimeout(once, again);
    };
    void once();
    return () => {
      clearTimeout(timer);
      asking.abort();
    };
  }, [address, key, again]);
  return answer;
}

/** Return the response or the error; null if the request was aborted. */
async function answerOf<T>(address: string, signal: AbortSignal): Promise<Asked<T>> {
  try {
    const { data } = await ask<T>(address, { signal });
    return signal.aborted ? null : data;
  } catch (error) {
    if (signal.aborted) return null;
    return error instanceof Refused ? error : new Refused(0, String(error));
  }
}
