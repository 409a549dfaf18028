/** Unsaved work in the tab's session storage, so that a reload loses nothing. */
import type { Definition } from "../document/types";
import { tabStorage } from "../shared/storage";

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
  const stored = tabStorage.write(keyOf(id), JSON.stringify(work));
  if (!stored) forget(id); // An older state would be worse than none.
  return stored;
}

/** Return the stored work of a workflow; null if there is none, or if it is unreadable. */
export function kept(id: string): Work | null {
  const work = tabStorage.readJson(keyOf(id)) as Partial<Work> | null;
  return Array.isArray(work?.document?.tasks) ? (work as Work) : null;
}

export const forget = (id: string): void => tabStorage.remove(keyOf(id));
