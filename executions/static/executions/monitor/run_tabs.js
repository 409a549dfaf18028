// What the panel shows of a run. `run` is the stream's, `full` the API's answer, null until it came.
import { lengthOf, partsOf } from "./bars.js";
import { el, link, mark } from "./elements.js";
import { markOfRun } from "./states.js";
import { ago, span, stamp, took } from "./times.js";
import { isHidden, preformatted, shown } from "./values.js";

export const NAMES = ["Summary", "Input", "Output", "Error", "Log", "Children"];

/** The elements of one tab. */
export function tabOf(name, run, full, context) {
  if (name === "Summary") return summary(run, full, context);
  if (name === "Error") return failure(run, full);
  if (full === null) return [el("p", { class: "vm-note", text: "Loading…" })];
  if (name === "Input") return [shown(full.inputs, "Nothing was rendered yet.")];
  if (name === "Output") return [shown(full.outputs, "No output.")];
  if (name === "Log") return log(full.logs);
  return children(run, context);
}

/** Facts as the admin's pages show them: [[label, text or element]]; empty ones are left out. */
export function facts(pairs) {
  const told = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return el("dl", { class: "vm-facts" }, ...told.map(([label, value]) => el("div", {}, el("dt", { text: label }), el("dd", {}, value))));
}

/** A moment: how long ago, with the whole time. */
export function moment(time, now) {
  if (time === null || time === undefined) return null;
  return el("time", { datetime: new Date(time).toISOString(), title: stamp(time), text: ago(time, now) });
}

function summary(run, full, { now, addresses }) {
  const parts = partsOf(run, now).map((part) => `${part.kind === "backoff" ? "backed off" : part.kind} ${took(part.to - part.from)}`);
  const backing = run.retryAfter !== null && run.retryAfter > now ? `in ${span(run.retryAfter - now)}` : null;
  return [
    ...links(run, addresses),
    facts([
      ["State", mark(markOfRun(run, now))],
      ["Module", run.module],
      ["Attempt", String(run.attempt)],
      ["Outcome", run.outcome],
      ["Duration", took(lengthOf(run, now))],
      ["Time", parts.join(", ")],
      ["Retry", backing],
      ["Worker", run.worker],
      ["Queue", run.queue],
      ["Queued", moment(run.queuedAt, now)],
      ["Started", moment(run.startedAt, now)],
      ["Finished", moment(run.finishedAt, now)],
      ["Recoveries", run.recoveries ? `${run.recoveries}, its worker died` : null],
      ["Tokens", full?.costTokens ? full.costTokens.toLocaleString("en") : null],
      ["Result of", run.cachedFrom ? link(addresses.runPage(run.cachedFrom), "a run before") : null],
      ["Run", link(addresses.runPage(run.id), run.id)],
    ]),
  ];
}

function links(run, addresses) {
  const made = [];
  if (run.state === "DLQ") made.push(link(addresses.deadLetters(run.id), "Its dead letter: retry, fix or discard"));
  if (run.state === "WAITING" && run.waitsFor === "approval") made.push(link(addresses.approvalPage(run.id), "Decide on the approval"));
  return made.length ? [el("p", { class: "vm-links" }, ...made)] : [];
}

function failure(run, full) {
  if (!run.error) return [el("p", { class: "vm-note", text: "No error." })];
  const details = full?.errorDetails;
  const made = [el("p", { class: "vk-error-type", text: run.errorType || "Error" }), preformatted(full?.error || run.error)];
  if (isHidden(details)) return [...made, shown(details)];
  if (!details) return made;
  const { traceback, ...rest } = details;
  if (traceback) made.push(el("h4", { text: "Traceback" }), preformatted(String(traceback)));
  if (Object.keys(rest).length) made.push(el("h4", { text: "Details" }), shown(rest));
  return made;
}

function log(lines) {
  if (isHidden(lines) || !Array.isArray(lines)) return [shown(lines, "It wrote no log.")];
  const rows = lines.map((line) => (typeof line === "string" ? line : [line.at ?? line.time, line.level, line.message ?? JSON.stringify(line)].filter(Boolean).join("  ")));
  return [preformatted(rows.join("\n") || "It wrote no log.")];
}

function children(run, { addresses }) {
  if (!run.childId) return [el("p", { class: "vm-note", text: "It started no other execution." })];
  return [el("p", {}, link(addresses.childPage(run.childId), `Watch the execution it started, ${run.childId}`))];
}
