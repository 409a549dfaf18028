/**
 * Whether single letters are shortcuts. People who dictate or have a tremor can disable them (WCAG
 * 2.1.4).
 */
import { create } from "zustand";

const KEPT_AS = "valkyr.singleLetterKeys";

export const useLetters = create<{ on: boolean }>()(() => ({ on: kept() }));

export function switchLetters(on: boolean): void {
  useLetters.setState({ on });
  try {
    localStorage.setItem(KEPT_AS, on ? "on" : "off");
  } catch {
    // Without storage, the setting lasts until the page is closed.
  }
}

function kept(): boolean {
  try {
    return localStorage.getItem(KEPT_AS) !== "off";
  } catch {
    return true;
  }
}
