/** States in words, icons and colours; a state is never told by its colour alone. */

export type Colour = "grey" | "blue" | "amber" | "green" | "red";

export interface Mark {
  word: string;
  /** A Material Symbol. */
  icon: string;
  colour: Colour;
}

const MARKS: Readonly<Record<string, readonly [word: string, icon: string, colour: Colour]>> = {
  PENDING: ["waiting", "radio_button_unchecked", "grey"],
  RUNNING: ["running", "clock_loader_40", "blue"],
  LEASED: ["leased", "lock_clock", "blue"],
  WAITING: ["waiting", "hourglass_empty", "amber"],
  PAUSED: ["paused", "pause_circle", "amber"],
  SUCCESS: ["succeeded", "check_circle", "green"],
  FAILED: ["failed", "cancel", "red"],
  TIMEOUT: ["timed out", "timer_off", "red"],
  DLQ: ["dead", "inbox", "red"],
  CANCELLED: ["cancelled", "do_not_disturb_on", "grey"],
  SKIPPED: ["skipped", "skip_next", "grey"],
};

/** What a run that sleeps waits for. */
const ASLEEP: Readonly<Record<string, string>> = {
  body: "in its body",
  timer: "asleep",
  approval: "awaits approval",
  event: "awaits event",
  callback: "awaits call",
  child: "awaits child",
  circuit: "target rests",
  quota: "over quota",
};

/** Of what has no run yet. */
export const NOT_BEGUN: Mark = { word: "not begun", icon: "pending", colour: "grey" };

export const WORKING: ReadonlySet<string> = new Set(["LEASED", "RUNNING"]);
export const ALIVE: ReadonlySet<string> = new Set(["PENDING", "LEASED", "RUNNING", "WAITING"]);
export const WRONG: ReadonlySet<string> = new Set(["FAILED", "DLQ", "TIMEOUT"]);
/** States that an execution does not leave by itself. */
export const FINAL: ReadonlySet<string> = new Set(["SUCCESS", "FAILED", "CANCELLED", "TIMEOUT"]);

/** The mark of a state by its name. */
export function markOf(state: string): Mark {
  const [word, icon, colour] = MARKS[state] ?? [state.toLowerCase(), "help", "grey"];
  return { word, icon, colour };
}

/** The mark of an execution, which says whether it is undone. */
export function markOfExecution(execution: {
  state: string;
  compensation?: string;
  ending?: string;
}): Mark {
  const mark = markOf(execution.state);
  const { compensation } = execution;
  if (!compensation) return mark;
  if (compensation === "DONE") return { ...mark, word: `${mark.word}, undone` };
  if (compensation === "FAILED") return { ...mark, word: `${mark.word}, undo failed` };
  if (execution.state === "PENDING") return mark;
  return { word: "undoing", icon: "undo", colour: "amber" };
}

/** The mark of a task's undo step. */
export function markOfUndo(state: string): Mark {
  if (state === "SUCCESS") return { word: "undone", icon: "undo", colour: "grey" };
  if (state === "SKIPPED") return { word: "undo skipped", icon: "skip_next", colour: "grey" };
  if (state === "DLQ") return { word: "undo failed", icon: "inbox", colour: "red" };
  return { word: "undoing", icon: "undo", colour: "amber" };
}

/** The mark of a step: a retry says which, a sleeper what for. */
export function markOfStep(state: string, attempt: number, waitsFor: string | null): Mark {
  const usual = markOf(state);
  if (state === "WAITING") return { ...usual, word: ASLEEP[waitsFor ?? ""] ?? usual.word };
  if (state !== "PENDING" || attempt === 1) return usual;
  return { word: `retry ${attempt - 1}`, icon: "autorenew", colour: "amber" };
}
