/** Each task's state in the watched execution, or else in the one whose results are displayed. */
import { create } from "zustand";
import { pathOf } from "../document/paths";
import type { BodyPath, Edge, TaskPath } from "../document/types";
import type { ExecutionRow } from "./frames";
import type { Mark } from "./states";

export type { Colour } from "./states";

/** A task's state with its name, icon and colour; the same object until it changes. */
export interface TaskLive extends Mark {
  /** The state of a run, such as `SUCCESS`, `DLQ` or `RUNNING`. */
  state: string;
  /** For a container, the counts of its iterations: "12: 10 ok, 1 running, 1 failed". */
  count?: string;
  /** The beginning of the error message. */
  error?: string;
  /** The task's outcomes in all iterations, sorted; they determine which edges were taken. */
  outcomes: readonly string[];
  runId: string | null;
  /** Number of the task's runs, in all iterations. */
  runs?: number;
  /** For a chain of several modules: the state of each module, by its id. */
  steps?: Readonly<Record<string, string>>;
  /** The state of its undo step, if that step was planned. */
  undo?: string;
}

/** The state of the connection to the stream. */
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
  /** The id of the watched execution; null if there is none. */
  watched: string | null;
  execution: ExecutionRow | null;
  connection: Connection;
  retries: number;
  /** Milliseconds by which the server's clock is ahead of the browser's clock. */
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

/** Return all tasks with a state. */
export const useLive = (): ReadonlyMap<TaskPath, TaskLive> => useLiveStore((state) => state.tasks);

/** Return the state of one task; the component renders again only if it changes. */
export const useLiveOf = (path: TaskPath): TaskLive | undefined =>
  useLiveStore((state) => state.tasks.get(path));

/** Whether the execution took an edge. */
export const wasTaken = (
  tasks: ReadonlyMap<TaskPath, TaskLive>,
  body: BodyPath,
  edge: Edge,
): boolean => tasks.get(pathOf(body, edge.from))?.outcomes.includes(edge.on ?? "success") ?? false;
