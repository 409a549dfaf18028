/**
 * How far each task is: in the execution that is watched or, if none is, in the one whose results
 * are shown.
 */
import { create } from "zustand";
import { pathOf } from "../document/paths";
import type { BodyPath, Edge, TaskPath } from "../document/types";
import type { ExecutionRow } from "./frames";
import type { Mark } from "./states";

export type { Colour } from "./states";

/** A task's state in a word, an icon and a colour; the same object as long as nothing changed. */
export interface TaskLive extends Mark {
  /** As of a run: `SUCCESS`, `DLQ`, `RUNNING`, … */
  state: string;
  /** Of a container: "12: 10 ok, 1 running, 1 failed". */
  count?: string;
  /** The error's first words. */
  error?: string;
  /** The outcomes it had in all turns, sorted: which edges were taken. */
  outcomes: readonly string[];
  runId: string | null;
  /** How many steps of it ran, in all turns. */
  runs?: number;
  /** Of a chain of several modules: the state of each, by the module's id. */
  steps?: Readonly<Record<string, string>>;
  /** The state of its undo step, where that was begun. */
  undo?: string;
}

/** Whether the states come as they change. */
export type Connection =
  | "connecting"
  | "live"
  | "reconnecting"
  | "paused"
  | "signed out"
  | "gone"
  | "finished";

export interface LiveState {
  tasks: ReadonlyMap<TaskPath, TaskLive>;
  /** The execution being watched; null where there is none. */
  watched: string | null;
  execution: ExecutionRow | null;
  connection: Connection;
  retries: number;
  /** How many milliseconds the server's clock is ahead of ours. */
  skew: number;
}

export const UNWATCHED: Omit<LiveState, "tasks"> = {
  watched: null,
  execution: null,
  connection: "connecting",
  retries: 0,
  skew: 0,
};

export const useLiveStore = create<LiveState>()(() => ({ tasks: new Map(), ...UNWATCHED }));

/** All tasks that have a state. */
export const useLive = (): ReadonlyMap<TaskPath, TaskLive> => useLiveStore((state) => state.tasks);

/** One task's; renders again only when it changes. */
export const useLiveOf = (path: TaskPath): TaskLive | undefined =>
  useLiveStore((state) => state.tasks.get(path));

/** Whether the execution went along an edge. */
export const wasTaken = (
  tasks: ReadonlyMap<TaskPath, TaskLive>,
  body: BodyPath,
  edge: Edge,
): boolean => tasks.get(pathOf(body, edge.from))?.outcomes.includes(edge.on ?? "success") ?? false;
