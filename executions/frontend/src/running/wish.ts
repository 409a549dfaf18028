/** What the run dialog was opened for. */
import { create } from "zustand";
import type { TaskPath } from "../document/types";
import { type PageFacts, useStudio } from "../store/studio";
import { t } from "../words/t";
import { EVERYTHING, type Part, type PartKind } from "./parts";

interface Wish {
  part: Part;
  /** The payload as it was typed last; null before anything was. */
  payload: string | null;
  /** The run whose payload is being fetched to take its place; null where none is. */
  taking: string | null;
}

export const useWish = create<Wish>()(() => ({ part: EVERYTHING, payload: null, taking: null }));

/** Put a payload into the dialog; one that is still being fetched is let go. */
export const setPayload = (payload: string): void => useWish.setState({ payload, taking: null });

/** Open the run dialog for a part of the workflow. */
export function openRun(part: Part = EVERYTHING): void {
  useWish.setState({ part });
  useStudio.getState().set({ dialog: "run" });
}

export interface RunAction {
  kind: PartKind;
  label: string;
  /** A Material Symbol. */
  icon: string;
  /** Why it cannot be done now, or undefined. */
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

/** Whether its draft, or a part of it, may be run as a test; that of code too. */
export const mayTest = (page: PageFacts): boolean =>
  page.canRun && (page.canEdit || page.canTakeOver);

/** What of running is offered at one task, for menus. */
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
