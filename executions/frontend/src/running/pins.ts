/** Results that tasks are to have in test runs instead of being run; kept until the tab is closed. */
import { create } from "zustand";
import type { Json, TaskPath } from "../document/types";

export interface Pin {
  output: Json;
  /** Which way the task leads; left out where only one does. */
  outcome?: string;
}

export interface PinsState {
  pins: ReadonlyMap<TaskPath, Pin>;
  pin(path: TaskPath, pin: Pin): void;
  unpin(path: TaskPath): void;
  clear(): void;
}

/** The pins of the workflow that is open; only tasks outside of containers can be pinned. */
export const usePins = create<PinsState>()((set) => ({
  pins: new Map(),
  pin: (path, pin) => set(({ pins }) => ({ pins: new Map(pins).set(path, pin) })),
  unpin: (path) =>
    set(({ pins }) => ({ pins: new Map([...pins].filter(([one]) => one !== path)) })),
  clear: () => set({ pins: new Map() }),
}));
