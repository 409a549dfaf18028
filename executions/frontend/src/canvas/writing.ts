import { create } from "zustand";

/** The note whose text is being written, by its node's id. */
export const useWriting = create<{ note: string | null }>()(() => ({ note: null }));
