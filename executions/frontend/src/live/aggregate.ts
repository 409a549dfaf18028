/** Computes each task's state from the runs of its steps in all iterations. Pure. */
import { MAIN, modulesOf } from "../document/modules";
import { everyTask } from "../document/paths";
import type { Definition, TaskPath } from "../document/types";
import { isUndo, newestAttempts, plainPath, type RunRow, taskOf } from "./frames";
import type { TaskLive } from "./live";
import { markOfStep } from "./states";
import { counted, noteTurns, type Turns } from "./turns";

/**
 * A task has the state of its run with the highest rank: problems, then live runs, then the rest.
 */
const RANK: Readonly<Record<string, number>> = {
  DLQ: 8,
  FAILED: 7,
  RUNNING: 6,
  LEASED: 5,
  WAITING: 4,
  PENDING: 3,
  CANCELLED: 2,
  SUCCESS: 1,
  SKIPPED: 0,
};

/** The parts of a document that the states depend on. */
interface Shape {
  /** The module ids of each task's chain. */
  chains: ReadonlyMap<TaskPath, readonly string[]>;
  /** Tasks with an `error` edge, which handles their failure. */
  handled: ReadonlySet<TaskPath>;
}

interface Found {
  run: RunRow;
  rank: number;
  state: string;
  outcomes: Set<string>;
  runs: number;
  steps: Map<string, string>;
}

/** Return the tasks' states; unchanged states are the same objects as in `before`. */
export function tasksOf(
  runs: Iterable<RunRow>,
  document: Definition,
  before: ReadonlyMap<TaskPath, TaskLive> = new Map(),
): ReadonlyMap<TaskPath, TaskLive> {
  const shape = shapeOf(document);
  const found = new Map<TaskPath, Found>();
  const turns: Turns = new Map();
  const undos = new Map<TaskPath, string>();
  for (const run of newestAttempts(runs).values()) {
    if (isUndo(run.stepPath)) {
      noteUndo(undos, run);
      continue;
    }
    const [path, module] = placeOf(run);
    note(found, path, module, run, isLast(shape, path, module));
    noteTurns(turns, run, shape.handled.has(path));
  }
  const tasks = new Map<TaskPath, TaskLive>();
  for (const [path, one] of found) {
    const inside = turns.get(path);
    const live = told(one, inside && counted(inside), undos.get(path));
    const old = before.get(path);
    tasks.set(path, old && sameLive(old, live) ? old : live);
  }
  return tasks;
}

function shapeOf(document: Definition): Shape {
  const chains = new Map<TaskPath, readonly string[]>();
  const handled = new Set<TaskPath>();
  const edgesIn = (tasks: Definition["tasks"], edges: Definition["edges"], at: string): void => {
    for (const edge of edges ?? []) if (edge.on === "error") handled.add(at + edge.from);
    for (const task of tasks) {
      if (task.body) edgesIn(task.body.tasks, task.body.edges, `${at}${task.id}.`);
    }
  };
  edgesIn(document.tasks, document.edges, "");
  for (const { path, task } of everyTask(document)) {
    chains.set(
      path,
      modulesOf(task).map((module) => module.id),
    );
  }
  return { chains, handled };
}

/** For example, `refine[2].draft.main` is the module `main` of the task `refine.draft`. */
function placeOf(run: RunRow): [path: TaskPath, module: string] {
  const plain = plainPath(run.stepPath);
  const dot = plain.lastIndexOf(".");
  return dot < 0 ? [plain, MAIN] : [plain.slice(0, dot), plain.slice(dot + 1)];
}

/** Whether this is a task's last step; an unknown module counts as the whole task. */
function isLast(shape: Shape, path: TaskPath, module: string): boolean {
  const chain = shape.chains.get(path) ?? [];
  return chain.at(-1) === module || !chain.includes(module);
}

function note(
  found: Map<TaskPath, Found>,
  path: TaskPath,
  module: string,
  run: RunRow,
  last: boolean,
): void {
  // A successful step counts as RUNNING if it is not the last of its chain.
  const between = run.state === "SUCCESS" && !last;
  const rank = between ? 0.5 : rankOf(run.state);
  const state = between ? "RUNNING" : run.state;
  const old = found.get(path);
  const outcomes = old?.outcomes ?? new Set<string>();
  if (run.state === "SUCCESS" && last) outcomes.add(run.outcome || "success");
  else if (run.state === "FAILED" && run.outcome) outcomes.add(run.outcome);
  const steps = old?.steps ?? new Map<string, string>();
  if (rankOf(run.state) >= rankOf(steps.get(module) ?? "")) steps.set(module, run.state);
  const more = { outcomes, steps, runs: (old?.runs ?? 0) + 1 };
  const newer = !old || rank > old.rank || (rank === old.rank && run.queuedAt > old.run.queuedAt);
  found.set(path, newer ? { run, rank, state, ...more } : { ...old, ...more });
}

/** If a task is undone in several iterations, keep the state with the highest rank. */
function noteUndo(undos: Map<TaskPath, string>, run: RunRow): void {
  const path = taskOf(run.stepPath);
  if (rankOf(run.state) >= rankOf(undos.get(path) ?? "")) undos.set(path, run.state);
}

const rankOf = (state: string): number => RANK[state] ?? 0;

function told(
  { run, state, outcomes, runs, steps }: Found,
  count: string | undefined,
  undo: string | undefined,
): TaskLive {
  return {
    state,
    ...markOfStep(state, run.attempt, run.waitsFor),
    ...(count ? { count } : {}),
    ...(run.error ? { error: run.error } : {}),
    outcomes: [...outcomes].sort(),
    runId: run.id,
    ...(runs > 1 ? { runs } : {}),
    ...(steps.size > 1 ? { steps: Object.fromEntries(steps) } : {}),
    ...(undo ? { undo } : {}),
  };
}

const sameLive = (one: TaskLive, other: TaskLive): boolean =>
  one.state === other.state &&
  one.word === other.word &&
  one.count === other.count &&
  one.error === other.error &&
  one.runId === other.runId &&
  one.runs === other.runs &&
  one.undo === other.undo &&
  sameSteps(one.steps, other.steps) &&
  one.outcomes.join() === other.outcomes.join();

function sameSteps(one: TaskLive["steps"] = {}, other: TaskLive["steps"] = {}): boolean {
  const ids = Object.keys(one);
  return ids.length === Object.keys(other).length && ids.every((id) => one[id] === other[id]);
}
