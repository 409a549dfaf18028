/** Pins outlive a reload: in the tab's own storage, by workflow. */
import { keptText, readKept, usePins } from "./pins";

/** Read the pins kept for a workflow, and keep what changes from now on; gives the way to stop. */
export function keepPins(workflow: string): () => void {
  const key = `valkyr.studio.pins.${workflow}`;
  usePins.setState({ pins: readKept(sessionStorage.getItem(key)) });
  return usePins.subscribe(({ pins }) => {
    try {
      sessionStorage.setItem(key, keptText(pins));
    } catch {
      // The storage is full or forbidden: the pins then last until the page is left.
    }
  });
}
