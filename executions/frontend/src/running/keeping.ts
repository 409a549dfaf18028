/** Stores the pins of each workflow in the tab's session storage, so that they survive a reload. */
import { tabStorage } from "../shared/storage";
import { keptText, readKept, usePins } from "./pins";

/**
 * Read the stored pins of a workflow, and store every change; return a function that stops this.
 */
export function keepPins(workflow: string): () => void {
  const key = `valkyr.studio.pins.${workflow}`;
  usePins.setState({ pins: readKept(tabStorage.read(key)) });
  return usePins.subscribe(({ pins }) => {
    tabStorage.write(key, keptText(pins));
  });
}
