/** How far each task is, in the execution that is watched or, if none is, in the one whose results
 *  are shown. */
import { create } from "zustand";
import { pathOf } from "../document/paths";
import type { BodyPath, Edge, TaskPath } from "../document/types";

export type Colour = "grey" | "blue" | "amber" | "green" | "red";

/** A task's state in a word, an icon and a colour; the same object as long as nothing changed. */
export interface TaskLive {
  /** As of a run: `SUCCESS`, `DLQ`, `RUNNING`, … */
  state: string;
  word: string;
  /** A Material Symbol. */
  icon: string;
  colour: Colour;
  /** Of a container: "12: 10 ok, 1 running, 1 failed". */
  count?: string;
  /** The error's first words. */
  error?: string;
  /** The outcomes it had, one a turn: the edges that were taken. */
  outcomes: readonly string[];
}

export interface LiveState {
  tasks: ReadonlyMap<TaskPath, TaskLive>;
}

export const useLiveStore = create<LiveState>()(() => ({ tasks: new Map() }));

/** All tasks that have a state. */
export const useLive = (): ReadonlyMap<TaskPath, TaskLive> => useLiveStore((state) => state.tasks);

/** One task's; renders again only when it changes. */
export const useLiveOf = (path: TaskPath): TaskLive | undefined =>
  useLiveStore((state) => state.tasks.get(path));

/** Whether an execution went along an edge. */
export const wasTaken = (
  tasks: ReadonlyMap<TaskPath, TaskLive>,
  body: BodyPath,
  edge: Edge,
): boolean => tasks.get(pathOf(body, edge.from))?.outcomes.includes(edge.on ?? "success") ?? false;
