/** Pins outputs of the displayed execution. */
import type { TaskPath } from "../document/types";
import { announce } from "../shared/announce";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import { isWhole, upstreamOf } from "./parts";
import { canBePinned, usePins } from "./pins";
import { shownRun } from "./results";
import { shownBefore } from "./starting";

/** Return the reason why nothing can be pinned before this task, or undefined. */
export function pinBeforeRefusal(path: TaskPath): string | undefined {
  const document = useStudio.getState().history.present;
  if (!canBePinned(path)) return t("running.itIsGivenAsAWhole");
  if (upstreamOf(document, path).length === 0) return t("running.nothingComesBefore");
  if (shownRun() === null) return t("running.noRunIsShownRun");
  return undefined;
}

/** Pin the outputs of every task before this one, and announce their number. */
export async function pinBefore(path: TaskPath): Promise<void> {
  try {
    const found = new Map([...(await shownBefore(path))].filter(([, pin]) => isWhole(pin.output)));
    usePins.getState().pinAll(found);
    announce(t("running.pinnedTasks", { count: found.size }));
  } catch (error) {
    announce(
      t("running.nothingWasPinned", {
        reason: error instanceof Error ? error.message : String(error),
      }),
    );
  }
}
