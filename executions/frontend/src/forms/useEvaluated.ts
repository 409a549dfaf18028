/** A template's value for the data at hand, asked of the server once somebody stopped typing. */
import { useEffect, useState } from "react";
import { type Evaluated, evaluate } from "../api/workflows";
import type { Name } from "../expressions/names";
import { scopeFor } from "../expressions/scopeFor";
import { useStudio } from "../store/studio";

const PAUSE = 300;
/** More data than this would be sent for each pause while one types. */
const MOST = 200_000;
/** A template has one value for its data: what was told is not asked for again. */
const KEPT = 200;
const told = new Map<string, Evaluated>();

/** Null while it is not known, and where the data are not there; `wanted` says whether to ask. */
export function useEvaluated(
  text: string,
  names: () => readonly Name[],
  wanted: boolean,
): Evaluated | null {
  const workflow = useStudio((state) => state.workflow?.id);
  const [found, setFound] = useState<{ text: string; value: Evaluated } | null>(null);
  useEffect(() => {
    if (!wanted || workflow === undefined) return;
    const asking = new AbortController();
    const timer = setTimeout(() => {
      look(workflow, text, names(), asking.signal).then(
        (value) => setFound(value && { text, value }),
        // A preview is a help alone: without an answer there is none.
        () => asking.signal.aborted || setFound(null),
      );
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      asking.abort();
    };
  }, [text, names, wanted, workflow]);
  return wanted && found?.text === text ? found.value : null;
}

async function look(
  workflow: string,
  text: string,
  names: readonly Name[],
  signal: AbortSignal,
): Promise<Evaluated | null> {
  const scope = scopeFor(text, names);
  const key = JSON.stringify([text, scope]);
  if (scope === null || key.length > MOST) return null;
  const known = told.get(key);
  if (known) return known;
  const value = await evaluate(workflow, text, scope, signal);
  if (told.size >= KEPT) told.clear();
  told.set(key, value);
  return value;
}
