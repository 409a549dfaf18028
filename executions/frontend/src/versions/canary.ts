/** The version that a share of the starts takes beside the latest one, as this page knows it. */
import { create } from "zustand";
import { type Canary, endCanary } from "../api/workflows";
import { useStudio } from "../store/studio";

/** Undefined: as when the page was loaded. Null: it ended here. */
const useOwn = create<{ canary: Canary | null | undefined }>()(() => ({ canary: undefined }));

/** The running canary, or null. */
export function useCanary(): Canary | null {
  const own = useOwn((state) => state.canary);
  const { canaryVersion, canaryPercent } = useStudio((state) => state.page);
  if (own !== undefined) return own;
  return canaryVersion > 0 ? { version: canaryVersion, percent: canaryPercent } : null;
}

/** Remember a canary that this page published, or that another publication ended it. */
export const setCanary = (canary: Canary | null): void => useOwn.setState({ canary });

/** End the canary. Raises Refused, also where it has ended meanwhile. */
export async function end(canary: Canary, how: "promote" | "stop"): Promise<void> {
  const { workflow } = useStudio.getState();
  if (!workflow) return;
  await endCanary(workflow.id, how);
  setCanary(null);
  if (how === "promote") {
    useStudio.setState({ workflow: { ...workflow, latestVersion: canary.version } });
  }
}
