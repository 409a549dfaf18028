/** Lets anyone put the focus into the palette's search. */
import { flushSync } from "react-dom";
import { open } from "../shell/drawers";
import { useLeftTab } from "../shell/leftTab";

let focus: (() => void) | null = null;

/** Who has the search says how it is focused; gives what takes that back. */
export function onSearchWanted(how: () => void): () => void {
  focus = how;
  return () => {
    if (focus === how) focus = null;
  };
}

/** Show the palette and put the focus into its search. */
export function wantSearch(): void {
  // A palette that was hidden takes the focus only once it is drawn. Not a frame later: the next
  // letters are already typed for the search, and elsewhere they are keys.
  flushSync(() => {
    useLeftTab.setState({ tab: "modules" });
    open("palette");
  });
  focus?.();
}
