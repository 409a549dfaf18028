import { useMemo } from "react";
import type { TaskPath } from "../document/types";
import type { Name } from "../expressions/names";
import { namesFor, type SeenTask } from "../expressions/scope";
import { type Pin, usePins } from "../running/pins";
import { useResultsStore } from "../running/results";
import { useStudio } from "../store/studio";
import { useCredentials } from "./credentials";

/** Return a function that computes, when first called, the names for a module's templates. */
export function useNames(path: TaskPath | null, module = 0, undo = false): () => readonly Name[] {
  const document = useStudio((state) => state.history.present);
  const types = useStudio((state) => state.types);
  const results = useResultsStore((state) => state.results);
  const pins = usePins((state) => state.pins);
  const { secrets } = useCredentials();
  return useMemo(() => {
    let names: readonly Name[] | null = null;
    const seen = {
      payload: results?.payload,
      variables: results?.variables,
      executionId: results?.executionId,
      // A task's pinned output is what later tasks read.
      of: (task: TaskPath) => pinned(pins.get(task)) ?? results?.tasks[task],
    };
    return () => {
      names ??= namesFor({ document, types, seen, secrets }, { path, module, undo });
      return names;
    };
  }, [document, types, results, pins, secrets, path, module, undo]);
}

const pinned = (pin: Pin | undefined): SeenTask | undefined =>
  pin && { outputs: pin.output, outcome: pin.outcome ?? "success", error: null };
