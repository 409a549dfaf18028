import { type RefObject, useEffect, useRef } from "react";
import { keyOf, type Pointer } from "../forms/pointer";
import { open } from "../shell/drawers";
import { useStudio } from "../store/studio";
import { useView } from "./view";

const TASK_TABS: Readonly<Record<string, "parameters">> = { with: "parameters" };
const WORKFLOW_TABS = {
  input: "input",
  variables: "variables",
  triggers: "triggers",
  settings: "settings",
  labels: "settings",
  output: "settings",
} as const;
const HEAD = ["name", "id"];

/** Show and focus the field in `wantedField`, then clear it. */
export function useFieldFocus(): RefObject<HTMLElement | null> {
  const root = useRef<HTMLElement>(null);
  const wanted = useStudio((state) => state.wantedField);
  const workflow = useStudio((state) => state.panel === "workflow");
  useEffect(() => {
    if (wanted === null) return;
    open("inspector");
    showTab(wanted, workflow);
    // The tab is rendered in the next frame.
    const frame = requestAnimationFrame(() => {
      useStudio.getState().set({ wantedField: null });
      if (root.current) focus(root.current, wanted);
    });
    return () => cancelAnimationFrame(frame);
  }, [wanted, workflow]);
  return root;
}

function showTab(pointer: Pointer, workflow: boolean): void {
  const [first, second, third] = pointer;
  if (workflow) {
    const tab = WORKFLOW_TABS[first as keyof typeof WORKFLOW_TABS] ?? "general";
    useView.setState({ workflow: tab });
    return;
  }
  if (first === undefined || HEAD.includes(String(first))) return;
  const chained = first === "modules" && typeof second === "number";
  const key = String(chained ? third : first);
  const task = key === "undefined" || key === "use" || TASK_TABS[key] ? "parameters" : "settings";
  useView.setState({ task, ...(chained ? { module: second } : {}) });
}

/** Focus the field at the pointer, or the nearest field around it. */
function focus(root: HTMLElement, pointer: Pointer): void {
  for (let length = pointer.length; length >= 0; length -= 1) {
    const key = CSS.escape(keyOf(pointer.slice(0, length)));
    const field = root.querySelector<HTMLElement>(`[data-field="${key}"]`);
    const control = field && controlOf(field);
    if (!control) continue;
    control.focus();
    control.scrollIntoView({ block: "nearest" });
    return;
  }
}

function controlOf(field: HTMLElement): HTMLElement | null {
  if (field.matches("input, textarea, select, button")) return field;
  const selector = "input, textarea, select:not(.kind), button:not(.toggle)";
  return field.querySelector<HTMLElement>(selector);
}
