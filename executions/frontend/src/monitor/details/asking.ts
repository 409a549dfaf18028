/** Asks for what the stream leaves out, as long as somebody looks at it. */
import { useEffect, useState } from "react";
import { ask, Refused } from "../../api/client";
import type { RunShape } from "../../api/shapes";
import type { Run } from "../runs";

/** What the server said: the thing, why not, or null until it answers. */
export type Asked<T> = T | Refused | null;

const KEPT = 50;
const full = new Map<string, RunShape | Refused>();

/** A run in full, as of its state. */
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
 * What is at an address; asked anew when `key` changes and, with `again`, every so many
 * milliseconds. What was there stays until the next is.
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

/** The answer, or why there is none; null where it is no longer wanted. */
async function answerOf<T>(address: string, signal: AbortSignal): Promise<Asked<T>> {
  try {
    const { data } = await ask<T>(address, { signal });
    return signal.aborted ? null : data;
  } catch (error) {
    if (signal.aborted) return null;
    return error instanceof Refused ? error : new Refused(0, String(error));
  }
}
