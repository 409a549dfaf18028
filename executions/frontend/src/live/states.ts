/** Names, icons and colours of states; colour is never the only sign of a state. */
import { t } from "../words/t";

export type Colour = "grey" | "blue" | "amber" | "green" | "red";

export interface Mark {
  word: string;
  /** The name of a Material Symbol. */
  icon: string;
  colour: Colour;
}

const MARKS: Readonly<Record<string, readonly [word: string, icon: string, colour: Colour]>> = {
  PENDING: [t("live.pending"), "radio_button_unchecked", "grey"],
  RUNNING: [t("live.running"), "clock_loader_40", "blue"],
  LEASED: [t("live.leased"), "lock_clock", "blue"],
  WAITING: [t("live.waiting"), "hourglass_empty", "amber"],
  PAUSED: [t("live.paused"), "pause_circle", "amber"],
  SUCCESS: [t("live.succeeded"), "check_circle", "green"],
  FAILED: [t("live.failed"), "cancel", "red"],
  TIMEOUT: [t("live.timedOut"), "timer_off", "red"],
  DLQ: [t("live.dead"), "inbox", "red"],
  CANCELLED: [t("live.cancelled"), "do_not_disturb_on", "grey"],
  SKIPPED: [t("live.skipped"), "skip_next", "grey"],
};

/** Names of a waiting run's state, by what it waits for. */
const ASLEEP: Readonly<Record<string, string>> = {
  body: t("live.inItsBody"),
  timer: t("live.asleep"),
  approval: t("live.awaitsApproval"),
  event: t("live.awaitsEvent"),
  callback: t("live.awaitsCall"),
  child: t("live.awaitsChild"),
  circuit: t("live.targetRests"),
  quota: t("live.overQuota"),
};

/** The state of a task without runs. */
export const NOT_BEGUN: Mark = { word: t("live.notBegun"), icon: "pending", colour: "grey" };

export const WORKING: ReadonlySet<string> = new Set(["LEASED", "RUNNING"]);
export const ALIVE: ReadonlySet<string> = new Set(["PENDING", "LEASED", "RUNNING", "WAITING"]);
export const WRONG: ReadonlySet<string> = new Set(["FAILED", "DLQ", "TIMEOUT"]);
/** States that an execution leaves only by a manual action. */
export const FINAL: ReadonlySet<string> = new Set(["SUCCESS", "FAILED", "CANCELLED", "TIMEOUT"]);

/** Return the mark of a state. */
export function markOf(state: string): Mark {
  const [word, icon, colour] = MARKS[state] ?? [state.toLowerCase(), "help", "grey"];
  return { word, icon, colour };
}

/** Return the mark of an execution, which also names its undo steps' progress. */
export function markOfExecution(execution: {
  state: string;
  compensation?: string;
  ending?: string;
}): Mark {
  const mark = markOf(execution.state);
  const { compensation } = execution;
  if (!compensation) return mark;
  if (compensation === "DONE") return { ...mark, word: t("live.stateUndone", { word: mark.word }) };
  if (compensation === "FAILED")
    return { ...mark, word: t("live.stateUndoFailed", { word: mark.word }) };
  if (execution.state === "PENDING") return mark;
  return { word: t("live.undoing"), icon: "undo", colour: "amber" };
}

/** Return the mark of a task's undo step. */
export function markOfUndo(state: string): Mark {
  if (state === "SUCCESS") return { word: t("live.undone"), icon: "undo", colour: "grey" };
  if (state === "SKIPPED")
    return { word: t("live.undoSkipped"), icon: "skip_next", colour: "grey" };
  if (state === "DLQ") return { word: t("live.undoFailed"), icon: "inbox", colour: "red" };
  return { word: t("live.undoing"), icon: "undo", colour: "amber" };
}

/** Return the mark of a step; it names the number of a retry, or what a step waits for. */
export function markOfStep(state: string, attempt: number, waitsFor: string | null): Mark {
  const usual = markOf(state);
  if (state === "WAITING") return { ...usual, word: ASLEEP[waitsFor ?? ""] ?? usual.word };
  if (state !== "PENDING" || attempt === 1) return usual;
  return { word: t("live.retry", { number: attempt - 1 }), icon: "autorenew", colour: "amber" };
}
