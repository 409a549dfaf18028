/**
 * State of saving besides the document: restored work, and a conflict with another user's changes.
 */
import { create } from "zustand";

/** The user who changed the draft since it was loaded; "" if unknown. */
export interface Conflict {
  changedBy: string;
  changedAt: string;
}

interface Keeping {
  /** Time when the restored work was stored; null without restored work, or after a decision. */
  restoredFrom: string | null;
  conflict: Conflict | null;
  /** Whether the browser's storage has no room for the unsaved work. */
  tooLarge: boolean;
}

export const useKeeping = create<Keeping>()(() => ({
  restoredFrom: null,
  conflict: null,
  tooLarge: false,
}));
