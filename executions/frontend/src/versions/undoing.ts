/**
 * Undoes a publication: new executions use the version before it; the draft does not change.
 *
 * A rollback withdraws the version. Without the plugin `canary`, the version before is published
 * again, as a new version.
 */
import { create } from "zustand";
import { Refused } from "../api/client";
import { getWorkflow, publish, rollBack } from "../api/workflows";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import { setCanary } from "./canary";

/** The last publication on this page; `before` was the latest version until then. */
export interface Publication {
  version: number;
  before: number | null;
  /**
   * The version that new executions use after the undo: `before` itself, or a copy of it; null
   * before the undo.
   */
  undoneBy: number | null;
}

export const usePublication = create<{ published: Publication | null }>()(() => ({
  published: null,
}));

/** Remember the version that was just published; `before` is null for the first version. */
export const offerUndo = (version: number, before: number | null): void =>
  usePublication.setState({ published: { version, before, undoneBy: null } });

export const forgetPublication = (): void => usePublication.setState({ published: null });

/**
 * Let new executions use the version before.
 *
 * Raises Refused, also if somebody has published another version since, which must not be undone
 * here.
 */
export async function undoPublication({ version, before }: Publication): Promise<void> {
  const { workflow, page } = useStudio.getState();
  if (!workflow || before === null) return;
  const { latestVersion } = (await getWorkflow(workflow.id)).data;
  if (latestVersion !== version) {
    throw new Refused(409, t("versions.anotherVersionSince", { number: latestVersion ?? 0 }));
  }
  const runs = page.hasCanaries
    ? (await rollBack(workflow.id, version)).goodVersion
    : (await publish(workflow.id, before)).version;
  setCanary(null);
  useStudio.setState((now) => ({
    workflow: now.workflow && { ...now.workflow, latestVersion: runs },
  }));
  const since = page.hasCanaries ? runs : before;
  usePublication.setState({ published: { version, before: since, undoneBy: runs } });
}
