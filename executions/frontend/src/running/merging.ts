/** What a list of executions becomes when it is read again. Pure. */
import type { ExecutionSummary } from "./executions";

/**
 * The rows that are shown, as they are by now; new ones wait until they are asked for.
 *
 * All are shown at once where there were none, and where one of the new ones is being watched: who
 * started it looks for it.
 */
export function merged(
  shown: readonly ExecutionSummary[] | null,
  found: readonly ExecutionSummary[],
  watched: string | null,
): readonly ExecutionSummary[] {
  const known = new Set(shown?.map((one) => one.id));
  const isNew = (one: ExecutionSummary): boolean => !known.has(one.id);
  if (!shown?.length || found.some((one) => one.id === watched && isNew(one))) return found;
  const now = new Map(found.map((one) => [one.id, one]));
  return shown.map((one) => now.get(one.id) ?? one);
}
