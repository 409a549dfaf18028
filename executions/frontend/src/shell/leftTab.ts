/** Which tab of the left side is open. */
import { create } from "zustand";

export type LeftTab = "modules" | "executions";

export const useLeftTab = create<{ tab: LeftTab }>()(() => ({ tab: "modules" }));
