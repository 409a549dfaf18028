/** Pages of the admin about an execution. */
import type { TaskPath } from "../document/types";
import { useStudio } from "../store/studio";

/** What stands for an id in the addresses that pages are given. */
export const ANY = "00000000-0000-0000-0000-000000000000";

/** The page of an execution, with one of its runs or tasks selected. */
export function executionPageOf(
  execution: string,
  at: { run?: string; task?: TaskPath } = {},
): string {
  const address = useStudio.getState().page.executionPage.replace(ANY, execution);
  const query = new URLSearchParams(at).toString();
  return query === "" ? address : `${address}?${query}`;
}
