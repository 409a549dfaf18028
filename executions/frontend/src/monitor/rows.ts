/** The timeline's rows in order: attempts below their step, iterations below theirs. Pure. */
import { ALIVE, WRONG } from "../live/states";
import { lengthOf } from "./bars";
import { byAttempt, byTime, type Run } from "./runs";

export const FILTERS = ["all", "failed", "running", "slowest"] as const;
export type Filter = (typeof FILTERS)[number];

export interface Row {
  run: Run;
  depth: number;
  /** The step's path within its iteration. */
  name: string;
  /** Number of runs in the container's iterations, which are listed below it. */
  inside: number;
  /** The innermost iteration around the row, such as `map[3]`. */
  turn?: string;
}

export interface Listing {
  now: number;
  rolledBack?: boolean;
  /** The step paths of collapsed containers. */
  folded?: ReadonlySet<string>;
}

const SLOWEST = 100;
const NONE: ReadonlySet<string> = new Set();

/** Return the rows of these runs. */
export function rowsOf(runs: readonly Run[], which: Filter, listing: Listing): Row[] {
  const { now, rolledBack = false, folded = NONE } = listing;
  const shown = runs.filter((run) => rolledBack || !run.superseded);
  if (which === "failed") return flat(shown.filter((run) => WRONG.has(run.state)).sort(byTime));
  if (which === "running") return flat(shown.filter((run) => ALIVE.has(run.state)).sort(byTime));
  if (which === "slowest") return flat(slowest(shown, now));
  const rows: Row[] = [];
  walk(planted(shown), 0, rows, folded);
  return rows;
}

const flat = (runs: readonly Run[]): Row[] =>
  runs.map((run) => ({ run, depth: 0, name: run.stepPath, inside: 0 }));

/** Leave out containers: they take as long as their content, which users look for. */
function slowest(runs: readonly Run[], now: number): Run[] {
  const timed = runs
    .filter((run) => run.waitsFor !== "body")
    .map((run) => [lengthOf(run, now) ?? -1, run] as const);
  return timed
    .filter(([length]) => length >= 0)
    .sort(([one], [other]) => other - one)
    .slice(0, SLOWEST)
    .map(([, run]) => run);
}

/** The runs of one body, by step path, and the iterations of its containers, by index. */
interface Place {
  steps: Map<string, Run[]>;
  turns: Map<string, Map<number, Place>>;
  runs: number;
}

const place = (): Place => ({ steps: new Map(), turns: new Map(), runs: 0 });

function planted(runs: readonly Run[]): Place {
  const root = place();
  for (const run of runs) {
    let here = root;
    const parts = run.stepPath.split("].");
    here.runs += 1;
    for (const part of parts.slice(0, -1)) {
      const cut = part.lastIndexOf("[");
      here = inner(here, part.slice(0, cut), Number(part.slice(cut + 1)));
      here.runs += 1;
    }
    const name = parts.at(-1) ?? "";
    const same = here.steps.get(name);
    if (same) same.push(run);
    else here.steps.set(name, [run]);
  }
  return root;
}

function inner(here: Place, task: string, index: number): Place {
  const turns = here.turns.get(task) ?? new Map<number, Place>();
  here.turns.set(task, turns);
  const turn = turns.get(index) ?? place();
  turns.set(index, turn);
  return turn;
}

function walk(here: Place, depth: number, rows: Row[], folded: ReadonlySet<string>): void {
  const steps = [...here.steps].map(([name, runs]) => [name, runs.sort(byAttempt)] as const);
  steps.sort(([, [one]], [, [other]]) => (one && other ? byTime(one, other) : 0));
  const left = new Set(here.turns.keys());
  for (const [name, runs] of steps) {
    const task = name.slice(0, name.lastIndexOf("."));
    const turns = left.delete(task) ? here.turns.get(task) : undefined;
    const inside = [...(turns?.values() ?? [])].reduce((sum, turn) => sum + turn.runs, 0);
    const last = runs.at(-1);
    for (const run of runs) rows.push({ run, depth, name, inside: run === last ? inside : 0 });
    if (turns && last && !folded.has(last.stepPath)) walkTurns(task, turns, depth, rows, folded);
  }
  for (const task of left) {
    walkTurns(task, here.turns.get(task) ?? new Map(), depth, rows, folded);
  }
}

function walkTurns(
  task: string,
  turns: ReadonlyMap<number, Place>,
  depth: number,
  rows: Row[],
  folded: ReadonlySet<string>,
): void {
  for (const [index, turn] of [...turns].sort(([one], [other]) => one - other)) {
    const start = rows.length;
    walk(turn, depth + 1, rows, folded);
    for (const row of rows.slice(start)) row.turn ??= `${task}[${index}]`;
  }
}
