/** Focuses the palette's search from other parts of the studio. */
import { flushSync } from "react-dom";
import { open } from "../shell/drawers";
import { useLeftTab } from "../shell/leftTab";

let focus: (() => void) | null = null;

/** Register the function that focuses the search; return a function that removes it. */
export function onSearchWanted(how: () => void): () => void {
  focus = how;
  return () => {
    if (focus === how) focus = null;
  };
}

/** Show the palette and focus its search. */
export function wantSearch(): void {
  // A hidden palette can take the focus only after it is rendered. Render it at once, not in the
  // next frame: the user already types letters for the search, which would act as shortcuts
  // elsewhere.
  flushSync(() => {
    useLeftTab.setState({ tab: "modules" });
    open("palette");
  });
  focus?.();
}
