/** Announces the execution's state and failures to screen readers. */
import type { Known } from "../live/frames";
import { markOf, WRONG } from "../live/states";
import { announce } from "../shared/announce";
import { t } from "../words/t";
import { nameOfStep } from "./runs";

/** Maximum number of sentences in one announcement. */
const MOST = 3;
const AGAIN = 1000;

let waiting: string[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;

/** Announce changes. Sentences are collected, so that none replaces another. */
export function sayNews(known: Known, before: Known): void {
  waiting.push(...newsOf(known, before));
  if (timer === undefined) next();
}

function next(): void {
  timer = undefined;
  if (waiting.length === 0) return;
  const rest = waiting.length - MOST;
  const more = rest > 0 ? ` ${t("monitor.andMoreChanges", { count: rest })}` : "";
  announce(`${waiting.slice(-MOST).join(" ")}${more}`);
  waiting = [];
  timer = setTimeout(next, AGAIN);
}

/**
 * Return the sentences, failures first; none about states that existed when the page opened. Pure.
 */
export function newsOf(known: Known, before: Known): string[] {
  if (before.execution === null) return [];
  const failed = [...known.runs.values()].filter(
    (run) => WRONG.has(run.state) && before.runs.get(run.id)?.state !== run.state,
  );
  const said = failed.map(
    (run) =>
      `${t("monitor.stepAttemptState", {
        step: nameOfStep(run.stepPath),
        attempt: run.attempt,
        state: markOf(run.state).word,
      })}.`,
  );
  const state = known.execution?.state ?? "";
  if (state !== before.execution.state)
    said.push(t("monitor.theExecutionIs", { state: markOf(state).word }));
  return said;
}
