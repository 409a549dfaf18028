/** Evaluates a template on the server with the displayed data, after typing pauses. */
import { useEffect, useState } from "react";
import { type Evaluated, evaluate } from "../api/workflows";
import type { Name } from "../expressions/names";
import { scopeFor } from "../expressions/scopeFor";
import { useStudio } from "../store/studio";

const PAUSE = 300;
/** Maximum length of the request, in characters; it is sent at each pause while the user types. */
const MOST = 200_000;
/** Maximum number of cached values. A template with the same data always has the same value. */
const KEPT = 200;
const told = new Map<string, Evaluated>();

/** Return the value; null while it is unknown, if its data is missing, or if it is not `wanted`. */
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
        // The preview is optional, so ignore errors.
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
