/** State of the list of problems: whether it is open, and the server's last response. */
import { create } from "zustand";
import type { Verdict } from "./merge";

interface Checking {
  open: boolean;
  verdict: Verdict | null;
  /** The reason why the server's checks are missing; "" if they are not. */
  note: string;
}

export const useChecking = create<Checking>()(() => ({ open: false, verdict: null, note: "" }));

export const toggleProblems = (): void => useChecking.setState((state) => ({ open: !state.open }));
