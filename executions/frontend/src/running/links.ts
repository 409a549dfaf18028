/** Links to the admin's pages about an execution. */
import type { TaskPath } from "../document/types";
import { useStudio } from "../store/studio";

/** The placeholder for an id in the addresses that the server provides. */
export const ANY = "00000000-0000-0000-0000-000000000000";

/** Return the address of an execution's page, with one of its runs or tasks selected. */
export function executionPageOf(
  execution: string,
  at: { run?: string; task?: TaskPath } = {},
): string {
  const address = useStudio.getState().page.executionPage.replace(ANY, execution);
  const query = new URLSearchParams(at).toString();
  return query === "" ? address : `${address}?${query}`;
}
