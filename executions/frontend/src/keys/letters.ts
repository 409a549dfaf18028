/**
 * Whether single letters are shortcuts. People who dictate or have a tremor can disable them (WCAG
 * 2.1.4).
 */
import { create } from "zustand";
import { browserStorage } from "../shared/storage";

const KEPT_AS = "valkyr.singleLetterKeys";

export const useLetters = create<{ on: boolean }>()(() => ({
  on: browserStorage.read(KEPT_AS) !== "off",
}));

export function switchLetters(on: boolean): void {
  useLetters.setState({ on });
  browserStorage.write(KEPT_AS, on ? "on" : "off");
}
