import { useMemo } from "react";
import type { TaskPath } from "../document/types";
import type { Name } from "../expressions/names";
import { namesFor } from "../expressions/scope";
import { useResultsStore } from "../running/results";
import { useStudio } from "../store/studio";
import { useCredentials } from "./credentials";

/** What templates of a module may name, worked out when it is first asked for. */
export function useNames(path: TaskPath | null, module = 0, undo = false): () => readonly Name[] {
  const document = useStudio((state) => state.history.present);
  const types = useStudio((state) => state.types);
  const results = useResultsStore((state) => state.results);
  const { secrets } = useCredentials();
  return useMemo(() => {
    let names: readonly Name[] | null = null;
    const seen = {
      payload: results?.payload,
      variables: results?.variables,
      executionId: results?.executionId,
      of: (task: TaskPath) => results?.tasks[task],
    };
    return () => {
      names ??= namesFor({ document, types, seen, secrets }, { path, module, undo });
      return names;
    };
  }, [document, types, results, secrets, path, module, undo]);
}
