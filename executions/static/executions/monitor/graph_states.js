// What the graph shows of each task and edge, from the runs: states, counts of turns, what was taken.
import { LIVE, WORKING } from "./states.js";

/** The graph with its look-ups: tasks by path, a task by the path of its steps, what edges lead out. */
export function indexed(graph) {
  const nodes = new Map(graph.nodes.map((node) => [node.path, node]));
  const ofStep = new Map();
  const minded = new Set();
  for (const node of graph.nodes) for (const step of node.steps) ofStep.set(step.path, node.path);
  for (const edge of graph.edges) if (edge.label === "error") minded.add(edge.from);
  return { ...graph, byPath: nodes, ofStep, minded };
}

/** By task: { state, run, steps, turns, outcomes } from the newest attempt of each step. */
export function statesOf(graph, runs) {
  const newest = newestAttempts(runs);
  const found = new Map();
  const turns = new Map();
  for (const run of newest.values()) {
    const path = graph.ofStep.get(run.plain);
    if (path === undefined) continue;
    note(graph.byPath.get(path), run, found);
    noteTurns(run, graph.minded.has(path), turns);
  }
  for (const [container, inside] of turns) {
    const state = found.get(container);
    if (state) state.turns = counted(inside);
  }
  return found;
}

/** The run that counts of each step: of the newest attempt, not rolled back. */
export function newestAttempts(runs) {
  const newest = new Map();
  for (const run of runs) {
    if (run.superseded) continue;
    const other = newest.get(run.stepPath);
    if (!other || run.epoch > other.epoch || (run.epoch === other.epoch && run.attempt > other.attempt)) newest.set(run.stepPath, run);
  }
  return newest;
}

// What of a task's runs is shown: what needs a look first, then what moves, then what was reached.
const RANK = { DLQ: 8, FAILED: 7, RUNNING: 6, LEASED: 5, WAITING: 4, PENDING: 3, CANCELLED: 2, SUCCESS: 1, SKIPPED: 0 };

function note(node, run, found) {
  let state = found.get(node.path);
  if (!state) found.set(node.path, (state = { run: null, state: "", runs: 0, steps: new Map(), outcomes: new Set(), turns: null }));
  state.runs += 1;
  const step = state.steps.get(run.plain);
  if (!step || RANK[run.state] > RANK[step.state]) state.steps.set(run.plain, run);
  const last = node.steps[node.steps.length - 1].path === run.plain;
  // A chain is done when its last step is; until then a step that is done says "running".
  const told = run.state === "SUCCESS" && !last ? "RUNNING" : run.state;
  const rank = run.state === "SUCCESS" && !last ? 0.5 : RANK[run.state];
  if (state.run === null || rank > state.rank || (rank === state.rank && run.queuedAt > state.run.queuedAt)) Object.assign(state, { run, rank, state: told });
  if (run.state === "SUCCESS" && last) state.outcomes.add(run.outcome || "success");
  else if (run.state === "FAILED" && run.outcome) state.outcomes.add(run.outcome);
}

// The turns that a run stands in: "a[1].b[2].c.main" is in turn a[1] of "a" and a[1].b[2] of "a.b".
function noteTurns(run, minded, turns) {
  for (const found of run.stepPath.matchAll(/\[\d+\]/g)) {
    const turn = run.stepPath.slice(0, found.index + found[0].length);
    const container = run.stepPath.slice(0, found.index).replace(/\[\d+\]/g, "");
    let inside = turns.get(container);
    if (!inside) turns.set(container, (inside = new Map()));
    inside.set(turn, Math.max(inside.get(turn) ?? 0, kindOf(run, minded)));
  }
}

const KINDS = ["ok", "cancelled", "waiting", "running", "failed", "dead"];

function kindOf(run, minded) {
  if (run.state === "DLQ") return 5;
  if (run.state === "FAILED") return minded ? 0 : 4;
  if (WORKING.has(run.state)) return 3;
  if (LIVE.has(run.state)) return run.waitsFor === "body" ? 3 : 2;
  return run.state === "CANCELLED" ? 1 : 0;
}

function counted(inside) {
  const counts = { total: inside.size };
  for (const kind of inside.values()) counts[KINDS[kind]] = (counts[KINDS[kind]] ?? 0) + 1;
  return counts;
}

/** A container's counts in words: "12: 10 ok, 1 running, 1 failed". */
export function badge(turns) {
  const parts = ["ok", "running", "waiting", "failed", "dead", "cancelled"].filter((kind) => turns[kind]);
  return `${turns.total}: ${parts.map((kind) => `${turns[kind]} ${kind}`).join(", ")}`;
}

/** Whether an edge was taken: its source ended with its outcome. */
export const taken = (edge, states) => Boolean(states.get(edge.from)?.outcomes.has(edge.label || "success"));
