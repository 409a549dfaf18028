/** Unsaved work in this tab's sessionStorage, so that a reload loses nothing. */
import type { Definition } from "../document/types";

/** A document that the server does not have yet. */
export interface Work {
  /** When it was kept; ISO 8601. */
  at: string;
  /** Whose it is: another account in the same tab does not see it. */
  username: string;
  /** The revision of the draft that it was made from. */
  etag: string;
  document: Definition;
}

const keyOf = (id: string): string => `valkyr.studio.work.${id}`;

/** Keep the work; false where the browser has no room for it, or allows no keeping. */
export function keep(id: string, work: Work): boolean {
  try {
    sessionStorage.setItem(keyOf(id), JSON.stringify(work));
    return true;
  } catch {
    forget(id); // an older state would be worse than none
    return false;
  }
}

/** What was kept of a workflow; null where there is nothing, or nothing that can be read. */
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
    // Nothing was kept where nothing may be.
  }
}
