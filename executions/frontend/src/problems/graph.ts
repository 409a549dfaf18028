/** Finds problems in the edges between a body's tasks. */
import type { ModuleType } from "../api/shapes";
import { lastUse } from "../document/modules";
import { outcomesOf, SUCCESS } from "../document/outcomes";
import { pathOf } from "../document/paths";
import type { Body, BodyPath, Edge, Task, TaskPath } from "../document/types";
import type { FoundProblem } from "../store/studio";
import { t } from "../words/t";
import { found } from "./found";
import { ancestry, backwards, cycles, ordered, type Pair } from "./order";

/** The tasks of a body by id, and their order. */
export interface Wiring {
  at: BodyPath;
  body: Body;
  /** Positions of the tasks in the body; for duplicate ids, the first position. */
  index: ReadonlyMap<string, number>;
  stuck: ReadonlySet<number>;
  /** Whether the second task ends before the first one starts. */
  isBefore: (task: string, other: string) => boolean;
}

const SHOWN_TASKS = 20;

/** Analyse one body, without the bodies of its tasks. */
export function wiringOf(body: Body, at: BodyPath): Wiring {
  const index = new Map<string, number>();
  body.tasks.forEach((task, place) => {
    if (!index.has(task.id)) index.set(task.id, place);
  });
  const pairs = pairsOf(body, index);
  const order = ordered(body.tasks.length, pairs);
  const before = ancestry(body.tasks.length, pairs, order);
  const stuck = new Set(body.tasks.keys());
  for (const place of order) stuck.delete(place);
  return {
    at,
    body,
    index,
    stuck,
    isBefore: (task, other) => before(index.get(task) ?? 0, index.get(other) ?? 0),
  };
}

const pairsOf = (body: Body, index: ReadonlyMap<string, number>): Pair[] =>
  (body.edges ?? []).flatMap((edge): Pair[] => {
    const [source, target] = [index.get(edge.from), index.get(edge.to)];
    return source === undefined || target === undefined ? [] : [[source, target]];
  });

/**
 * Return duplicate ids, invalid edges, cycles, and tasks that can only be reached through a cycle.
 */
export function graphProblems(
  wiring: Wiring,
  types: ReadonlyMap<string, ModuleType>,
): FoundProblem[] {
  return [...duplicates(wiring), ...edgeProblems(wiring, types), ...orderProblems(wiring)];
}

function duplicates({ body, at, index }: Wiring): FoundProblem[] {
  return body.tasks.flatMap((task, place) => {
    if (index.get(task.id) === place) return [];
    const message = t("problems.aTaskWithTheIdExists", { id: task.id });
    return [found(pathOf(at, task.id), ["id"], "duplicate_id", message)];
  });
}

function edgeProblems(wiring: Wiring, types: ReadonlyMap<string, ModuleType>): FoundProblem[] {
  const seen = new Set<string>();
  return (wiring.body.edges ?? []).flatMap((edge) => {
    const key = JSON.stringify([edge.from, edge.to, edge.on ?? SUCCESS]);
    const doubled = seen.has(key);
    seen.add(key);
    return ofEdge(edge, wiring, types, doubled);
  });
}

function ofEdge(
  edge: Edge,
  { body, at, index }: Wiring,
  types: ReadonlyMap<string, ModuleType>,
  doubled: boolean,
): FoundProblem[] {
  const chosen = { body: at, edge };
  const here = pathOf(at, index.has(edge.from) ? edge.from : edge.to);
  const told = (key: string, code: string, message: string): FoundProblem =>
    found(here, [key], code, message, chosen);
  const nowhere = [edge.from, edge.to].flatMap((id, place) =>
    index.has(id)
      ? []
      : [told(place === 0 ? "from" : "to", "unknown_task", t("problems.thereIsNoTask", { id }))],
  );
  if (nowhere.length > 0) return nowhere;
  const source = body.tasks[index.get(edge.from) ?? 0] as Task;
  const outcome = outcomeProblem(edge, source, types);
  if (outcome) return [told("on", ...outcome)];
  const message = t("problems.theEdge", {
    from: edge.from,
    to: edge.to,
    outcome: edge.on ?? SUCCESS,
  });
  return doubled ? [told("on", "duplicate_edge", message)] : [];
}

function outcomeProblem(
  edge: Edge,
  source: Task,
  types: ReadonlyMap<string, ModuleType>,
): [code: string, message: string] | null {
  if (!types.has(lastUse(source))) return null;
  const possible = outcomesOf(source, types);
  const names = possible.map((name) => `"${name}"`).join(", ");
  if (edge.on === undefined && !possible.includes(SUCCESS)) {
    return ["outcome_required", t("problems.decidesWhereToGoOnSay", { task: source.id, names })];
  }
  if (possible.includes(edge.on ?? SUCCESS)) return null;
  return [
    "unknown_outcome",
    t("problems.hasNoOutcomeOnly", { task: source.id, outcome: edge.on ?? SUCCESS, names }),
  ];
}

function orderProblems({ body, at, index, stuck }: Wiring): FoundProblem[] {
  if (stuck.size === 0) return [];
  const pairs = pairsOf(body, index);
  const path = (place: number): TaskPath => pathOf(at, body.tasks[place]?.id ?? "");
  const knots = cycles(body.tasks.length, pairs, stuck).map((cycle) => {
    const ids = [...cycle, cycle[0] ?? 0].map((place) => body.tasks[place]?.id ?? "");
    if (ids.length > SHOWN_TASKS) ids.splice(SHOWN_TASKS - 1, ids.length - SHOWN_TASKS, "…");
    const message = t("problems.theseTasksWaitForEachOther", { ids: ids.join(" → ") });
    return found(path(cycle[0] ?? 0), [], "cycle", message);
  });
  // Tasks that do not lead to a cycle are not part of one; they only follow it.
  const behind = ordered(body.tasks.length, backwards(pairs)).filter((place) => stuck.has(place));
  const after = behind.map((place) => {
    const message = t("problems.cannotBeReachedEveryWay", { task: body.tasks[place]?.id ?? "" });
    return found(path(place), [], "unreachable", message);
  });
  return [...knots, ...after];
}
