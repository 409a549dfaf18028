/**
 * Pinned results, which test runs use instead of running the tasks; kept until the tab is closed.
 */
import { create } from "zustand";
import type { Json, TaskPath } from "../document/types";

export interface Pin {
  output: Json;
  /** The outcome of the task; omitted if only one is possible. */
  outcome?: string;
}

export type Pins = ReadonlyMap<TaskPath, Pin>;

export interface PinsState {
  pins: Pins;
  pin(path: TaskPath, pin: Pin): void;
  unpin(path: TaskPath): void;
  /** Add several pins. */
  pinAll(more: Pins): void;
  clear(): void;
}

/** The pins of the open workflow; only tasks outside containers can be pinned. */
export const usePins = create<PinsState>()((set) => ({
  pins: new Map(),
  pin: (path, pin) => set(({ pins }) => ({ pins: new Map(pins).set(path, pin) })),
  unpin: (path) =>
    set(({ pins }) => ({ pins: new Map([...pins].filter(([one]) => one !== path)) })),
  pinAll: (more) => set(({ pins }) => ({ pins: new Map([...pins, ...more]) })),
  clear: () => set({ pins: new Map() }),
}));

export const useIsPinned = (path: TaskPath): boolean => usePins((state) => state.pins.has(path));

/** Whether a task with this path can be pinned; tasks in containers cannot. */
export const canBePinned = (path: TaskPath): boolean => !path.includes(".");

/**
 * Convert pins to text; `readKept` converts them back, and returns no pins for other text. Pure.
 */
export const keptText = (pins: Pins): string => JSON.stringify(Object.fromEntries(pins));

export function readKept(text: string | null): Pins {
  try {
    const read: unknown = JSON.parse(text ?? "{}");
    if (typeof read !== "object" || read === null || Array.isArray(read)) return new Map();
    return new Map(
      Object.entries(read).filter((entry): entry is [TaskPath, Pin] => isPin(entry[1])),
    );
  } catch {
    return new Map();
  }
}

function isPin(value: unknown): value is Pin {
  if (typeof value !== "object" || value === null || !("output" in value)) return false;
  return !("outcome" in value) || typeof value.outcome === "string";
}
