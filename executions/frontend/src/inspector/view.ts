/** Display settings of the inspector, which stay when another task is selected. */
import { create } from "zustand";
import { browserStorage } from "../shared/storage";

export type TaskTab = "parameters" | "settings" | "undo" | "about";
export type WorkflowTab = "general" | "input" | "variables" | "triggers" | "settings";
export type DataTab = "available" | "input" | "output" | "error";

interface InspectorView {
  task: TaskTab;
  workflow: WorkflowTab;
  data: DataTab;
  dataOpen: boolean;
  /** Width of the inspector, in pixels. */
  width: number;
  /** Index of the displayed module of a chain. */
  module: number;
}

export const LEAST = 280;
export const MOST = 640;
const USUAL = 340;
const KEY = "studioInspectorWidth";

export const useView = create<InspectorView>()(() => ({
  task: "parameters",
  workflow: "general",
  data: "available",
  dataOpen: false,
  width: remembered(),
  module: 0,
}));

/** Set the inspector's width within its limits, and store it in the browser. */
export function setWidth(pixels: number): void {
  const width = Math.round(Math.min(MOST, Math.max(LEAST, pixels)));
  useView.setState({ width });
  browserStorage.write(KEY, String(width));
}

function remembered(): number {
  const width = Number(browserStorage.read(KEY) ?? USUAL);
  return Number.isFinite(width) ? Math.min(MOST, Math.max(LEAST, width)) : USUAL;
}
