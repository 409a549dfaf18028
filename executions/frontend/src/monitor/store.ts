/** What the monitor shows: the runs, what is selected, and how the timeline is looked at. */
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

/** "fit" shows all and grows; "follow" keeps now at the right end; "free" stays. */
export type Mode = "fit" | "follow" | "free";

export interface MonitorState extends Chosen {
  pages: Pages | null;
  runs: readonly Run[];
  byId: ReadonlyMap<string, Run>;
  /** Whether there are more runs than the server tells. */
  more: boolean;
  /** The runs on the critical path. */
  critical: ReadonlySet<string>;
  /** Where the selection was made; what it was made in stays where it is. */
  from: "graph" | "timeline" | null;
  /** The tab of the details, by its name. */
  tab: string;
  which: Filter;
  rolledBack: boolean;
  folded: ReadonlySet<string>;
  mode: Mode;
  /** What part of the time is seen, in the modes that do not follow from the runs. */
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

/** The selected run; null where there is none, or none that is known. */
export const useRun = (): Run | null =>
  useMonitor((state) => (state.run === null ? null : (state.byId.get(state.run) ?? null)));

export function usePages(): Pages {
  const pages = useMonitor((state) => state.pages);
  if (pages === null) throw new Error("The monitor was not opened on its page.");
  return pages;
}

/** The server's time now. */
export const serverTime = (): number => Date.now() + useLiveStore.getState().skew;

/** The server's time, told anew every so many milliseconds. */
export function useServerTime(period: number): number {
  useTick(period);
  return serverTime();
}
