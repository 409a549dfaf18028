/** Whether single letters are keys; who dictates or has a tremor can switch them off (WCAG 2.1.4). */
import { create } from "zustand";

const KEPT_AS = "valkyr.singleLetterKeys";

export const useLetters = create<{ on: boolean }>()(() => ({ on: kept() }));

export function switchLetters(on: boolean): void {
  useLetters.setState({ on });
  try {
    localStorage.setItem(KEPT_AS, on ? "on" : "off");
  } catch {
    // A browser that keeps nothing still obeys until the page is closed.
  }
}

function kept(): boolean {
  try {
    return localStorage.getItem(KEPT_AS) !== "off";
  } catch {
    return true;
  }
}
