/** Counts a container's iterations by state. Pure. */

import { t } from "../words/t";
import type { Key } from "../words/types";
import type { RunRow } from "./frames";
import { ALIVE, WORKING } from "./states";

/** In ascending severity: an iteration has the most severe kind of its steps. */
const KINDS = ["ok", "cancelled", "waiting", "running", "failed", "dead"] as const;
const TOLD = {
  ok: "live.countOk",
  running: "live.countRunning",
  waiting: "live.countWaiting",
  failed: "live.countFailed",
  dead: "live.countDead",
  cancelled: "live.countCancelled",
} as const satisfies Record<Kind, Key>;
type Kind = (typeof KINDS)[number];

/** For each container and iteration, the index of the most severe kind of its steps. */
export type Turns = Map<string, Map<string, number>>;

/** Count a step in every iteration around it: `a[1].b[2].c.main` in one of `a` and one of `a.b`. */
export function noteTurns(turns: Turns, run: RunRow, handled: boolean): void {
  for (const found of run.stepPath.matchAll(/\[\d+\]/g)) {
    const before = run.stepPath.slice(0, found.index);
    const turn = before + found[0];
    const container = before.replace(/\[\d+\]/g, "");
    const inside = turns.get(container) ?? new Map<string, number>();
    inside.set(turn, Math.max(inside.get(turn) ?? 0, KINDS.indexOf(kindOf(run, handled))));
    turns.set(container, inside);
  }
}

function kindOf(run: RunRow, handled: boolean): Kind {
  if (run.state === "DLQ") return "dead";
  if (run.state === "FAILED") return handled ? "ok" : "failed";
  if (WORKING.has(run.state)) return "running";
  if (ALIVE.has(run.state)) return run.waitsFor === "body" ? "running" : "waiting";
  return run.state === "CANCELLED" ? "cancelled" : "ok";
}

/** Format the counts: "12: 10 ok, 1 running, 1 failed". */
export function counted(inside: ReadonlyMap<string, number>): string {
  const kinds = [...inside.values()].map((index) => KINDS[index]);
  const parts = Object.entries(TOLD)
    .map(([kind, words]) => ({ words, count: kinds.filter((one) => one === kind).length }))
    .filter(({ count }) => count > 0)
    .map(({ words, count }) => t(words, { count }));
  return `${inside.size}: ${parts.join(", ")}`;
}
