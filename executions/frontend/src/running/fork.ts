/** A fork with changes: it continues from a step of another execution, with an edited draft. */
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
  /** The step's path with iterations, such as `refine[2].draft.main`. */
  step: string;
}

/** The fork that the user prepares, which the monitor requested; null if there is none. */
export const useFork = create<{ origin: Origin | null }>()(() => ({ origin: null }));

/** Cancel the fork, and remove it from the URL, so that a reload does not start it again. */
export function dropFork(): void {
  useFork.setState({ origin: null });
  const address = new URL(location.href);
  address.searchParams.delete("fork");
  history.replaceState(null, "", address);
}

/**
 * Save and publish the draft, start the fork with the new version, and watch it.
 *
 * Raises Refused; a version that was already published stays published.
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

/** Publish the draft and return its version; return the latest version if nothing changed since. */
async function published(workflow: string, latest: number | null): Promise<number> {
  try {
    const { version } = await publish(workflow);
    setCanary(null); // Every publication ends the canary.
    return version;
  } catch (error) {
    if (error instanceof Refused && error.code === UNCHANGED && latest !== null) return latest;
    throw error;
  }
}
