/** A sentence at the bottom of the canvas for 5 s, also announced to screen readers. */
import { create } from "zustand";
import { announce } from "../shared/announce";

const LASTS = 5000;

export const useNotice = create<{ sentence: string }>()(() => ({ sentence: "" }));

let over: ReturnType<typeof setTimeout> | undefined;

export function notice(sentence: string): void {
  announce(sentence);
  useNotice.setState({ sentence });
  clearTimeout(over);
  over = setTimeout(() => useNotice.setState({ sentence: "" }), LASTS);
}
