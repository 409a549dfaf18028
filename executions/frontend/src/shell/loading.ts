import { useCallback, useEffect, useState } from "react";
import { Refused } from "../api/client";
import { getWorkflow, listModuleTypes } from "../api/workflows";
import { arranged } from "../document/layout";
import { read } from "../document/reading";
import { restoreWork } from "../saving/restoring";
import { useStudio } from "../store/studio";

export type Loading =
  | { state: "loading" }
  | { state: "ready" }
  | { state: "failed"; status: number; message: string };

/** Load the workflow and the module types into the store; `again` loads them again. */
export function useLoading(id: string): { loading: Loading; again: () => void } {
  const [loading, setLoading] = useState<Loading>({ state: "loading" });
  const [turn, setTurn] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a turn more is a try more
  useEffect(() => {
    let over = false;
    setLoading({ state: "loading" });
    Promise.all([getWorkflow(id), listModuleTypes()])
      .then(([{ data, etag }, types]) => {
        if (over) return;
        const { definition, ...workflow } = data;
        useStudio.setState({ types: new Map(types.map((type) => [type.type, type])) });
        useStudio
          .getState()
          .load(
            workflow,
            arranged(read(definition, data.name), useStudio.getState().types),
            etag ?? "",
          );
        restoreWork();
        setLoading({ state: "ready" });
      })
      .catch((error: unknown) => {
        if (over) return;
        const refused = error instanceof Refused ? error : new Refused(0, String(error));
        setLoading({ state: "failed", status: refused.status, message: refused.detail });
      });
    return () => {
      over = true;
    };
  }, [id, turn]);
  return { loading, again: useCallback(() => setTurn((old) => old + 1), []) };
}
