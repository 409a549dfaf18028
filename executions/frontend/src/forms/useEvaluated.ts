/** A template's value for the data at hand, asked of the server once somebody stopped typing. */
import { useEffect, useState } from "react";
import { Refused } from "../api/client";
import { type Evaluated, evaluate } from "../api/workflows";
import type { Name } from "../expressions/names";
import { scopeFor } from "../expressions/scopeFor";
import { useStudio } from "../store/studio";

const PAUSE = 300;
/** More data than this would be sent for each pause while one types. */
const MOST = 200_000;

/** Null while it is not known, and where the data are not there; `wanted` says whether to ask. */
export function useEvaluated(
  text: string,
  names: () => readonly Name[],
  wanted: boolean,
): Evaluated | null {
  const workflow = useStudio((state) => state.workflow?.id);
  const [found, setFound] = useState<{ text: string; told: Evaluated } | null>(null);
  useEffect(() => {
    if (!wanted || workflow === undefined) return;
    const asking = new AbortController();
    const timer = setTimeout(() => {
      const scope = scopeFor(text, names());
      if (scope === null || JSON.stringify(scope).length > MOST) {
        setFound(null);
        return;
      }
      evaluate(workflow, text, scope, asking.signal).then(
        (told) => setFound({ text, told }),
        (error: unknown) => {
          // A preview is a help alone: without an answer there is none.
          if (error instanceof Refused) setFound(null);
        },
      );
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      asking.abort();
    };
  }, [text, names, wanted, workflow]);
  return wanted && found?.text === text ? found.told : null;
}
