/** A fork with changes: an execution that is to go on from one of its steps, on an edited draft. */
import { create } from "zustand";
import { Refused } from "../api/client";
import { publish } from "../api/workflows";
import { watch } from "../live/watching";
import { save } from "../saving/useSaving";
import { announce } from "../shared/announce";
import { useStudio } from "../store/studio";
import { setCanary } from "../versions/canary";
import { t } from "../words/t";
import { forkExecution, newKey } from "./executions";

const UNCHANGED = "unchanged";

export interface Origin {
  execution: string;
  /** With turns: `refine[2].draft.main`. */
  step: string;
}

/** The fork being prepared, as the monitor asked for it; null where none is. */
export const useFork = create<{ origin: Origin | null }>()(() => ({ origin: null }));

/** Forget it, also in the address: a reload begins as usual. */
export function dropFork(): void {
  useFork.setState({ origin: null });
  const address = new URL(location.href);
  address.searchParams.delete("fork");
  history.replaceState(null, "", address);
}

/**
 * Save and publish the draft, then start the fork on the new version, and watch it.
 *
 * Raises Refused; what was published until then stays published.
 */
export async function publishAndFork({ execution, step }: Origin): Promise<void> {
  const { workflow } = useStudio.getState();
  if (!workflow) return;
  if (!(await save())) throw new Error(useStudio.getState().savingError || t("running.notSaved"));
  const version = await published(workflow.id, workflow.latestVersion);
  useStudio.setState((now) => ({
    workflow: now.workflow && { ...now.workflow, latestVersion: version },
  }));
  const made = await forkExecution(execution, { stepPath: step, version }, newKey());
  dropFork();
  announce(t("running.versionPublishedTheForkStarted", { number: version }));
  watch(made.id, { started: true });
}

/** The draft's version: a new one, or the latest where nothing changed since. */
async function published(workflow: string, latest: number | null): Promise<number> {
  try {
    const { version } = await publish(workflow);
    setCanary(null); // a publication ends it
    return version;
  } catch (error) {
    if (error instanceof Refused && error.code === UNCHANGED && latest !== null) return latest;
    throw error;
  }
}
