/** Which sides are open: as columns on wide screens, as drawers on narrow ones. */
import { useSyncExternalStore } from "react";
import { create } from "zustand";
import { browserStorage } from "../shared/storage";

export type Side = "palette" | "inspector";

/** Width below which the sides are drawers over the canvas, in pixels. */
export const NARROW = 900;
/** Width below which the node list replaces the canvas, in pixels. */
export const SMALL = 600;

interface Drawers {
  /** Open columns; stored in the browser. */
  columns: Readonly<Record<Side, boolean>>;
  /** The open drawer, if any. */
  drawer: Side | null;
}

const KEY = "studioColumns";

export const useDrawers = create<Drawers>()(() => ({ columns: remembered(), drawer: null }));

/** Open or close a side, as a drawer if `narrow`, else as a column. */
export function toggle(side: Side, narrow: boolean): void {
  const { columns, drawer } = useDrawers.getState();
  if (narrow) {
    useDrawers.setState({ drawer: drawer === side ? null : side });
    return;
  }
  const next = { ...columns, [side]: !columns[side] };
  useDrawers.setState({ columns: next });
  browserStorage.write(KEY, JSON.stringify(next));
}

/** Show a side if it is hidden. */
export function open(side: Side): void {
  const narrow = matchMedia(below(NARROW)).matches;
  const { columns, drawer } = useDrawers.getState();
  if (narrow ? drawer !== side : !columns[side]) toggle(side, narrow);
}

export const closeDrawer = (): void => useDrawers.setState({ drawer: null });

/** Whether the window is narrower than this many pixels; renders again when this changes. */
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
  const stored = browserStorage.readJson(KEY) as Partial<Record<Side, boolean>> | null;
  return { palette: true, inspector: true, ...stored };
}
