/** The monitor's state: the runs, the selection, and the timeline's display settings. */
import { create } from "zustand";
import type { TaskPath } from "../document/types";
import { useLiveStore } from "../live/live";
import type { Span } from "./axis";
import { useTick } from "./clock";
import type { Pages } from "./pages";
import type { Filter } from "./rows";
import type { Run } from "./runs";

export interface Chosen {
  run: string | null;
  task: TaskPath | null;
}

/**
 * "fit" shows the whole range as it grows, "follow" keeps the present at the right end, "free" does
 * not move.
 */
export type Mode = "fit" | "follow" | "free";

export interface MonitorState extends Chosen {
  pages: Pages | null;
  runs: readonly Run[];
  byId: ReadonlyMap<string, Run>;
  /** Whether there are more runs than the server sent. */
  more: boolean;
  /** The ids of the runs on the critical path. */
  critical: ReadonlySet<string>;
  /** The part of the page in which the selection was made; that part does not scroll to it. */
  from: "graph" | "timeline" | null;
  /** The name of the tab in the details. */
  tab: string;
  which: Filter;
  rolledBack: boolean;
  folded: ReadonlySet<string>;
  mode: Mode;
  /** The visible time range of the modes "follow" and "free". */
  view: Span;
  /** The tasks that the search found. */
  marked: ReadonlySet<TaskPath>;
  help: boolean;
}

export const useMonitor = create<MonitorState>()(() => ({
  pages: null,
  runs: [],
  byId: new Map(),
  more: false,
  critical: new Set(),
  run: null,
  task: null,
  from: null,
  tab: "",
  which: "all",
  rolledBack: false,
  folded: new Set(),
  mode: "fit",
  view: { from: 0, to: 1000 },
  marked: new Set(),
  help: false,
}));

/** Return the selected run; null if none is selected, or if it is unknown. */
export const useRun = (): Run | null =>
  useMonitor((state) => (state.run === null ? null : (state.byId.get(state.run) ?? null)));

export function usePages(): Pages {
  const pages = useMonitor((state) => state.pages);
  if (pages === null) throw new Error("The monitor was not opened on its page.");
  return pages;
}

/** Return the server's present time, in milliseconds since 1970. */
export const serverTime = (): number => Date.now() + useLiveStore.getState().skew;

/** Return the server's present time, and render again every `period` milliseconds. */
export function useServerTime(period: number): number {
  useTick(period);
  return serverTime();
}
