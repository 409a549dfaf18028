/** Unsaved work in the tab's session storage, so that a reload loses nothing. */
import type { Definition } from "../document/types";

/** A document that is not saved on the server. */
export interface Work {
  /** Time when the work was stored, in ISO 8601. */
  at: string;
  /** The user who did the work; another account in the same tab does not see it. */
  username: string;
  /** The ETag of the draft on which the work is based. */
  etag: string;
  document: Definition;
}

const keyOf = (id: string): string => `valkyr.studio.work.${id}`;

/** Store the work; return false if the browser's storage is full or blocked. */
export function keep(id: string, work: Work): boolean {
  try {
    sessionStorage.setItem(keyOf(id), JSON.stringify(work));
    return true;
  } catch {
    forget(id); // An older state would be worse than none.
    return false;
  }
}

/** Return the stored work of a workflow; null if there is none, or if it is unreadable. */
export function kept(id: string): Work | null {
  try {
    const text = sessionStorage.getItem(keyOf(id));
    const work = text === null ? null : (JSON.parse(text) as Work);
    return work !== null && Array.isArray(work.document.tasks) ? work : null;
  } catch {
    return null;
  }
}

export function forget(id: string): void {
  try {
    sessionStorage.removeItem(keyOf(id));
  } catch {
    // The storage is blocked, so nothing was stored.
  }
}
