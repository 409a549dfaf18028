// Which runs the timeline shows and in which order: attempts under their step, turns under theirs.
import { lengthOf } from "./bars.js";
import { LIVE, WRONG } from "./states.js";

export const SLOWEST = 100;

/** The rows: [{ run, depth, name }]; `which` is "all", "failed", "running" or "slowest". */
export function rowsOf(runs, which, { now, rolledBack = false, folded = new Set() } = {}) {
  const shown = runs.filter((run) => rolledBack || !run.superseded);
  if (which === "failed") return flat(shown.filter((run) => WRONG.has(run.state)).sort(byTime));
  if (which === "running") return flat(shown.filter((run) => LIVE.has(run.state)).sort(byTime));
  if (which === "slowest") return flat(slowest(shown, now));
  const rows = [];
  walk(planted(shown), 0, rows, folded);
  return rows;
}

const byTime = (a, b) => a.queuedAt - b.queuedAt || (a.id < b.id ? -1 : 1);
const byAttempt = (a, b) => a.epoch - b.epoch || a.attempt - b.attempt || byTime(a, b);
const flat = (runs) => runs.map((run) => ({ run, depth: 0, name: run.stepPath, inside: 0 }));

// Containers last as long as what is in them, which is what one looks for.
function slowest(runs, now) {
  const timed = runs.filter((run) => run.waitsFor !== "body").map((run) => [lengthOf(run, now) ?? -1, run]);
  return timed.filter(([length]) => length >= 0).sort((a, b) => b[0] - a[0]).slice(0, SLOWEST).map(([, run]) => run);
}

// A place: its steps by path, and the turns of its containers.
const place = () => ({ steps: new Map(), turns: new Map(), first: Infinity, runs: 0 });

function planted(runs) {
  const root = place();
  for (const run of runs) {
    let here = root;
    const parts = run.stepPath.split("].");
    here.runs += 1;
    for (const part of parts.slice(0, -1)) {
      const cut = part.lastIndexOf("[");
      here = inner(here, part.slice(0, cut), Number(part.slice(cut + 1)));
      here.runs += 1;
      here.first = Math.min(here.first, run.queuedAt);
    }
    const name = parts[parts.length - 1];
    if (!here.steps.has(name)) here.steps.set(name, []);
    here.steps.get(name).push(run);
  }
  return root;
}

function inner(here, task, index) {
  if (!here.turns.has(task)) here.turns.set(task, new Map());
  const turns = here.turns.get(task);
  if (!turns.has(index)) turns.set(index, place());
  return turns.get(index);
}

function walk(here, depth, rows, folded) {
  const steps = [...here.steps].map(([name, runs]) => [name, runs.sort(byAttempt)]);
  steps.sort((a, b) => byTime(a[1][0], b[1][0]));
  const left = new Set(here.turns.keys());
  for (const [name, runs] of steps) {
    const task = name.slice(0, name.lastIndexOf("."));
    const turns = here.turns.get(task);
    const own = turns && left.delete(task);
    const inside = own ? [...turns.values()].reduce((sum, turn) => sum + turn.runs, 0) : 0;
    runs.forEach((run, index) => rows.push({ run, depth, name, inside: index === runs.length - 1 ? inside : 0 }));
    if (own && !folded.has(runs[runs.length - 1].stepPath)) walkTurns(task, turns, depth, rows, folded);
  }
  for (const task of left) walkTurns(task, here.turns.get(task), depth, rows, folded);
}

function walkTurns(task, turns, depth, rows, folded) {
  for (const [index, turn] of [...turns].sort((a, b) => a[0] - b[0])) {
    const start = rows.length;
    walk(turn, depth + 1, rows, folded);
    for (let row = start; row < rows.length; row += 1) rows[row].turn ??= `${task}[${index}]`;
  }
}
