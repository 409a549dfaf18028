/** What the list of problems knows beside the problems: whether it is open, and what the server said. */
import { create } from "zustand";
import type { Verdict } from "./merge";

interface Checking {
  open: boolean;
  verdict: Verdict | null;
  /** Why the server's checks are missing, in a sentence; "" where they are not. */
  note: string;
}

export const useChecking = create<Checking>()(() => ({ open: false, verdict: null, note: "" }));

export const toggleProblems = (): void => useChecking.setState((state) => ({ open: !state.open }));
