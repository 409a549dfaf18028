/** Undo and redo over snapshots of a document. Pure. */

export interface History<T> {
  past: readonly T[];
  present: T;
  future: readonly T[];
  /** What the newest step was, and when (milliseconds): the same within SOON is one step. */
  merge: string | null;
  at: number;
}

export const STEPS = 100;
/** Typing in one field within this many milliseconds is one step. */
export const SOON = 1500;

export const begin = <T>(present: T): History<T> => ({
  past: [],
  present,
  future: [],
  merge: null,
  at: 0,
});

/** With a new present; the same present is no step. */
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
