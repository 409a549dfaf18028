/** The canary, as far as this page knows it. */
import { create } from "zustand";
import { type Canary, endCanary } from "../api/workflows";
import { useStudio } from "../store/studio";

/** Undefined: as when the page was loaded. Null: this page ended the canary. */
const useOwn = create<{ canary: Canary | null | undefined }>()(() => ({ canary: undefined }));

/** Return the running canary, or null. */
export function useCanary(): Canary | null {
  const own = useOwn((state) => state.canary);
  const { canaryVersion, canaryPercent } = useStudio((state) => state.page);
  if (own !== undefined) return own;
  return canaryVersion > 0 ? { version: canaryVersion, percent: canaryPercent } : null;
}

/** Remember a canary that this page published; null after a publication that ended it. */
export const setCanary = (canary: Canary | null): void => useOwn.setState({ canary });

/** End the canary. Raises Refused, for example if it has already ended. */
export async function end(canary: Canary, how: "promote" | "stop"): Promise<void> {
  const { workflow } = useStudio.getState();
  if (!workflow) return;
  await endCanary(workflow.id, how);
  setCanary(null);
  if (how === "promote") {
    useStudio.setState({ workflow: { ...workflow, latestVersion: canary.version } });
  }
}
