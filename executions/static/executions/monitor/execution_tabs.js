// What the panel shows while no run is selected: the execution itself, and why it does not go on.
import { Refused, ask } from "./api.js";
import { el, link, mark } from "./elements.js";
import { facts, moment } from "./run_tabs.js";
import { NOT_BEGUN, markOf } from "./states.js";
import { at } from "./times.js";
import { shown } from "./values.js";

export const NAMES = ["Overview", "Why", "Variables", "Output", "Children"];
const STEPS = 50;

export function overview({ execution, more }, { now, addresses }) {
  if (!execution) return [el("p", { class: "vm-note", text: "Loading…" })];
  return [
    ...(execution.errorMessage ? [el("p", { class: "vm-error", text: execution.errorMessage })] : []),
    facts([
      ["State", mark(markOf(execution.state))],
      ["Created", moment(execution.createdAt, now)],
      ["Started", moment(execution.startedAt, now)],
      ["Finished", moment(execution.finishedAt, now)],
      ["Deadline", execution.finishedAt === null ? moment(execution.deadlineAt, now) : null],
      ["Priority", String(execution.priority)],
      ["Rolled back", execution.epoch ? `${execution.epoch}×` : null],
    ]),
    ...(more ? [el("p", { class: "vm-note" }, "There are more runs than are shown here. ", link(addresses.runs, "All runs as a list"))] : []),
    el("p", { class: "vm-note", text: "Select a task or a run to see what it did." }),
  ];
}

/** The reasons, as elements; asks the server. */
export async function why(address, { now, addresses, choose }, signal) {
  const found = await told(() => ask(address, signal));
  if (found instanceof HTMLElement) return [found];
  const rows = found.steps.slice(0, STEPS).map((step) => row(step, { now, choose }));
  const cut = found.truncated || found.steps.length > STEPS;
  return [
    el("p", { class: "vm-why" }, found.reason.message, " ", until(found.reason, now)),
    el("ul", { class: "vm-reasons" }, ...rows),
    ...(cut ? [el("p", { class: "vm-note", text: `Only the first ${STEPS} steps are shown.` })] : []),
    el("p", { class: "vm-note" }, "Asked again every 5 seconds. ", link(addresses.runners, "Workers")),
  ];
}

function row(step, { now, choose }) {
  const name = step.runId
    ? el("button", { type: "button", class: "vm-link", "data-run": step.runId, text: step.path, on: { click: () => choose(step.runId) } })
    : el("span", { class: "vk-mono", text: step.path });
  return el("li", {}, name, " ", mark(step.state ? markOf(step.state) : NOT_BEGUN), el("p", {}, step.reason.message, " ", until(step.reason, now)));
}

function until(reason, now) {
  const time = at(reason.until);
  return time === null ? "" : el("span", { class: "vk-subtle" }, "Until ", moment(time, now), ".");
}

/** A payload of the execution, or its children's list. */
export async function payload(name, { addresses }, signal) {
  if (name === "Children") return [el("p", {}, link(addresses.children, "The executions that it started, as a list"))];
  const found = await told(() => ask(addresses.execution, signal));
  if (found instanceof HTMLElement) return [found];
  return name === "Variables" ? [shown(found.contextData)] : [shown(found.output, "No output yet.")];
}

async function told(asking) {
  try {
    return await asking();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return el("p", { class: "vm-error", role: "alert", text: error.message });
  }
}
