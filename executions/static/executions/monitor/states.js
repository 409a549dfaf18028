// States in words, icons and colours; a state is never told by its colour alone.
import { span } from "./times.js";

const MARKS = {
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
const ASLEEP = {
  body: "in its body",
  timer: "asleep",
  approval: "awaits approval",
  event: "awaits event",
  callback: "awaits call",
  child: "awaits child",
  circuit: "target rests",
  quota: "over quota",
};
export const NOT_BEGUN = { word: "not begun", icon: "pending", colour: "grey" };
export const LIVE = new Set(["PENDING", "LEASED", "RUNNING", "WAITING"]);
export const WORKING = new Set(["LEASED", "RUNNING"]);
export const WRONG = new Set(["FAILED", "DLQ", "TIMEOUT"]);
export const FINISHED = new Set(["SUCCESS", "FAILED", "CANCELLED", "TIMEOUT"]);

/** The mark of a state by its name. */
export function markOf(state) {
  const [word, icon, colour] = MARKS[state] ?? [state.toLowerCase(), "help", "grey"];
  return { word, icon, colour };
}

/** The mark of a run: a retry says which, a sleeper what for. */
export function markOfRun(run, now) {
  const usual = markOf(run.state);
  if (run.superseded) return { ...usual, word: `${usual.word}, rolled back` };
  if (run.state === "WAITING") return { ...usual, word: ASLEEP[run.waitsFor] ?? usual.word };
  if (run.state !== "PENDING" || run.attempt === 1) return usual;
  const wait = run.retryAfter !== null && run.retryAfter > now ? `, in ${span(run.retryAfter - now)}` : "";
  return { word: `retry ${run.attempt - 1}${wait}`, icon: "autorenew", colour: "amber" };
}
