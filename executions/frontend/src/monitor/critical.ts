/**
 * The critical path: the chain of runs that determined when the execution ended, or now determines
 * when it will end. Pure.
 *
 * It leads from the run that ended last to the last run that it had to wait for, and so on. The
 * method is that of Kelley and Walker (1959), with actual instead of estimated times. For a
 * container, the runs inside determine the path.
 */
import { groupedBy } from "../document/grouping";
import { modulesOf } from "../document/modules";
import { everyTask, pathOf } from "../document/paths";
import type { Body, Definition, TaskPath } from "../document/types";
import { plainPath, taskOf } from "../live/frames";
import type { Run } from "./runs";

/** The predecessors of a task, and the paths of its steps, without iterations. */
interface Way {
  steps: readonly string[];
  sources: readonly TaskPath[];
}
export type Ways = ReadonlyMap<TaskPath, Way>;

/** Return the steps and predecessors of all tasks; computed once for each document. */
export function waysOf(document: Definition): Ways {
  const sources = new Map<TaskPath, TaskPath[]>();
  const lead = (body: Body, at: readonly string[]): void => {
    for (const { from, to } of body.edges ?? []) {
      const target = pathOf(at, to);
      sources.set(target, [...(sources.get(target) ?? []), pathOf(at, from)]);
    }
    for (const task of body.tasks) if (task.body) lead(task.body, [...at, task.id]);
  };
  lead(document, []);
  return new Map(
    everyTask(document).map(({ path, task }) => {
      const steps = modulesOf(task).map(({ id }) => `${path}.${id}`);
      return [path, { steps, sources: sources.get(path) ?? [] }];
    }),
  );
}

/** Return the ids of the runs on the critical path; unfinished runs count as ending now. */
export function criticalPath(ways: Ways, runs: readonly Run[], now: number): Set<string> {
  const counting = runs.filter((run) => !run.superseded && run.state !== "SKIPPED");
  const happened = new Happened(ways, counting, now);
  const path = new Set<string>();
  follow(happened, happened.last(""), path);
  return path;
}

class Happened {
  private readonly byPath: Map<string, Run[]>;
  private readonly byPlace: Map<string, Run[]>;
  /** Runs in any iteration of a container, by end, under the start of their paths (`a[1].b[`). */
  private readonly byStem: Map<string, Run[]>;

  constructor(
    readonly ways: Ways,
    runs: readonly Run[],
    private readonly now: number,
  ) {
    this.byPath = groupedBy(runs, (run) => run.stepPath);
    this.byPlace = groupedBy(runs, (run) => placeOf(run.stepPath));
    const inside = runs.filter((run) => placeOf(run.stepPath) !== "");
    inside.sort((one, other) => this.end(one) - this.end(other));
    this.byStem = groupedBy(inside, (run) => stemOf(placeOf(run.stepPath)));
  }

  private end(run: Run): number {
    return run.finishedAt ?? this.now;
  }

  of(path: string): readonly Run[] {
    return this.byPath.get(path) ?? [];
  }

  /** Return the run that ended last; among equals, such as live runs, the one queued last. */
  latest(runs: readonly Run[]): Run | null {
    const later = (run: Run, best: Run): number =>
      this.end(run) - this.end(best) || run.queuedAt - best.queuedAt;
    return runs.reduce<Run | null>(
      (best, run) => (best === null || later(run, best) > 0 ? run : best),
      null,
    );
  }

  last(place: string): Run | null {
    return this.latest(this.byPlace.get(place) ?? []);
  }

  /**
   * Return the last run that ended by a time; a binary search, as a map may have thousands of
   * items.
   */
  inside(stem: string, until = Number.POSITIVE_INFINITY): Run | null {
    const runs = this.byStem.get(stem) ?? [];
    let [low, high] = [0, runs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.end(runs[middle] as Run) <= until) low = middle + 1;
      else high = middle;
    }
    return runs[low - 1] ?? null;
  }
}

function placeOf(path: string): string {
  const cut = path.lastIndexOf("].");
  return cut < 0 ? "" : path.slice(0, cut + 2);
}

const stemOf = (place: string): string => place.slice(0, place.lastIndexOf("[") + 1);

function follow(happened: Happened, from: Run | null, path: Set<string>): void {
  for (let run = from; run && !path.has(run.id); run = before(happened, run)) {
    path.add(run.id);
    // Follow the runs in a container's body, of which the last determined the container's end.
    const inner = happened.inside(`${run.stepPath.slice(0, run.stepPath.lastIndexOf("."))}[`);
    if (inner && !path.has(inner.id)) follow(happened, inner, path);
  }
}

function before(happened: Happened, run: Run): Run | null {
  const earlier = happened
    .of(run.stepPath)
    .filter((other) => other !== run && other.queuedAt < run.queuedAt);
  if (earlier.length > 0) return happened.latest(earlier);
  const place = placeOf(run.stepPath);
  const way = happened.ways.get(taskOf(run.stepPath));
  if (!way) return null;
  const position = way.steps.indexOf(run.plain);
  const previous = way.steps[position - 1];
  if (previous !== undefined) return happened.latest(stepsIn(happened, place, [previous]));
  const sources = way.sources.flatMap((source) => happened.ways.get(source)?.steps ?? []);
  if (sources.length > 0) return happened.latest(stepsIn(happened, place, sources));
  // The first step of an iteration waited for an earlier iteration, or started with its container.
  return place ? happened.inside(stemOf(place), run.queuedAt) : null;
}

function stepsIn(happened: Happened, place: string, plain: readonly string[]): Run[] {
  const depth = plainPath(place).length;
  return plain.flatMap((path) => happened.of(place + path.slice(depth)));
}
