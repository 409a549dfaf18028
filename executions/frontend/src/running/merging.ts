/** Updates a list of executions. Pure. */
import type { ExecutionSummary } from "./executions";

/**
 * Return the displayed rows with their present values; new rows wait until the user asks for them.
 *
 * All rows are displayed at once if there were none, or if a new one is watched, because the user
 * who started it looks for it.
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
