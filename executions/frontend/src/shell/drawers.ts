/** Which side panels are open: as columns where there is room, as drawers where there is not. */
import { useSyncExternalStore } from "react";
import { create } from "zustand";

export type Side = "palette" | "inspector";

/** Below this many pixels the sides are drawers over the middle. */
export const NARROW = 900;
/** Below this many the node list stands for the canvas. */
export const SMALL = 600;

interface Drawers {
  /** As a column; remembered. */
  columns: Readonly<Record<Side, boolean>>;
  /** As a drawer: at most one. */
  drawer: Side | null;
}

const KEY = "studioColumns";

export const useDrawers = create<Drawers>()(() => ({ columns: remembered(), drawer: null }));

/** Open what is closed, close what is open; `narrow` says which of the two it is now. */
export function toggle(side: Side, narrow: boolean): void {
  const { columns, drawer } = useDrawers.getState();
  if (narrow) {
    useDrawers.setState({ drawer: drawer === side ? null : side });
    return;
  }
  const next = { ...columns, [side]: !columns[side] };
  useDrawers.setState({ columns: next });
  localStorage.setItem(KEY, JSON.stringify(next));
}

/** Make sure a side is to be seen. */
export function open(side: Side): void {
  const narrow = matchMedia(below(NARROW)).matches;
  const { columns, drawer } = useDrawers.getState();
  if (narrow ? drawer !== side : !columns[side]) toggle(side, narrow);
}

export const closeDrawer = (): void => useDrawers.setState({ drawer: null });

/** Whether the window is narrower than so many pixels, now and after it changed. */
export function useNarrower(pixels: number): boolean {
  return useSyncExternalStore(
    (changed) => {
      const query = matchMedia(below(pixels));
      query.addEventListener("change", changed);
      return () => query.removeEventListener("change", changed);
    },
    () => matchMedia(below(pixels)).matches,
  );
}

const below = (pixels: number): string => `(max-width: ${pixels - 0.02}px)`;

function remembered(): Record<Side, boolean> {
  const both = { palette: true, inspector: true };
  try {
    return { ...both, ...JSON.parse(localStorage.getItem(KEY) ?? "{}") };
  } catch {
    return both;
  }
}
