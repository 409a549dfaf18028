/** State of the run dialog. */
import { create } from "zustand";
import type { TaskPath } from "../document/types";
import { type PageFacts, useStudio } from "../store/studio";
import { t } from "../words/t";
import { EVERYTHING, type Part, type PartKind } from "./parts";

interface Wish {
  part: Part;
  /** The payload as typed; null before the first change. */
  payload: string | null;
  /** The execution whose payload is being loaded; null if there is none. */
  taking: string | null;
}

export const useWish = create<Wish>()(() => ({ part: EVERYTHING, payload: null, taking: null }));

/** Set the dialog's payload, and ignore one that is still being loaded. */
export const setPayload = (payload: string): void => useWish.setState({ payload, taking: null });

/** Open the run dialog for a part of the workflow. */
export function openRun(part: Part = EVERYTHING): void {
  useWish.setState({ part });
  useStudio.getState().set({ dialog: "run" });
}

export interface RunAction {
  kind: PartKind;
  label: string;
  /** The name of a Material Symbol. */
  icon: string;
  /** The reason why the action is not possible now, or undefined. */
  refusal: string | undefined;
  act: () => void;
}

const ACTIONS: readonly [PartKind, string, string][] = [
  ["upTo", t("running.runUpToHere"), "line_end_arrow"],
  ["from", t("running.runFromHere"), "line_start_arrow"],
  ["only", t("running.runThisTaskAlone"), "play_circle"],
];
export const NO_TEST = t("running.aTestRunNeedsARole");
const IN_A_BODY = t("running.itRunsAsAWhole");

/** Whether the user may run the draft, or a part of it, as a test; also for workflows from code. */
export const mayTest = (page: PageFacts): boolean =>
  page.canRun && (page.canEdit || page.canTakeOver);

/** Return the run actions of one task, for menus. */
export function runActions(path: TaskPath): RunAction[] {
  const { page } = useStudio.getState();
  const refusal = mayTest(page) ? (path.includes(".") ? IN_A_BODY : undefined) : NO_TEST;
  return ACTIONS.map(([kind, label, icon]) => ({
    kind,
    label,
    icon,
    refusal,
    act: () => openRun({ kind, task: path }),
  }));
}
