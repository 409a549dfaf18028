/** Stores the pins of each workflow in the tab's session storage, so that they survive a reload. */
import { keptText, readKept, usePins } from "./pins";

/**
 * Read the stored pins of a workflow, and store every change; return a function that stops this.
 */
export function keepPins(workflow: string): () => void {
  const key = `valkyr.studio.pins.${workflow}`;
  usePins.setState({ pins: readKept(sessionStorage.getItem(key)) });
  return usePins.subscribe(({ pins }) => {
    try {
      sessionStorage.setItem(key, keptText(pins));
    } catch {
      // The storage is full or blocked; the pins then last until the page is closed.
    }
  });
}
