/** What saving knows beside the document: what was restored, and who changed the draft meanwhile. */
import { create } from "zustand";

/** Who changed the draft since it was read; "" where that is not known. */
export interface Conflict {
  changedBy: string;
  changedAt: string;
}

interface Keeping {
  /** When the work was kept that a reload brought back; null where none was, or it was settled. */
  restoredFrom: string | null;
  conflict: Conflict | null;
  /** Whether the browser has no room for the unsaved work. */
  tooLarge: boolean;
}

export const useKeeping = create<Keeping>()(() => ({
  restoredFrom: null,
  conflict: null,
  tooLarge: false,
}));
