/** The way back from publishing: the version before runs again; the draft stays as it is. */
import { create } from "zustand";
import { Refused } from "../api/client";
import { getWorkflow, publish } from "../api/workflows";
import { useStudio } from "../store/studio";
import { t } from "../words/t";

/** What was published on this page last; `before` was the latest version until then. */
export interface Publication {
  version: number;
  before: number | null;
  /** The version that took it back, once there is one. */
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
 * Publish the version before again.
 *
 * Raises Refused, also where somebody published another version since: that one is not ours to
 * take back.
 */
export async function undoPublication({ version, before }: Publication): Promise<void> {
  const { workflow } = useStudio.getState();
  if (!workflow || before === null) return;
  const { latestVersion } = (await getWorkflow(workflow.id)).data;
  if (latestVersion !== version) {
    throw new Refused(409, t("versions.anotherVersionSince", { number: latestVersion ?? 0 }));
  }
  const made = await publish(workflow.id, before);
  useStudio.setState((now) => ({
    workflow: now.workflow && { ...now.workflow, latestVersion: made.version },
  }));
  usePublication.setState({ published: { version, before, undoneBy: made.version } });
}
