/** Undo and redo with snapshots of a document. Pure. */

export interface History<T> {
  past: readonly T[];
  present: T;
  future: readonly T[];
  /**
   * The key of the newest step, and its time in milliseconds. Steps with the same key within SOON
   * count as one step.
   */
  merge: string | null;
  at: number;
}

export const STEPS = 100;
/**
 * Maximum time between edits that count as one step, such as typing in a field, in milliseconds.
 */
export const SOON = 1500;

export const begin = <T>(present: T): History<T> => ({
  past: [],
  present,
  future: [],
  merge: null,
  at: 0,
});

/** Add a step; an identical document adds none. */
export function stepped<T>(
  history: History<T>,
  present: T,
  now: number,
  merge: string | null = null,
): History<T> {
  if (present === history.present) return history;
  const joins = merge !== null && merge === history.merge && now - history.at < SOON;
  const past = joins ? history.past : [...history.past, history.present].slice(-STEPS);
  return { past, present, future: [], merge, at: now };
}

export function undone<T>(history: History<T>): History<T> {
  const present = history.past.at(-1);
  if (present === undefined) return history;
  const future = [history.present, ...history.future];
  return { past: history.past.slice(0, -1), present, future, merge: null, at: 0 };
}

export function redone<T>(history: History<T>): History<T> {
  const [present, ...future] = history.future;
  if (present === undefined) return history;
  return { past: [...history.past, history.present], present, future, merge: null, at: 0 };
}
