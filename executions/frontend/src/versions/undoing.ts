/**
 * The way back from publishing: the version before runs again; the draft stays as it is.
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

/** What was published on this page last; `before` was the latest version until then. */
export interface Publication {
  version: number;
  before: number | null;
  /** The version that runs since it was taken back: `before` itself, or a copy of it. */
  undoneBy: number | null;
}

export const usePublication = create<{ published: Publication | null }>()(() => ({
  published: null,
}));

/** Remember what was just published; nothing is before a first version. */
export const offerUndo = (version: number, before: number | null): void =>
  usePublication.setState({ published: { version, before, undoneBy: null } });

export const forgetPublication = (): void => usePublication.setState({ published: null });

/**
 * Let the version before run again.
 *
 * Raises Refused, also where somebody published another version since: that one is not ours to
 * take back.
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
