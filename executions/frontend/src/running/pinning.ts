/** Pins from what the execution on screen gave. */
import type { TaskPath } from "../document/types";
import { announce } from "../shared/announce";
import { useStudio } from "../store/studio";
import { isWhole, upstreamOf } from "./parts";
import { canBePinned, usePins } from "./pins";
import { shownRun } from "./results";
import { shownBefore } from "./starting";

/** Why nothing can be pinned before this task, or undefined. */
export function pinBeforeRefusal(path: TaskPath): string | undefined {
  const document = useStudio.getState().history.present;
  if (!canBePinned(path)) return "It stands in a loop or map, which is given as a whole.";
  if (upstreamOf(document, path).length === 0) return "Nothing comes before it.";
  if (shownRun() === null) return "No run is shown: run the workflow first.";
  return undefined;
}

/** Pin every task before this one at what it gave; says how many. */
export async function pinBefore(path: TaskPath): Promise<void> {
  try {
    const found = new Map([...(await shownBefore(path))].filter(([, pin]) => isWhole(pin.output)));
    usePins.getState().pinAll(found);
    announce(found.size === 1 ? "Pinned 1 task." : `Pinned ${found.size} tasks.`);
  } catch (error) {
    announce(`Nothing was pinned: ${error instanceof Error ? error.message : String(error)}`);
  }
}
