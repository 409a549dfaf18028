import { create } from "zustand";

/** The node id of the note whose text is being edited. */
export const useWriting = create<{ note: string | null }>()(() => ({ note: null }));
