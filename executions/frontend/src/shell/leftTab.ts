/** The open tab of the left side. */
import { create } from "zustand";

export type LeftTab = "modules" | "executions";

export const useLeftTab = create<{ tab: LeftTab }>()(() => ({ tab: "modules" }));
